/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The verdicts idle and busy, and how certain they are if data that could refute them is lost or not
 * recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE	1u
#define WORKER	5u
#define RESTS	6u
#define QUEUE	0x1000u
#define LOCK	0x2000u
#define THE_END (5000 * MS)

enum { OTHER = 1, SWITCH };

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_thread(IDLE, "idle");
	return error;
}

/* A CPU with its last heartbeat at `beat`, which records events from 1 ms to the end. */
static struct ktrx_holder *cpu_in(uint32_t cpu, uint8_t mode, uint64_t beat)
{
	struct ktrx_holder *holder = why_cpu_row(cpu, mode);
	const uint32_t thread = mode == KTRX_MODE_IDLE ? IDLE : WORKER;

	script_cpu(cpu)->heartbeats = beat ? 100 : 0;
	script_cpu(cpu)->heartbeat_stamp = beat;
	script_cpu(cpu)->now = THE_END;
	script_cpu(cpu)->thread = thread;
	script_event(OTHER, MS, cpu, thread);
	script_event(OTHER, THE_END, cpu, thread);
	return holder;
}

static void works(uint32_t cpu)
{
	cpu_in(cpu, KTRX_MODE_KERNEL, THE_END);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, cpu);
	script_event(SWITCH, 2 * MS, cpu, IDLE, V(IDLE), V(WORKER), V(0));
}

static void sleeps_since(uint64_t since)
{
	struct ktrx_holder *holder = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0);

	why_waits(holder, KTRX_WAIT_EVENT, QUEUE, "jobs", since);
}

static void lose_before(uint64_t stamp, uint32_t cpu)
{
	script_event(OTHER, stamp, cpu, IDLE)->lost = 1000;
}

static void is_idle(enum finding_certainty certain, bool partial)
{
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, certain);
	assert_int_equal(why_judge()->base.partial, partial);
}

static void all_is_told(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	is_idle(FINDING_CERTAIN, false);
}

/* A running thread may make no progress. */
static void who_records_nothing_else_computes_or_spins(void **state)
{
	(void)state;
	why_cpu_row(0, KTRX_MODE_KERNEL);
	script_cpu(0)->heartbeats = 100;
	script_cpu(0)->heartbeat_stamp = script_cpu(0)->now = THE_END;
	script_cpu(0)->thread = WORKER;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	script_event(SWITCH, MS, 0, IDLE, V(IDLE), V(WORKER), V(0));
	script_event(OTHER, 1000 * MS, 0, WORKER);
	script_event(OTHER, THE_END, 0, WORKER)->context = KTRX_CONTEXT_INTERRUPT;
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	why_says("thread 5 (worker) has recorded no event of its own for 4.00 s: it computes or spins");
}

static void who_records_something_else_does_neither(void **state)
{
	(void)state;
	works(0);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_null(strstr(why_text(), "no event of its own"));
}

static void a_wait_for_something_unnamed(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	why_waits(why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0), KTRX_WAIT_EVENT, 0, "", MS);
	why_says("waited 5.00 s");
}

/* This happens if prev and next of a switch are swapped. */
static void more_running_threads_than_cpus_prove_nothing(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	why_thread_row(RESTS, "rests", KTRX_THREAD_RUNNING, 0);
	is_idle(FINDING_LIKELY, false);
	why_says("by the hooks 2 threads run on 1 CPU: ktrace doctor shows which hook is wrong");
}

/* Overwritten memory proves nothing, tables included: here a CPU waits for an answer of CPU 12345. */
static void an_overwritten_trace_has_no_verdict(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_KERNEL, THE_END);
	script_cpu(0)->ipi_cpu = 12346;
	script_info()->rings = 3;
	script_info()->unusable = 2;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	assert_non_null(strstr(why_judge()->base.what,
			       "the trace's memory was overwritten: the descriptions of 2 of 3"));
}

/* Nothing shows that the thread will be woken: it may wait for something that has already happened. */
static void a_sleeper_without_a_past_leaves_it_open(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	sleeps_since(10 * MS);
	is_idle(FINDING_LIKELY, false);
	why_says("threads that wait without a timeout (as far as is known):");
	why_says("thread 5 (worker) has waited 4.99 s on jobs (0x1000)");
}

/* The events of its earlier wakeups are lost. */
static void a_sleeper_is_older_than_what_is_left(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	sleeps_since(10 * MS);
	lose_before(20 * MS, 0);
	is_idle(FINDING_LIKELY, true);
	why_says("rings with more slots");
}

static void rings_that_hold_a_part_of_the_window(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	lose_before(4700 * MS, 0);
	is_idle(FINDING_LIKELY, true);
	why_says("of what the rings hold of the last 1.00 s (the shortest: 300.0 ms)");
}

static void hooks_that_are_not_called(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	script_cpu(0)->hooks &= ~(KTRX_HOOK_LOCK | KTRX_HOOK_THREAD);
	is_idle(FINDING_LIKELY, true);
	why_says("hooks for locks, threads");
}

static void hooks_that_keep_no_state(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	script_cpu(0)->hooks &= ~(KTRX_HOOK_LOCK | KTRX_HOOK_THREAD);
	script_setting("debug.ktr.state", 0);
	is_idle(FINDING_LIKELY, true);
	why_says("boot without debug.ktr.state=0");
}

/* One CPU is in idle mode without a heartbeat, and has filled its ring within a moment. */
static void restless(uint64_t beat)
{
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	cpu_in(1, KTRX_MODE_IDLE, beat);
	lose_before(THE_END - MS, 1);
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
}

static void an_idle_cpu_that_overflows(void **state)
{
	(void)state;
	restless(400 * MS);
}

static void an_idle_cpu_that_overflows_and_never_beat(void **state)
{
	(void)state;
	restless(0);
}

static void little_is_known_of_who_works(void **state)
{
	(void)state;
	works(0);
	lose_before(THE_END - MS, 0);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	assert_true(why_judge()->base.partial);
}

/* A silence in the host's note counts only if it is a valid time within the range of the clock. */
static void a_silence_that_is_none(void **state)
{
	(void)state;
	script_info()->note = "silent: soon\n0\n";
	assert_false(why_evidence_of_script()->made_progress);
}

static void a_silence_of_a_wild_clock(void **state)
{
	(void)state;
	script_event(OTHER, MS, 0, 0);
	script_info()->frequency = UINT64_C(1) << 62;
	script_info()->note = "silent: 3 s\n";
	assert_int_equal(why_evidence_of_script()->end, MS);
}

/* The last known activity says nothing about a later time in which nothing came. */
static void a_machine_that_stands_is_not_at_work(void **state)
{
	(void)state;
	works(0);
	script_info()->note = "silent: 1.0 s or more\n";
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("the machine has stopped, or is paused: no CPU has recorded an event or a heartbeat for "
		 "1.00 s");
}

static void a_machine_that_was_seen_to_go_on_is_at_work(void **state)
{
	(void)state;
	works(0);
	script_info()->note = "silent: 0.0 s\n";
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

static void none_idles_where_none_does(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_KERNEL, THE_END);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	script_event(SWITCH, THE_END - MS, 0, IDLE, V(IDLE), V(WORKER), V(0));
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

/* It has just begun to spin for a lock that no running thread could release. */
static void who_spins_alone_does_not_get_on(void **state)
{
	struct ktrx_holder *cpu = cpu_in(0, KTRX_MODE_KERNEL, THE_END);

	(void)state;
	why_waits(cpu, KTRX_WAIT_SPIN, LOCK, "lock", THE_END);
	cpu_in(1, KTRX_MODE_IDLE, THE_END);
	why_holds(why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0), LOCK, MS);
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
}

/* It has waited for a while, and another CPU has just taken the lock: its turn will come. */
static void who_spins_for_a_lock_that_changes_hands_gets_on(void **state)
{
	(void)state;
	works(0);
	why_waits(script_holder(KTRX_HOLDER_CPU), KTRX_WAIT_SPIN, LOCK, "lock", THE_END - 8 * MS);
	why_holds(cpu_in(1, KTRX_MODE_IDLE, THE_END), LOCK, THE_END);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

/* A lock that was just released. */
static void who_spins_for_a_free_lock_gets_on(void **state)
{
	(void)state;
	works(0);
	why_waits(script_holder(KTRX_HOLDER_CPU), KTRX_WAIT_SPIN, LOCK, "lock", THE_END);
	cpu_in(1, KTRX_MODE_IDLE, THE_END);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

/* A thread may be runnable for a while although there is little to do. */
static void little_to_do_is_no_riddle(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNABLE, 0);
	script_event(SWITCH, 2 * MS, 0, IDLE, V(IDLE), V(WORKER), V(0));
	script_event(SWITCH, 3 * MS, 0, WORKER, V(WORKER), V(IDLE), V(2));
	script_event(SWITCH, THE_END - 301 * MS, 0, IDLE, V(IDLE), V(WORKER), V(0));
	script_event(SWITCH, THE_END - 300 * MS, 0, WORKER, V(WORKER), V(IDLE), V(0));
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

/* The idle thread has an unusual name, but runs on a CPU in idle mode. */
static void who_runs_while_its_cpu_idles_is_the_idle_thread(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	script_cpu(0)->thread = RESTS;
	script_cpu(0)->mode_stamp = THE_END;
	script_cpu(0)->switches = 1;
	why_thread_row(RESTS, "pause", KTRX_THREAD_RUNNING, 0)->state_stamp = 2 * MS;
	script_event(SWITCH, 2 * MS, 0, WORKER, V(WORKER), V(RESTS), V(1));
	is_idle(FINDING_CERTAIN, false);
	assert_non_null(strstr(why_judge()->base.evidence[0], "busy for 0 %"));
}

/* The same on a CPU that has not switched threads yet. */
static void who_runs_alone_while_its_cpu_idles_is_at_no_work(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	script_cpu(0)->switches = 1;
	script_event(OTHER, 3 * MS, 1, RESTS);
	script_event(OTHER, 9 * MS, 1, RESTS);
	why_cpu_row(1, KTRX_MODE_IDLE);
	script_thread(RESTS, "pause");
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_non_null(strstr(why_judge()->base.evidence[0], "busy for 0 %"));
}

/* A kernel that records no threads: an unknown thread is not an idle thread. */
static void no_thread_is_no_idle_thread(void **state)
{
	(void)state;
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		why_cpu_row(cpu, KTRX_MODE_UNKNOWN);
		script_cpu(cpu)->hooks = KTRX_HOOK_LOCK;
		script_cpu(cpu)->heartbeats = 100;
		script_cpu(cpu)->heartbeat_stamp = THE_END;
		script_event(OTHER, MS, cpu, 0);
		script_event(OTHER, THE_END, cpu, 0);
	}
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_is_told),
		TEST(more_running_threads_than_cpus_prove_nothing),
		TEST(an_overwritten_trace_has_no_verdict),
		TEST(a_sleeper_without_a_past_leaves_it_open),
		TEST(a_sleeper_is_older_than_what_is_left),
		TEST(rings_that_hold_a_part_of_the_window),
		TEST(hooks_that_are_not_called),
		TEST(hooks_that_keep_no_state),
		TEST(an_idle_cpu_that_overflows),
		TEST(an_idle_cpu_that_overflows_and_never_beat),
		TEST(little_is_known_of_who_works),
		TEST(a_silence_that_is_none),
		TEST(a_silence_of_a_wild_clock),
		TEST(a_machine_that_stands_is_not_at_work),
		TEST(a_machine_that_was_seen_to_go_on_is_at_work),
		TEST(none_idles_where_none_does),
		TEST(who_spins_alone_does_not_get_on),
		TEST(who_spins_for_a_free_lock_gets_on),
		TEST(who_spins_for_a_lock_that_changes_hands_gets_on),
		TEST(little_to_do_is_no_riddle),
		TEST(who_runs_while_its_cpu_idles_is_the_idle_thread),
		TEST(who_runs_alone_while_its_cpu_idles_is_at_no_work),
		TEST(no_thread_is_no_idle_thread),
		TEST(who_records_nothing_else_computes_or_spins),
		TEST(who_records_something_else_does_neither),
		TEST(a_wait_for_something_unnamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
