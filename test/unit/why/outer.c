/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about a mutex that is made of a queue and the queue's own lock. The table of the kernel
 * shows a sleep on the queue; events show that the thread waits for the mutex.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_overdue.h"
#include "unit/support/why_support.h"

enum { CONTEND = EXIT + 1, ACQUIRE, RELEASE };

#define INNER (QUEUE + 8)
#define SINCE 3000u /* time in ms at which the waiter begins to wait */

static struct ktrx_holder *waiter, *holder;

static int begin(void **state)
{
	int error = why_overdue_begin(state);

	script_type(CONTEND, "lock", "contend", "u64 lock,string name,string kind,u32 holder");
	script_type(ACQUIRE, "lock", "acquire", "u64 lock");
	script_type(RELEASE, "lock", "release", "u64 lock");
	waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);
	holder = why_thread_row(SLEEPER, "holder", KTRX_THREAD_WAITING, 1);
	return error;
}

/* The holder takes the mutex and releases it, `count` times, then takes it and keeps it. */
static void hold_before(uint32_t count, uint64_t ms)
{
	uint64_t stamp = 100;

	for (uint32_t n = 0; n < count; n++) {
		script_event(ACQUIRE, stamp * MS, 1, SLEEPER, V(LOCK));
		stamp += ms;
		script_event(RELEASE, stamp * MS, 1, SLEEPER, V(LOCK));
		stamp += 2;
	}
	script_event(ACQUIRE, (SINCE - 5) * MS, 1, SLEEPER, V(LOCK));
	script_event(OTHER, (SINCE - 4) * MS, 1, IDLE);
	why_holds(holder, LOCK, (SINCE - 5) * MS);
}

/* The waiter finds the mutex taken and takes the queue's lock. */
static void begin_to_wait(void)
{
	script_event(CONTEND, SINCE * MS, 0, WAITER, V(LOCK), "files", "thread", V(SLEEPER));
	script_event(ACQUIRE, SINCE * MS + 1000, 0, WAITER, V(INNER));
}

/*
 * The waiter sleeps on the queue. If `releases` is true, it releases the queue's lock when it goes to sleep.
 */
static void wait_on_queue(bool releases)
{
	script_event(BLOCK, SINCE * MS + 2000, 0, WAITER, V(QUEUE), V(WAITER), V(KTRX_WAIT_EVENT));
	if (releases)
		script_event(RELEASE, SINCE * MS + 3000, 0, WAITER, V(INNER));
	script_event(OTHER, SINCE * MS + 4000, 0, IDLE);
	why_waits(waiter, KTRX_WAIT_EVENT, QUEUE, "files-wait", SINCE * MS + 2000);
}

/* The holder went to sleep a moment before the end. */
static void holder_lives(void)
{
	why_waits(holder, KTRX_WAIT_EVENT, 0x5000, "timer", (END_MS - 20) * MS);
	holder->state_stamp = (END_MS - 20) * MS;
}

/* The holder waits for a lock that the waiter holds. */
static void holder_waits(void)
{
	why_waits(holder, KTRX_WAIT_LOCK, 0x6000, "index", (SINCE + 10) * MS);
	why_holds(waiter, 0x6000, (SINCE - 10) * MS);
}

static void mutex_of_queue_is_part_of_deadlock(void **state)
{
	(void)state;
	hold_before(0, 0);
	begin_to_wait();
	wait_on_queue(true);
	holder_waits();
	script_sort();
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 7 (waiter) has waited 9.00 s for lock files (0x2000)");
	why_says("call ktrace_block() with this lock and KTRX_WAIT_LOCK");
}

/* The queue's lock is also taken, so the thread must wait for this lock as well. */
static void wait_for_lock_of_queue_does_not_end_wait_for_mutex(void **state)
{
	(void)state;
	hold_before(0, 0);
	script_event(CONTEND, SINCE * MS, 0, WAITER, V(LOCK), "files", "thread", V(SLEEPER));
	script_event(CONTEND, SINCE * MS + 500, 0, WAITER, V(INNER), "inner", "thread", V(WAKER));
	script_event(ACQUIRE, SINCE * MS + 1000, 0, WAITER, V(INNER));
	wait_on_queue(true);
	holder_waits();
	script_sort();
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
}

/* The thread keeps the other lock while it sleeps, so it is no lock of a queue. */
static void lock_that_is_kept_in_sleep_is_no_lock_of_a_queue(void **state)
{
	(void)state;
	hold_before(0, 0);
	begin_to_wait();
	wait_on_queue(false);
	holder_waits();
	script_sort();
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

/* The thread did other work after it found the mutex taken, so it no longer waits for the mutex. */
static void other_event_ends_wait_for_mutex(void **state)
{
	(void)state;
	hold_before(0, 0);
	script_event(CONTEND, (SINCE - 2) * MS, 0, WAITER, V(LOCK), "files", "thread", V(SLEEPER));
	script_event(OTHER, (SINCE - 1) * MS, 0, WAITER);
	script_event(ACQUIRE, SINCE * MS + 1000, 0, WAITER, V(INNER));
	wait_on_queue(true);
	holder_waits();
	script_sort();
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

/* The table row shows a later sleep than the events, because later events are lost. */
static void another_sleep_ends_wait_for_mutex(void **state)
{
	(void)state;
	hold_before(0, 0);
	begin_to_wait();
	wait_on_queue(true);
	waiter->wait_stamp += 5 * MS;
	holder_waits();
	script_sort();
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

/* ---- A mutex that is held for long ---------------------------------------------------------------- */

static void mutex_held_far_longer_than_before_is_possibly_overdue(void **state)
{
	(void)state;
	hold_before(20, 3);
	begin_to_wait();
	wait_on_queue(true);
	holder_lives();
	script_sort();
	why_is_overdue(FINDING_POSSIBLE);
	why_says("held by thread 5 (holder), which has run since then, sleeps now and keeps the lock");
	why_says("in this trace, the lock was held and released 20 times before, for at most 3.0 ms");
}

/* The holder goes about its work: it sleeps with timeouts, and never releases the mutex. */
static void mutex_kept_by_thread_that_sleeps_with_timeouts_is_possibly_overdue(void **state)
{
	(void)state;
	hold_before(20, 3);
	begin_to_wait();
	wait_on_queue(true);
	holder_lives();
	holder->deadline = (END_MS + 20) * MS;
	script_sort();
	why_is_overdue(FINDING_POSSIBLE);
	why_says("held by thread 5 (holder), which sleeps with timeouts and keeps the lock");
	why_says("in this trace, the lock was held and released 20 times before, for at most 3.0 ms");
}

/* The mutex was often held for 170 ms before, so the holder may need it for 9 s. */
static void mutex_that_is_often_held_for_long_is_healthy(void **state)
{
	(void)state;
	hold_before(16, 170);
	begin_to_wait();
	wait_on_queue(true);
	holder_lives();
	script_sort();
	why_is_idle(FINDING_LIKELY);
}

/* The holder has slept since before the wait began: the sleep may be long but normal. */
static void holder_that_has_not_run_since_is_not_reported_as_keeper(void **state)
{
	(void)state;
	hold_before(20, 3);
	begin_to_wait();
	wait_on_queue(true);
	holder_lives();
	holder->state_stamp = holder->wait_stamp = (SINCE - 1) * MS;
	script_sort();
	why_judge();
	assert_null(strstr(why_text(), "sleeps now and keeps"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(mutex_of_queue_is_part_of_deadlock),
		TEST(wait_for_lock_of_queue_does_not_end_wait_for_mutex),
		TEST(lock_that_is_kept_in_sleep_is_no_lock_of_a_queue),
		TEST(other_event_ends_wait_for_mutex),
		TEST(another_sleep_ends_wait_for_mutex),
		TEST(mutex_held_far_longer_than_before_is_possibly_overdue),
		TEST(mutex_kept_by_thread_that_sleeps_with_timeouts_is_possibly_overdue),
		TEST(mutex_that_is_often_held_for_long_is_healthy),
		TEST(holder_that_has_not_run_since_is_not_reported_as_keeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
