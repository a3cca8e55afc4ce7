/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests findings about threads that wait for the end of a thread that has ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

#define CHILD  7u
#define RUNS   (20 * MS)
#define WAITS  (30 * MS)
#define ENDS   (50 * MS)
#define NEWEST (9000 * MS)

static struct ktrx_holder *waiter;

static int begin(void **state)
{
	const int error = why_cpus_begin(state);

	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		script_cpu(cpu)->mode = KTRX_MODE_IDLE;
		script_cpu(cpu)->hooks |= KTRX_HOOK_EXIT;
	}
	waiter = why_thread_row(CLIENT, "client", KTRX_THREAD_WAITING, 0);
	waiter->state_stamp = WAITS;
	why_waits(waiter, KTRX_WAIT_THREAD, CHILD, "join", WAITS);
	return error;
}

/* The child leaves CPU 1 in this state, and CPU 1 idles. Then nothing but ticks is recorded. */
static void child_leaves(uint64_t stamp, uint8_t state)
{
	script_event(SWITCH, RUNS, 1, IDLE1, V(IDLE1), V(CHILD), V(0));
	script_event(OTHER, stamp - MS, 1, CHILD);
	script_event(SWITCH, stamp, 1, CHILD, V(CHILD), V(IDLE1), V(state));
	why_ticks(100 * MS, NEWEST, 0, IDLE0, KERNEL);
	why_ticks(stamp + 10 * MS, NEWEST, 1, IDLE1, KERNEL);
}

static void is_open(unsigned count)
{
	assert_int_equal(why_count(WHY_LOST_WAKEUP), count);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, count ? FINDING_POSSIBLE : FINDING_LIKELY);
}

static void thread_that_waits_for_an_ended_thread_may_wait_for_ever(void **state)
{
	(void)state;
	child_leaves(ENDS, 4);
	is_open(1);
	why_says(
		"lost-wakeup (possible): thread 6 (client) has waited 8.97 s for the end of thread 7; but that "
		"thread has ended");
	why_says("thread 7 ended 8.95 s ago");
}

static void end_in_lost_slots_is_known_by_the_missing_row(void **state)
{
	(void)state;
	child_leaves(ENDS, 1);
	script_event(OTHER, 2000 * MS, 0, IDLE0)->lost = 1000;
	is_open(1);
	why_says("the kernel's tables have no row for thread 7, so it has ended");
}

static void child_that_sleeps_has_not_ended(void **state)
{
	(void)state;
	why_thread_row(CHILD, "child", KTRX_THREAD_WAITING, 1)->state_stamp = ENDS;
	child_leaves(ENDS, 1);
	is_open(0);
}

/* The number may not be that of a thread. */
static void unknown_number_is_no_ended_thread(void **state)
{
	(void)state;
	waiter->object = 4711;
	child_leaves(ENDS, 4);
	is_open(0);
}

static void child_that_has_just_ended_is_healthy(void **state)
{
	(void)state;
	child_leaves(NEWEST - 2000 * MS, 4);
	is_open(0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(thread_that_waits_for_an_ended_thread_may_wait_for_ever),
		TEST(end_in_lost_slots_is_known_by_the_missing_row),
		TEST(child_that_sleeps_has_not_ended),
		TEST(unknown_number_is_no_ended_thread),
		TEST(child_that_has_just_ended_is_healthy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
