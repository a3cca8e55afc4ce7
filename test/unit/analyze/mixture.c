/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests when a trace shows that several threads record their events as thread 0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/latencies.h"
#include "analyze/scheduling.h"
#include "ktrx/slot.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))

enum { SWITCH = 1, ENTER, LEAVE, CREATE, FORK, EXEC, END, OTHER, SWITCHED, REPEAT };

static int begin(void **state)
{
	(void)state;
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next");
	script_type(ENTER, "syscall", "enter", "u32 nr");
	script_type(LEAVE, "syscall", "exit", "u32 nr,i64 result");
	script_type(CREATE, "sched", "create", "u32 thread,u32 process");
	script_type(FORK, "process", "fork", "u32 process,u32 child");
	script_type(EXEC, "process", "exec", "u32 process,string path");
	script_type(END, "process", "exit", "u32 process,i32 status");
	script_type(OTHER, "user", "other", "");
	script_type(SWITCHED, "ktrace", "switched", "u16 first,u16 last,u8 state");
	script_type(REPEAT, "ktrace", "repeat", "u16 event,u64 more,u64 first,u64 last");
	return 0;
}

static int end(void **state)
{
	(void)state;
	script_end();
	return 0;
}

static void enter(uint64_t stamp)
{
	script_event(ENTER, stamp, 0, 0, V(3));
}

static void leave(uint64_t stamp)
{
	script_event(LEAVE, stamp, 0, 0, V(3), V(0));
}

static void call(uint64_t stamp)
{
	enter(stamp);
	leave(stamp + 5);
}

static void expect(bool mixed)
{
	struct scheduling *scheduling;

	assert_int_equal(ktread_rewind(script_trace()), 0);
	assert_int_equal(scheduling_read(&scheduling, script_trace()), 0);
	assert_int_equal(scheduling_mixes_threads(scheduling), mixed);
	scheduling_free(scheduling);
}

static void calls_that_overlap_are_of_several_threads(void **state)
{
	(void)state;
	call(10);
	call(20);
	expect(false);
	enter(30);
	enter(31);
	expect(true);
}

static void calls_do_not_overlap_if_ends_were_folded(void **state)
{
	(void)state;
	call(10);
	enter(20);
	enter(30);
	enter(40);
	script_event(REPEAT, 45, 0, 0, V(LEAVE), V(2), V(25), V(35));
	leave(45);
	call(50);
	expect(false);
	enter(60);
	enter(61);
	expect(true);
}

static void calls_do_not_overlap_if_the_kernel_still_counts_their_ends(void **state)
{
	(void)state;
	call(10);
	for (unsigned n = 0; n < 2 * MIXTURE_OVERLAPS; n++)
		enter(20 + 10 * n);
	script_fold(LEAVE, 25, 10000);
	expect(false);
}

/*
 * A call begins. Its events are switched off and on again. Then another call begins and ends. The first call
 * may have ended while its events were off, so the calls overlap only if one more end is recorded.
 */
static void calls_do_not_overlap_if_their_events_were_off(void **state)
{
	(void)state;
	call(10);
	enter(20);
	script_event(SWITCHED, 25, 0, 0, V(ENTER), V(LEAVE), V(0));
	script_event(SWITCHED, 95, 0, 0, V(ENTER), V(LEAVE), V(1));
	call(100);
	leave(110);
	expect(true);
	script_change(script_count() - 1)->id = OTHER;
	script_change(script_count() - 1)->type = ktread_type(script_trace(), OTHER);
	expect(false);
}

/* Slots are missing before an event that an interrupt handler recorded. */
static void calls_do_not_overlap_across_lost_slots(void **state)
{
	struct ktread_event *event;

	(void)state;
	enter(10);
	event = script_event(OTHER, 20, 0, 0);
	event->context = KTRX_CONTEXT_INTERRUPT;
	event->lost = 2;
	call(30);
	expect(false);
	event->lost = 0;
	expect(true);
}

/* A kernel that runs one program records that the program starts, and perhaps that it ends. */
static void one_process_is_no_sign_of_several_threads(void **state)
{
	(void)state;
	script_event(EXEC, 5, 0, 0, V(1), "shell");
	call(10);
	script_event(EXEC, 20, 0, 0, V(1), "tool");
	script_event(SWITCH, 21, 0, 0, V(4), V(4));
	call(30);
	script_event(END, 40, 0, 0, V(1), V(0));
	expect(false);
	script_event(EXEC, 50, 0, 0, V(2), "shell");
	expect(true);
}

static void several_threads_are_created_forked_or_switched_to(void **state)
{
	(void)state;
	script_event(CREATE, 5, 0, 0, V(7), V(1));
	call(10);
	expect(true);
	script_end();
	begin(state);
	script_event(FORK, 5, 0, 0, V(1), V(2));
	call(10);
	expect(true);
	script_end();
	begin(state);
	script_event(SWITCH, 5, 0, 0, V(0), V(3));
	call(10);
	expect(true);
	script_end();
	begin(state);
	script_event(SWITCH, 5, 0, 0, V(0), V(0)); /* the kernel has no thread ids */
	call(10);
	expect(true);
}

/* Two processes of a kernel without thread ids: the second call begins before the first one returns. */
static void calls_of_thread_0_that_overlap_are_not_measured(void **state)
{
	struct latencies *latencies = NULL;

	(void)state;
	enter(10);
	leave(20);
	assert_int_equal(latencies_read(&latencies, script_trace(), 0), 0);
	assert_int_equal(latencies->rows, 1); /* so far, there may be one thread */
	assert_int_equal(latencies->row[0].ticks.count, 1);
	assert_int_equal(latencies->threadless, 0);
	latencies_free(latencies);
	enter(100);
	enter(150);
	leave(200);
	leave(250);
	assert_int_equal(latencies_read(&latencies, script_trace(), 0), 0);
	assert_int_equal(latencies->rows, 0);
	assert_int_equal(latencies->threadless, 6);
	assert_int_equal(latencies->unpaired, 0);
	latencies_free(latencies);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(calls_that_overlap_are_of_several_threads),
		TEST(calls_do_not_overlap_if_ends_were_folded),
		TEST(calls_do_not_overlap_if_the_kernel_still_counts_their_ends),
		TEST(calls_do_not_overlap_if_their_events_were_off),
		TEST(calls_do_not_overlap_across_lost_slots),
		TEST(calls_of_thread_0_that_overlap_are_not_measured),
		TEST(one_process_is_no_sign_of_several_threads),
		TEST(several_threads_are_created_forked_or_switched_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
