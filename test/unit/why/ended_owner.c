/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests threads whose end only their row in the kernel's table shows, because the events are overwritten: the
 * state is unknown, and has a timestamp.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

#define OTHERS 7u
#define TAKEN  (20 * MS)
#define ENDED  (30 * MS)
#define WAITS  (40 * MS)
#define NEWEST (9000 * MS)

enum { CREATE = 40, WAKE };

static struct ktrx_holder *owner, *waiter;

/* WORKER took the lock and ended. CLIENT waits for the lock. The oldest event left is much newer. */
static int begin(void **state)
{
	const int error = why_cpus_begin(state);

	script_type(CREATE, "sched", "create", "u32 thread");
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		const uint32_t idle = cpu ? IDLE1 : IDLE0;

		script_event(OTHER, 4000 * MS, cpu, idle)->lost = 100;
		why_ticks(4010 * MS, NEWEST, cpu, idle, KERNEL);
		script_cpu(cpu)->switches = 100;
		script_cpu(cpu)->switch_stamp = WAITS;
	}
	owner = why_thread_row(WORKER, "worker", KTRX_THREAD_UNKNOWN, 0);
	owner->state_stamp = ENDED;
	why_holds(owner, LOCK_A, TAKEN);
	waiter = why_thread_row(CLIENT, "client", KTRX_THREAD_WAITING, 0);
	waiter->state_stamp = WAITS;
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK_A, "aye", WAITS);
	waiter->owner = WORKER + 1;
	return error;
}

static void is_dead_owner(enum finding_certainty certain)
{
	assert_int_equal(why_judge()->verdict, WHY_DEAD_OWNER);
	assert_int_equal(why_judge()->base.certain, certain);
	why_says("thread 6 (client) waits for lock aye (0x1000), whose owner, thread 5 (worker), has ended");
	why_says("thread 5 (worker) ended 8.97 s ago");
}

static void row_shows_the_end_of_the_owner(void **state)
{
	(void)state;
	is_dead_owner(FINDING_CERTAIN);
}

/* The kernel does not know the owner of this lock, but the row of the ended thread contains the lock. */
static void row_shows_an_owner_that_the_waiter_does_not_name(void **state)
{
	(void)state;
	waiter->owner = 0;
	is_dead_owner(FINDING_CERTAIN);
}

/* No row contains held locks. The kernel named the owner after the owner's end. */
static void owner_that_was_named_after_its_end_is_likely(void **state)
{
	(void)state;
	owner->held[0].object = 0;
	owner->held_count = 0;
	waiter->wait_stamp = ENDED + 100 * MS;
	is_dead_owner(FINDING_LIKELY);
}

/* Rows contain held locks, but the row of the ended thread does not contain this lock. */
static void owner_without_the_lock_is_only_possible(void **state)
{
	(void)state;
	owner->held[0].object = LOCK_B;
	waiter->wait_stamp = ENDED + 100 * MS;
	assert_int_equal(why_count(WHY_DEAD_OWNER), 1);
	assert_int_not_equal(why_judge()->verdict, WHY_DEAD_OWNER);
	why_says("dead-owner (possible)");
}

/* Older kernels leave such a thread runnable, so that it is not known that it has ended. */
static void runnable_owner_has_not_ended(void **state)
{
	(void)state;
	owner->state = KTRX_THREAD_RUNNABLE;
	owner->cause = KTRX_CAUSE_SWITCH;
	assert_int_equal(why_count(WHY_DEAD_OWNER), 0);
}

/* The kernel has reported a lock of the thread, but neither that it runs nor that it ended. */
static void owner_without_any_state_has_not_ended(void **state)
{
	(void)state;
	owner->state_stamp = 0;
	assert_int_equal(why_count(WHY_DEAD_OWNER), 0);
}

/* The row says that the owner runs, but its CPU has switched to another thread without a report. */
static void owner_that_left_its_cpu_without_a_report_has_not_ended(void **state)
{
	(void)state;
	owner->state = KTRX_THREAD_RUNNING;
	script_cpu(0)->thread = IDLE0;
	assert_int_equal(why_count(WHY_DEAD_OWNER), 0);
}

/* The number belongs to a new thread, whose row still has the state of the ended thread. */
static void new_thread_with_the_number_has_not_ended(void **state)
{
	(void)state;
	script_event(CREATE, 5000 * MS, 0, IDLE0, V(WORKER));
	assert_int_equal(why_count(WHY_DEAD_OWNER), 0);
}

/* An event after that time is from a new thread with this number. */
static void thread_with_later_events_has_not_ended(void **state)
{
	(void)state;
	script_event(OTHER, 5000 * MS, 0, WORKER);
	assert_int_equal(why_count(WHY_DEAD_OWNER), 0);
}

/*
 * The kernel passes its own numbers as the states in sched.switch: 4 is the number of a thread that sleeps,
 * which then runs again.
 */
static void owner_has_not_ended_if_the_states_are_wrong(void **state)
{
	(void)state;
	script_type(WAKE, "sched", "wake", "u32 thread");
	for (uint64_t n = 0; n < 100; n++) {
		if (n % 2)
			script_event(WAKE, 5000 * MS + 2 * n * MS - 1, 1, IDLE1, V(OTHERS));
		script_event(SWITCH, 5000 * MS + 2 * n * MS, 1, IDLE1, V(IDLE1), V(OTHERS), V(0));
		script_event(SWITCH, 5001 * MS + 2 * n * MS, 1, OTHERS, V(OTHERS), V(IDLE1), V(4));
	}
	assert_int_equal(why_count(WHY_DEAD_OWNER), 0);
}

/* A thread that has ended does not wait for anything. */
static void ended_thread_does_not_wait(void **state)
{
	(void)state;
	why_waits(owner, KTRX_WAIT_LOCK, LOCK_B, "bee", TAKEN);
	owner->owner = CLIENT + 1;
	why_holds(waiter, LOCK_B, TAKEN);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
	is_dead_owner(FINDING_CERTAIN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(row_shows_the_end_of_the_owner),
		TEST(row_shows_an_owner_that_the_waiter_does_not_name),
		TEST(owner_that_was_named_after_its_end_is_likely),
		TEST(owner_without_the_lock_is_only_possible),
		TEST(runnable_owner_has_not_ended),
		TEST(owner_without_any_state_has_not_ended),
		TEST(owner_that_left_its_cpu_without_a_report_has_not_ended),
		TEST(new_thread_with_the_number_has_not_ended),
		TEST(thread_with_later_events_has_not_ended),
		TEST(owner_has_not_ended_if_the_states_are_wrong),
		TEST(ended_thread_does_not_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
