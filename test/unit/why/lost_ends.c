/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests threads that have ended, but whose last events are lost: the ring of one CPU still contains an
 * earlier sleep of the thread, while the ring of the CPU on which the thread ended was overwritten.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

#define OWNER  7u
#define SLEPT  (20 * MS)
#define WAITS  (800 * MS)
#define KEPT   (1000 * MS) /* the ring of CPU 0 contains the events from this time on */
#define NEWEST (5000 * MS)

enum { BLOCK = 40 };

/* OWNER slept on CPU 1, later took the lock, and ended on CPU 0. CLIENT waits for the lock. */
static int begin(void **state)
{
	const int error = why_cpus_begin(state);
	struct ktrx_holder *waiter;

	script_type(BLOCK, "sched", "block", "u32 thread,u64 queue");
	script_event(BLOCK, SLEPT, 1, OWNER, V(OWNER), V(0x7000));
	script_event(SWITCH, SLEPT + MS, 1, OWNER, V(OWNER), V(IDLE1), V(1));
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		script_cpu(cpu)->mode = KTRX_MODE_IDLE;
		script_cpu(cpu)->hooks |= KTRX_HOOK_EXIT;
		why_ticks(SLEPT + 10 * MS, NEWEST, cpu, cpu ? IDLE1 : IDLE0, KERNEL);
	}
	waiter = why_thread_row(CLIENT, "client", KTRX_THREAD_WAITING, 0);
	waiter->state_stamp = WAITS;
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK_A, "aye", WAITS);
	waiter->owner = OWNER + 1;
	return error;
}

static void lose_events_of_cpu_0(void)
{
	script_event(OTHER, KEPT, 0, IDLE0)->lost = 1000;
}

static void owner_without_row_has_ended_in_lost_events(void **state)
{
	(void)state;
	lose_events_of_cpu_0();
	assert_int_equal(why_count(WHY_DEAD_OWNER), 1);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	why_says(
		"dead-owner (possible): thread 6 (client) waits for lock aye (0x1000), whose last known owner, "
		"thread 7, has ended");
	why_says("the kernel's tables have no row for thread 7, so it has ended");
}

/* No event is lost, so the owner still sleeps, although it has no row. */
static void owner_that_sleeps_has_not_ended(void **state)
{
	(void)state;
	why_judge();
	assert_int_equal(why_count(WHY_DEAD_OWNER), 0);
}

/* Rows are missing because the table was full. */
static void owner_without_row_may_live_if_the_table_was_full(void **state)
{
	(void)state;
	lose_events_of_cpu_0();
	script_cpu(0)->refused = 1;
	assert_int_equal(why_count(WHY_DEAD_OWNER), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(owner_without_row_has_ended_in_lost_events),
		TEST(owner_that_sleeps_has_not_ended),
		TEST(owner_without_row_may_live_if_the_table_was_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
