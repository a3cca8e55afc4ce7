/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests which changes of threads the model reports for scripted events. Each change is compared as a line of
 * text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scheduling.h"
#include "analyze/threads.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))

enum { SWITCH = 1, BLOCK, WAKE, EXIT, OTHER, SWITCH_STATE, CREATE, V1_SWITCH, V1_SLEEP, V1_WAKE, SWITCHED };

static struct wellknown_table *table;
static struct threads *threads;
static struct scheduling *scheduling;
static char *output;
static size_t output_size;
static FILE *stream;
static unsigned fed;

static void changed(void *context, const struct threads_change *change)
{
	static const char *const names[] = {
		[THREADS_UNKNOWN] = "unknown", [THREADS_RUNNING] = "runs",  [THREADS_RUNNABLE] = "runnable",
		[THREADS_SLEEPING] = "sleeps", [THREADS_WAITING] = "waits", [THREADS_STOPPED] = "stopped",
		[THREADS_DEAD] = "dead",
	};
	const struct threads_thread *thread = change->thread;

	(void)context;
	fprintf(stream, "%llu cpu%u %u %s", (unsigned long long)change->time, change->cpu, thread->id,
		names[thread->state]);
	if (change->woken)
		fprintf(stream, " by %u%s", change->waker, change->interrupt ? " irq" : "");
	if (change->followed && thread->state == THREADS_UNKNOWN)
		fprintf(stream, " followed");
	if (thread->life > 0)
		fprintf(stream, " life %u", thread->life);
	fputc('\n', stream);
}

static int begin(void **state)
{
	(void)state;
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next");
	script_type(BLOCK, "sched", "block", "pointer queue");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(EXIT, "sched", "exit", "");
	script_type(OTHER, "mine", "other", "");
	script_type(SWITCH_STATE, "sched", "switch", "u8 state,u32 prev,u32 next");
	script_type(CREATE, "sched", "create", "u32 thread");
	script_type(V1_SWITCH, "sched", "CTX_SWITCH", "u32 from_pid,u32 to_pid");
	script_thread_bits(V1_SWITCH, 2047);
	script_type(V1_SLEEP, "sched", "WAITQ_SLEEP", "u32 waitq");
	script_type(SWITCHED, "ktrace", "switched", "u16 first,u16 last,u8 state");
	script_type(V1_WAKE, "sched", "WAITQ_WAKE", "u32 waitq,u32 woken");
	fed = 0;
	table = calloc(1, sizeof(*table));
	stream = open_memstream(&output, &output_size);
	return threads_create(&threads, changed, NULL);
}

static int end(void **state)
{
	(void)state;
	threads_destroy(threads);
	scheduling_free(scheduling);
	scheduling = NULL;
	fclose(stream);
	free(output);
	free(table);
	script_end();
	return 0;
}

/* Passes to the model the events that were scripted since the last call. */
static void feed(void)
{
	for (; fed < script_count(); fed++) {
		const struct ktread_event *event = script_at(fed);

		assert_int_equal(threads_event(threads, event, wellknown_of(table, event), event->stamp), 0);
	}
}

static void expect(const char *lines)
{
	feed();
	fflush(stream);
	assert_string_equal(output, lines);
}

/* Scans the whole script first, so that the model knows from the start which types of events are recorded. */
static void learn(void)
{
	script_sort();
	assert_int_equal(scheduling_read(&scheduling, script_trace()), 0);
	threads_learn(threads, scheduling);
}

static void thread_sleeps_wakes_and_runs(void **state)
{
	(void)state;
	script_event(BLOCK, 10, 0, 1, V(0));
	script_event(SWITCH, 20, 0, 1, V(1), V(2));
	script_event(WAKE, 30, 0, 2, V(1));
	script_event(SWITCH, 40, 0, 2, V(2), V(1));
	expect("10 cpu0 1 runs\n"
	       "20 cpu0 1 sleeps\n"
	       "20 cpu0 2 runs\n"
	       "30 cpu0 1 runnable by 2\n"
	       "40 cpu0 2 runnable\n"
	       "40 cpu0 1 runs\n");
}

/* A thread that is woken after it has announced to block, but before the switch, never slept. */
static void early_wake_cancels_block(void **state)
{
	(void)state;
	script_event(BLOCK, 10, 0, 1, V(0));
	script_event(WAKE, 15, 1, 9, V(1));
	script_event(SWITCH_STATE, 20, 0, 1, V(WELLKNOWN_STATE_WAIT), V(1), V(2));
	expect("10 cpu0 1 runs\n"
	       "15 cpu1 9 runs\n"
	       "20 cpu0 1 runnable\n"
	       "20 cpu0 2 runs\n");
}

static void state_field_is_used(void **state)
{
	(void)state;
	script_event(SWITCH_STATE, 10, 0, 1, V(2), V(1), V(2));
	script_event(SWITCH_STATE, 20, 0, 2, V(0), V(2), V(3));
	script_event(SWITCH_STATE, 30, 0, 3, V(3), V(3), V(4));
	script_event(SWITCH_STATE, 40, 0, 4, V(9), V(4), V(1));
	expect("10 cpu0 1 waits\n10 cpu0 2 runs\n"
	       "20 cpu0 2 runnable\n20 cpu0 3 runs\n"
	       "30 cpu0 3 stopped\n30 cpu0 4 runs\n"
	       "40 cpu0 4 unknown followed\n40 cpu0 1 runs\n");
}

/* This kernel records only switches, so it is unknown why a thread stopped running. */
static void switches_alone_leave_states_unknown(void **state)
{
	(void)state;
	script_event(SWITCH, 10, 0, 1, V(1), V(2));
	script_event(SWITCH, 20, 0, 2, V(2), V(1));
	expect("10 cpu0 2 runs\n"
	       "20 cpu0 2 unknown followed\n"
	       "20 cpu0 1 runs\n");
}

/* This kernel also records that threads block, but no such event has occurred yet. */
static void switch_without_announcement_is_preemption(void **state)
{
	(void)state;
	assert_true(wellknown_declared(script_trace(), WELLKNOWN_BLOCK));
	assert_false(wellknown_declared(script_trace(), WELLKNOWN_IRQ_ENTER));
	script_event(SWITCH, 10, 0, 1, V(1), V(2));
	learn();
	expect("10 cpu0 1 runnable\n"
	       "10 cpu0 2 runs\n");
}

/* The kernel passes state 0 for every switch, and no other event shows the states of threads. */
static void state_that_is_always_zero_is_ignored(void **state)
{
	bool announced;

	(void)state;
	script_switch_off(BLOCK);
	script_switch_off(V1_SLEEP);
	script_event(SWITCH_STATE, 10, 0, 1, V(0), V(1), V(2));
	script_event(WAKE, 20, 0, 2, V(1));
	script_event(SWITCH_STATE, 30, 0, 2, V(0), V(2), V(1));
	learn();
	assert_true(scheduling_states_are_empty(scheduling, &announced));
	assert_false(announced);
	expect("10 cpu0 2 runs\n"
	       "20 cpu0 1 runnable by 2\n"
	       "30 cpu0 2 unknown followed\n"
	       "30 cpu0 1 runs\n");
}

/*
 * Before threads sleep, they record an event that announces the sleep. The announcement shows that the thread
 * sleeps, even if its state field is 0.
 */
static void announcements_replace_empty_states(void **state)
{
	bool announced;

	(void)state;
	script_event(BLOCK, 5, 0, 1, V(0));
	script_event(SWITCH_STATE, 10, 0, 1, V(0), V(1), V(2));
	script_event(SWITCH_STATE, 20, 0, 2, V(0), V(2), V(3));
	learn();
	assert_true(scheduling_states_are_empty(scheduling, &announced));
	assert_true(announced);
	expect("5 cpu0 1 runs\n"
	       "10 cpu0 1 sleeps\n10 cpu0 2 runs\n"
	       "20 cpu0 2 runnable\n20 cpu0 3 runs\n");
}

/* The announcements of sleeps show states only while they are recorded. */
static void switched_off_announcements_are_not_used(void **state)
{
	(void)state;
	script_event(SWITCHED, 5, 0, 1, V(BLOCK), V(BLOCK), V(0));
	script_event(SWITCH, 10, 0, 1, V(1), V(2));
	script_event(SWITCHED, 15, 0, 2, V(BLOCK), V(BLOCK), V(1));
	script_event(SWITCH, 20, 0, 2, V(2), V(3));
	script_event(SWITCH, 30, 0, 3, V(3), V(4));
	learn();
	expect("5 cpu0 1 runs\n"
	       "10 cpu0 1 unknown followed\n10 cpu0 2 runs\n"
	       "20 cpu0 2 unknown followed\n20 cpu0 3 runs\n"
	       "30 cpu0 3 runnable\n30 cpu0 4 runs\n");
}

/* Records of sched.exit do not show that threads also announce their sleep. */
static void exit_does_not_imply_announcements(void **state)
{
	(void)state;
	script_switch_off(BLOCK);
	script_switch_off(V1_SLEEP);
	script_event(EXIT, 5, 0, 1);
	script_event(SWITCH, 10, 0, 1, V(1), V(2));
	script_event(SWITCH, 20, 0, 2, V(2), V(3));
	learn();
	expect("5 cpu0 1 runs\n"
	       "10 cpu0 1 dead\n10 cpu0 2 runs\n"
	       "20 cpu0 2 unknown followed\n20 cpu0 3 runs\n");
}

/*
 * An event counts as recorded if it was recorded until all recording was stopped, or until the event was
 * disabled.
 */
static void kinds_recorded_at_some_time_are_known(void **state)
{
	(void)state;
	script_switch_off(EXIT);
	script_event(SWITCHED, 10, 0, 1, V(WAKE), V(WAKE), V(0));
	script_switch_off(WAKE);
	script_event(CREATE, 10, 0, 1, V(2));
	script_switch_off(CREATE);
	script_stop();
	learn();
	assert_true(scheduling_recorded(scheduling, WELLKNOWN_BLOCK));
	assert_true(scheduling_covers(scheduling, WELLKNOWN_BLOCK, 0, 100));
	assert_true(scheduling_recorded(scheduling, WELLKNOWN_WAKE));
	assert_true(scheduling_covers(scheduling, WELLKNOWN_WAKE, 0, 10));
	assert_true(scheduling_off(scheduling, WELLKNOWN_WAKE, 0, 11));
	assert_true(scheduling_recorded(scheduling, WELLKNOWN_CREATE));
	assert_false(scheduling_recorded(scheduling, WELLKNOWN_EXIT));
	assert_true(scheduling_off(scheduling, WELLKNOWN_EXIT, 0, 1));
	assert_false(scheduling_recorded(scheduling, WELLKNOWN_IRQ_EXIT)); /* not declared */
	assert_false(scheduling_off(scheduling, WELLKNOWN_IRQ_EXIT, 0, 1));
}

/*
 * The trace has not been scanned in advance. So the state fields are used from the first one on that is not
 * 0.
 */
static void states_count_from_the_first_nonzero_one(void **state)
{
	(void)state;
	threads_learn_on(threads);
	script_event(SWITCH_STATE, 10, 0, 1, V(0), V(1), V(2));
	script_event(SWITCH_STATE, 20, 0, 2, V(2), V(2), V(3));
	script_event(SWITCH_STATE, 30, 0, 3, V(0), V(3), V(4));
	expect("10 cpu0 2 runs\n"
	       "20 cpu0 2 waits\n20 cpu0 3 runs\n"
	       "30 cpu0 3 runnable\n30 cpu0 4 runs\n");
}

/* This kernel records no scheduling, so a CPU is taken to run the thread of its latest event. */
static void events_show_threads_without_switches(void **state)
{
	(void)state;
	script_event(OTHER, 10, 0, 1);
	script_event(OTHER, 20, 0, 1);
	script_event(OTHER, 30, 0, 2);
	script_event(OTHER, 40, 1, 2);
	expect("10 cpu0 1 runs\n"
	       "30 cpu0 1 unknown followed\n"
	       "30 cpu0 2 runs\n"
	       "39 cpu0 2 unknown\n"
	       "40 cpu1 2 runs\n");
}

/*
 * If switches are recorded, they show which thread runs. Another event may still contain the id of the thread
 * that ran before. Then the id is ignored.
 */
static void switches_override_stale_thread_ids(void **state)
{
	(void)state;
	script_event(SWITCH, 10, 0, 1, V(1), V(2));
	script_event(OTHER, 20, 0, 1);
	expect("10 cpu0 2 runs\n");
}

static void missed_switches_give_a_legal_history(void **state)
{
	(void)state;
	script_event(BLOCK, 8, 2, 9, V(0));
	script_event(SWITCH, 10, 0, 1, V(1), V(2));
	script_event(SWITCH, 20, 1, 3, V(3), V(2));
	script_event(SWITCH, 30, 0, 4, V(4), V(5));
	script_event(SWITCH, 40, 0, 6, V(6), V(7));
	expect("8 cpu2 9 runs\n"
	       "10 cpu0 1 runnable\n10 cpu0 2 runs\n"
	       "19 cpu0 2 unknown\n20 cpu1 3 runnable\n20 cpu1 2 runs\n"
	       "30 cpu0 4 runnable\n30 cpu0 5 runs\n"
	       "40 cpu0 5 unknown followed\n40 cpu0 6 runnable\n40 cpu0 7 runs\n");
}

/* Between sched.exit and its last switch, a thread may be preempted or sleep. The kernel records state 4. */
static void thread_lives_until_its_last_switch(void **state)
{
	(void)state;
	script_event(EXIT, 10, 0, 1);
	script_event(SWITCH_STATE, 20, 0, 1, V(0), V(1), V(2));
	script_event(SWITCH_STATE, 30, 0, 2, V(0), V(2), V(1));
	script_event(SWITCH_STATE, 40, 0, 1, V(1), V(1), V(2));
	script_event(WAKE, 50, 0, 2, V(1));
	script_event(SWITCH_STATE, 60, 0, 2, V(0), V(2), V(1));
	script_event(SWITCH_STATE, 70, 0, 1, V(4), V(1), V(2));
	script_event(EXIT, 80, 0, 2);
	script_event(SWITCH_STATE, 90, 0, 2, V(9), V(2), V(3)); /* the kernel's own number */
	learn();
	expect("10 cpu0 1 runs\n"
	       "20 cpu0 1 runnable\n20 cpu0 2 runs\n"
	       "30 cpu0 2 runnable\n30 cpu0 1 runs\n"
	       "40 cpu0 1 sleeps\n40 cpu0 2 runs\n"
	       "50 cpu0 1 runnable by 2\n"
	       "60 cpu0 2 runnable\n60 cpu0 1 runs\n"
	       "70 cpu0 1 dead\n70 cpu0 2 runs\n"
	       "90 cpu0 2 dead\n90 cpu0 3 runs\n");
}

static void reused_id_belongs_to_a_new_thread(void **state)
{
	(void)state;
	script_event(EXIT, 10, 0, 1);
	script_event(SWITCH, 20, 0, 1, V(1), V(2));
	script_event(CREATE, 30, 0, 2, V(1));
	script_event(WAKE, 40, 0, 2, V(1));
	expect("10 cpu0 1 runs\n"
	       "20 cpu0 1 dead\n"
	       "20 cpu0 2 runs\n"
	       "40 cpu0 1 runnable by 2 life 1\n");
}

static void interrupts_are_reported_as_wakers(void **state)
{
	(void)state;
	script_event(WAKE, 10, 0, 1, V(5))->context = KTRX_CONTEXT_INTERRUPT;
	expect("10 cpu0 1 runs\n"
	       "10 cpu0 5 runnable by 1 irq\n");
}

/* Names that kernels use for their idle threads. */
static void idle_threads_are_known_by_name(void **state)
{
	static const char *const idle[] = { "idle",	 "idle/3",    "idle 00",   "IDLE",   "IDLE1",
					    "Idle_Task", "CPU0 IDLE", "cpu1/idle", "tidle0", "idle: cpu0" };
	static const char *const busy[] = { "",	     "i",    "idler", "CPU0 IDLES", "cpu", "cpuidled",
					    "tide0", "core", "t",     "watch idle", "CPU", "swayidle" };

	(void)state;
	for (size_t n = 0; n < sizeof(idle) / sizeof(idle[0]); n++)
		assert_true(threads_name_is_idle(idle[n], strlen(idle[n])));
	for (size_t n = 0; n < sizeof(busy) / sizeof(busy[0]); n++)
		assert_false(threads_name_is_idle(busy[n], strlen(busy[n])));
	assert_false(threads_name_is_idle("idle", 3));
}

/* Thread 0 idles on many CPUs at once. */
static void thread_zero_runs_on_many_cpus(void **state)
{
	(void)state;
	script_event(OTHER, 10, 0, 0);
	script_event(OTHER, 20, 1, 0);
	script_event(SWITCH, 30, 0, 0, V(0), V(1));
	script_event(SWITCH, 40, 1, 0, V(0), V(2));
	expect("10 cpu0 0 runs\n"
	       "20 cpu1 0 runs\n"
	       "30 cpu0 0 runnable\n30 cpu0 1 runs\n"
	       "40 cpu1 0 runnable\n40 cpu1 2 runs\n");
}

static void gap_hides_what_ran(void **state)
{
	(void)state;
	script_event(SWITCH, 10, 0, 1, V(1), V(2));
	feed();
	threads_gap(threads, 0, 10);
	script_event(OTHER, 90, 0, 3);
	expect("10 cpu0 2 runs\n"
	       "11 cpu0 2 unknown\n"
	       "90 cpu0 3 runs\n");
}

static void waking_a_queue_names_a_thread_or_counts(void **state)
{
	(void)state;
	script_event(V1_SLEEP, 10, 0, 7, V(0x100));
	script_event(V1_SWITCH, 20, 0, 7, V(7), V(8));
	script_event(V1_SLEEP, 30, 0, 8, V(0x100));
	script_event(V1_SWITCH, 40, 0, 8, V(2048 + 8), V(9));
	script_event(V1_WAKE, 50, 0, 9, V(0x200), V(7)); /* on queue 0x200 no thread sleeps */
	script_event(V1_WAKE, 60, 0, 9, V(0x100), V(8)); /* wakes thread 8 */
	/* according to the event, two threads were woken, but only one still sleeps */
	script_event(V1_WAKE, 70, 0, 9, V(0x100), V(2));
	expect("10 cpu0 7 runs\n"
	       "20 cpu0 7 sleeps\n20 cpu0 8 runs\n"
	       "40 cpu0 8 sleeps\n40 cpu0 9 runs\n"
	       "60 cpu0 8 runnable by 9\n"
	       "70 cpu0 7 runnable by 9\n");
}

/*
 * After a thread was woken by its thread id, the next wakeup of the queue wakes a thread that still sleeps.
 */
static void version_1_wakes_sleeping_threads(void **state)
{
	(void)state;
	script_event(V1_SLEEP, 10, 0, 8, V(0x100));
	script_event(V1_SWITCH, 20, 0, 8, V(8), V(7));
	script_event(V1_WAKE, 30, 0, 7, V(0x100), V(8));
	script_event(V1_SLEEP, 40, 0, 7, V(0x100));
	script_event(V1_SWITCH, 50, 0, 7, V(7), V(9));
	script_event(V1_WAKE, 60, 0, 9, V(0x100), V(1));
	expect("10 cpu0 8 runs\n"
	       "20 cpu0 8 sleeps\n20 cpu0 7 runs\n"
	       "30 cpu0 8 runnable by 7\n"
	       "50 cpu0 7 sleeps\n50 cpu0 9 runs\n"
	       "60 cpu0 7 runnable by 9\n");
}

/*
 * Version 1 stores 11 bits of a thread id. A version 2 kernel may use the same event names, but stores all
 * bits.
 */
static void old_names_in_version_2_have_whole_thread_ids(void **state)
{
	(void)state;
	script_thread_bits(V1_SWITCH, 0);
	script_event(V1_SLEEP, 10, 0, 8, V(0x100));
	script_event(V1_SWITCH, 20, 0, 8, V(8), V(0x12345));
	script_event(V1_WAKE, 30, 0, 0x12345, V(0x100), V(8));
	script_event(V1_SWITCH, 40, 0, 0x12345, V(0x12345), V(8));
	expect("10 cpu0 8 runs\n"
	       "20 cpu0 8 sleeps\n20 cpu0 74565 runs\n"
	       "30 cpu0 8 runnable by 74565\n"
	       "40 cpu0 74565 runnable\n40 cpu0 8 runs\n");
}

/* In a hostile trace, events state that all possible threads were woken on a queue at address 0. */
static void version_1_wakes_are_bounded(void **state)
{
	(void)state;
	script_event(V1_SWITCH, 10, 0, 7, V(7), V(8));
	script_event(V1_SLEEP, 20, 0, 7, V(0));
	script_event(V1_WAKE, 30, 0, 8, V(0), V(UINT32_MAX));
	script_event(V1_SLEEP, 40, 0, 8, V(0));
	script_event(V1_SWITCH, 50, 0, 8, V(8), V(9));
	script_event(V1_WAKE, 60, 0, 9, V(0), V(UINT32_MAX));
	expect("10 cpu0 8 runs\n"
	       "30 cpu0 7 runnable by 8\n"
	       "50 cpu0 8 sleeps\n50 cpu0 9 runs\n"
	       "60 cpu0 8 runnable by 9\n");
}

/* Threads and CPUs beyond the limits are not stored, only counted. */
static void threads_beyond_the_limits_are_counted(void **state)
{
	struct wellknown known = { .kind = WELLKNOWN_OTHER };
	struct ktread_event event = { .id = OTHER };

	(void)state;
	for (uint32_t n = 0; n < THREADS_MAX + 10; n++) {
		event.thread = n;
		assert_int_equal(threads_event(threads, &event, &known, 2 * n), 0);
	}
	assert_int_equal(threads_count(threads), THREADS_MAX);
	assert_int_equal(threads_left_out(threads), 10);
	event.cpu = KTRX_NO_CPU;
	assert_int_equal(threads_event(threads, &event, &known, 4 * THREADS_MAX), 0);
	assert_int_equal(threads_left_out(threads), 11);
	assert_null(threads_on(threads, KTRX_NO_CPU));
	for (uint32_t n = 0; n < THREADS_MAX; n++)
		assert_int_equal(threads_find(threads, n)->id, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_threads_are_known_by_name),
		cmocka_unit_test_setup_teardown(thread_sleeps_wakes_and_runs, begin, end),
		cmocka_unit_test_setup_teardown(early_wake_cancels_block, begin, end),
		cmocka_unit_test_setup_teardown(state_field_is_used, begin, end),
		cmocka_unit_test_setup_teardown(switches_alone_leave_states_unknown, begin, end),
		cmocka_unit_test_setup_teardown(switch_without_announcement_is_preemption, begin, end),
		cmocka_unit_test_setup_teardown(state_that_is_always_zero_is_ignored, begin, end),
		cmocka_unit_test_setup_teardown(announcements_replace_empty_states, begin, end),
		cmocka_unit_test_setup_teardown(switched_off_announcements_are_not_used, begin, end),
		cmocka_unit_test_setup_teardown(exit_does_not_imply_announcements, begin, end),
		cmocka_unit_test_setup_teardown(kinds_recorded_at_some_time_are_known, begin, end),
		cmocka_unit_test_setup_teardown(states_count_from_the_first_nonzero_one, begin, end),
		cmocka_unit_test_setup_teardown(events_show_threads_without_switches, begin, end),
		cmocka_unit_test_setup_teardown(switches_override_stale_thread_ids, begin, end),
		cmocka_unit_test_setup_teardown(missed_switches_give_a_legal_history, begin, end),
		cmocka_unit_test_setup_teardown(thread_lives_until_its_last_switch, begin, end),
		cmocka_unit_test_setup_teardown(reused_id_belongs_to_a_new_thread, begin, end),
		cmocka_unit_test_setup_teardown(interrupts_are_reported_as_wakers, begin, end),
		cmocka_unit_test_setup_teardown(thread_zero_runs_on_many_cpus, begin, end),
		cmocka_unit_test_setup_teardown(gap_hides_what_ran, begin, end),
		cmocka_unit_test_setup_teardown(waking_a_queue_names_a_thread_or_counts, begin, end),
		cmocka_unit_test_setup_teardown(version_1_wakes_sleeping_threads, begin, end),
		cmocka_unit_test_setup_teardown(old_names_in_version_2_have_whole_thread_ids, begin, end),
		cmocka_unit_test_setup_teardown(version_1_wakes_are_bounded, begin, end),
		cmocka_unit_test_setup_teardown(threads_beyond_the_limits_are_counted, begin, end),
	};

	return cmocka_run_group_tests_name("analyze_threads", tests, NULL, NULL);
}
