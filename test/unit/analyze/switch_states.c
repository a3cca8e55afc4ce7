/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests which values of the field `state` of sched.switch are reported as wrong. Also tests traces that look
 * similar but are correct: ids of threads that are reused, wakeups that are not recorded, stopped threads,
 * and CPUs whose clocks differ.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/scheduling.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))
#define US	 1000u
#define TURNS	 20u

enum { SWITCH = 1, BLOCK, WAKE, CREATE, EXIT };
enum { RUNNABLE, ASLEEP, WAITS, STOPPED, DEAD };

static uint64_t now;

static int begin(void **state)
{
	(void)state;
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(BLOCK, "sched", "block", "u32 thread,u64 queue");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(CREATE, "sched", "create", "u32 thread");
	script_type(EXIT, "sched", "exit", "u32 thread");
	script_thread(1, "idle/0");
	now = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	script_end();
	return 0;
}

static uint64_t soon(void)
{
	return now += US;
}

static void switches(uint32_t prev, uint32_t next, unsigned into)
{
	script_event(SWITCH, soon(), 0, prev, V(prev), V(next), V(into));
}

static void wakes(uint32_t thread)
{
	script_event(WAKE, soon(), 0, 0, V(thread));
}

static void blocks(uint32_t thread)
{
	script_event(BLOCK, soon(), 0, thread, V(thread), V(0x1000));
}

/* The numbers that a kernel passes for the states of a thread. */
struct numbers {
	unsigned runnable, asleep;
};

/* Thread 5 is preempted by thread 6. Then both sleep, and CPU 0 idles. */
static void turn(struct numbers numbers)
{
	wakes(5);
	switches(1, 5, numbers.runnable);
	wakes(6);
	switches(5, 6, numbers.runnable);
	blocks(6);
	switches(6, 5, numbers.asleep);
	blocks(5);
	switches(5, 1, numbers.asleep);
}

static void turns(struct numbers numbers)
{
	for (unsigned n = 0; n < TURNS; n++)
		turn(numbers);
}

static struct switch_states *read_all(void)
{
	struct wellknown_table *known = calloc(1, sizeof(*known));
	struct ktread *trace = script_trace();
	const struct ktread_event *event;
	struct switch_states *states;

	assert_non_null(known);
	assert_int_equal(switch_states_open(&states, trace), 0);
	while (ktread_next(trace, &event) > 0)
		switch_states_event(states, event, wellknown_of(known, event));
	free(known);
	return states;
}

/*
 * Checks that exactly the fault `expected` is found, first for the number `state`. If `expected` is
 * SWITCH_STATES_FAULTS, checks that no fault is found.
 */
static void only(enum switch_states_fault expected, uint64_t state)
{
	struct switch_states *states = read_all();
	struct switch_states_found found;

	for (int fault = 0; fault < SWITCH_STATES_FAULTS; fault++) {
		const bool has = switch_states_have(states, (enum switch_states_fault)fault, &found);

		if (has != (fault == (int)expected))
			fail_msg("fault %d: %d", fault, has);
		if (has)
			assert_int_equal(found.state, state);
	}
	assert_int_equal(switch_states_are_wrong(states), expected != SWITCH_STATES_FAULTS);
	switch_states_free(states);
}

static void right_states_have_no_fault(void **state)
{
	(void)state;
	turns((struct numbers){ RUNNABLE, ASLEEP });
	turns((struct numbers){ RUNNABLE, WAITS });
	only(SWITCH_STATES_FAULTS, 0);
}

static void a_constant_that_means_dead_is_wrong(void **state)
{
	(void)state;
	turns((struct numbers){ DEAD, DEAD });
	only(SWITCH_STATES_DEAD, DEAD);
}

static void a_constant_that_means_stopped_is_wrong(void **state)
{
	(void)state;
	turns((struct numbers){ STOPPED, STOPPED });
	only(SWITCH_STATES_STOPPED, STOPPED);
}

static void a_constant_that_means_asleep_is_wrong(void **state)
{
	(void)state;
	turns((struct numbers){ WAITS, WAITS });
	only(SWITCH_STATES_SAME, WAITS);
}

/* The kernel passes the numbers of xv6: asleep 2, runnable 3, running 4, zombie 5. */
static void numbers_of_the_kernel_are_wrong(void **state)
{
	(void)state;
	turns((struct numbers){ STOPPED, WAITS });
	only(SWITCH_STATES_STOPPED, STOPPED);
	switches(1, 7, STOPPED);
	switches(7, 1, 5);
	{
		struct switch_states *states = read_all();
		struct switch_states_found found;

		assert_true(switch_states_have(states, SWITCH_STATES_RANGE, &found));
		assert_int_equal(found.count, 1);
		assert_int_equal(found.state, 5);
		switch_states_free(states);
	}
}

/* Threads end and their ids are used again. The new threads are woken before they run. */
static void ids_of_dead_threads_may_be_used_again(void **state)
{
	(void)state;
	turns((struct numbers){ RUNNABLE, ASLEEP });
	for (unsigned n = 0; n < TURNS; n++) {
		wakes(7);
		switches(1, 7, RUNNABLE);
		switches(7, 1, DEAD);
	}
	only(SWITCH_STATES_FAULTS, 0);
}

/* As in the previous test, but the kernel does not record the wakeup of a new thread. */
static void new_threads_need_no_wakeup(void **state)
{
	(void)state;
	for (unsigned n = 0; n < TURNS; n++) {
		switches(1, 7, RUNNABLE);
		switches(7, 1, DEAD);
	}
	only(SWITCH_STATES_FAULTS, 0);
}

/* As in the previous test, but the kernel records the creation of the thread instead. */
static void created_threads_need_no_wakeup(void **state)
{
	(void)state;
	for (unsigned n = 0; n < TURNS; n++) {
		script_event(CREATE, soon(), 0, 1, V(7));
		switches(1, 7, RUNNABLE);
		switches(7, 1, DEAD);
	}
	only(SWITCH_STATES_FAULTS, 0);
}

/* All threads sleep, but the kernel does not record wakeups. */
static void wakeups_that_are_not_recorded_prove_nothing(void **state)
{
	(void)state;
	for (unsigned n = 0; n < TURNS; n++) {
		switches(1, 5, ASLEEP);
		blocks(5);
		switches(5, 6, ASLEEP);
		blocks(6);
		switches(6, 1, ASLEEP);
	}
	only(SWITCH_STATES_FAULTS, 0);
}

/* The kernel passes the numbers of xv6, and has no hook for wakeups. */
static void numbers_are_recognised_without_wakeups(void **state)
{
	(void)state;
	for (unsigned n = 0; n < TURNS; n++) {
		switches(0, 5, 0);
		switches(5, 0, STOPPED);
		switches(0, 6, 0);
		switches(6, 0, WAITS);
	}
	only(SWITCH_STATES_STOPPED, STOPPED);
}

/* A shell stops threads, and the kernel records no wakeups. Other threads are preempted. */
static void few_stopped_threads_prove_nothing(void **state)
{
	(void)state;
	for (unsigned n = 0; n < TURNS; n++) {
		switches(1, 5, RUNNABLE);
		switches(5, 6, RUNNABLE);
		switches(6, 1, STOPPED);
	}
	only(SWITCH_STATES_FAULTS, 0);
}

/* A debugger stops a thread many times. Each time, a wakeup makes it run again. */
static void stopped_threads_are_woken(void **state)
{
	(void)state;
	for (unsigned n = 0; n < TURNS; n++) {
		wakes(5);
		switches(1, 5, RUNNABLE);
		switches(5, 1, STOPPED);
	}
	only(SWITCH_STATES_FAULTS, 0);
}

/* The clock of the waker's CPU is ahead: each wakeup seems to come after the woken thread has run. */
static void wakeups_may_seem_to_come_late(void **state)
{
	(void)state;
	for (unsigned n = 0; n < TURNS; n++) {
		switches(1, 5, STOPPED);
		script_event(WAKE, soon(), 1, 0, V(5));
		switches(5, 1, STOPPED);
	}
	only(SWITCH_STATES_FAULTS, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(right_states_have_no_fault, begin, end),
		cmocka_unit_test_setup_teardown(a_constant_that_means_dead_is_wrong, begin, end),
		cmocka_unit_test_setup_teardown(a_constant_that_means_stopped_is_wrong, begin, end),
		cmocka_unit_test_setup_teardown(a_constant_that_means_asleep_is_wrong, begin, end),
		cmocka_unit_test_setup_teardown(numbers_of_the_kernel_are_wrong, begin, end),
		cmocka_unit_test_setup_teardown(ids_of_dead_threads_may_be_used_again, begin, end),
		cmocka_unit_test_setup_teardown(new_threads_need_no_wakeup, begin, end),
		cmocka_unit_test_setup_teardown(created_threads_need_no_wakeup, begin, end),
		cmocka_unit_test_setup_teardown(wakeups_that_are_not_recorded_prove_nothing, begin, end),
		cmocka_unit_test_setup_teardown(numbers_are_recognised_without_wakeups, begin, end),
		cmocka_unit_test_setup_teardown(few_stopped_threads_prove_nothing, begin, end),
		cmocka_unit_test_setup_teardown(stopped_threads_are_woken, begin, end),
		cmocka_unit_test_setup_teardown(wakeups_may_seem_to_come_late, begin, end),
	};

	return cmocka_run_group_tests_name("states of sched.switch", tests, NULL, NULL);
}
