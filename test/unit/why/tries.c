/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests which attempts to take a lock are counted, and which findings follow from attempts that never
 * succeed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE   1u
#define ONE    5u
#define OTHER  6u
#define LOCK_A 0x2000u
#define LOCK_B 0x3000u
#define LOCK_C 0x4000u
#define FIRST  (1000 * MS)
#define LAST   (5000 * MS)
#define EVERY  (50 * MS)

enum { SWITCH = 1, CONTEND, FAIL, ACQUIRE, RELEASE, WORK };

static struct ktrx_holder *one, *other;

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next");
	script_type(CONTEND, "lock", "contend", "pointer lock");
	script_type(FAIL, "lock", "fail", "pointer lock");
	script_type(ACQUIRE, "lock", "acquire", "pointer lock");
	script_type(RELEASE, "lock", "release", "pointer lock");
	script_type(WORK, "disk", "write", "u32 block");
	script_thread(IDLE, "idle/0");
	script_info()->cpus = 1;
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_cpu_beats(0, 500, LAST);
	one = why_thread_row(ONE, "one", KTRX_THREAD_RUNNABLE, 0);
	other = why_thread_row(OTHER, "other", KTRX_THREAD_RUNNABLE, 0);
	one->state_stamp = other->state_stamp = LAST;
	script_event(SWITCH, FIRST / 2, 0, IDLE, V(0), V(IDLE));
	return error;
}

/* According to the kernel's table, each thread has held a lock since this time. */
static void hold_since(uint64_t stamp)
{
	why_holds(one, LOCK_A, stamp);
	why_holds(other, LOCK_B, stamp);
}

/* Each thread tries again and again to take the lock of the other thread, from `from` to `to`. */
static void try_from_to(uint16_t event, uint64_t from, uint64_t to)
{
	for (uint64_t stamp = from; stamp <= to; stamp += EVERY) {
		script_event(event, stamp, 0, ONE, V(LOCK_B));
		script_event(event, stamp + MS, 0, OTHER, V(LOCK_A));
	}
}

static void is_livelock(enum finding_certainty certain)
{
	assert_int_equal(why_count(WHY_LIVELOCK), 1);
	assert_int_equal(why_judge()->verdict, WHY_LIVELOCK);
	assert_int_equal(why_judge()->base.certain, certain);
	assert_int_equal(why_judge()->actors, 2);
}

static void tries_at_locks_held_all_the_time_are_certain(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	try_from_to(CONTEND, FIRST, LAST - EVERY);
	is_livelock(FINDING_CERTAIN);
	why_says("thread 5 (one) tried 80 times in 3.95 s to take lock 0x3000 and never got it");
	why_says("held by thread 6 (other) for about 4.00 s");
}

static void failures_count_like_waits(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	try_from_to(FAIL, FIRST, LAST - EVERY);
	is_livelock(FINDING_CERTAIN);
	why_says("tried 80 times");
}

static void try_with_two_events_counts_once(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	for (uint64_t stamp = FIRST; stamp < LAST; stamp += EVERY) {
		try_from_to(CONTEND, stamp, stamp);
		try_from_to(FAIL, stamp + 2 * MS, stamp + 2 * MS);
	}
	is_livelock(FINDING_CERTAIN);
	why_says("tried 80 times");
}

static void several_locks_are_counted_separately(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	for (uint64_t stamp = FIRST; stamp < LAST; stamp += EVERY) {
		try_from_to(CONTEND, stamp, stamp);
		script_event(CONTEND, stamp + 2 * MS, 0, ONE, V(LOCK_C));
	}
	is_livelock(FINDING_CERTAIN);
	why_says("thread 5 (one) tried 80 times in 3.95 s to take lock 0x3000");
}

/* The table does not show that the lock was held during the first attempts. */
static void lock_taken_after_first_try_is_no_livelock(void **state)
{
	(void)state;
	hold_since(FIRST + 1000 * MS);
	try_from_to(CONTEND, FIRST, LAST - EVERY);
	assert_int_equal(why_count(WHY_LIVELOCK), 0);
}

/*
 * At the end of the trace, each thread is in one of its attempts: it sleeps until it gets the lock of the
 * other thread, or until the timeout of this attempt.
 */
static void tries_with_timeouts_are_a_livelock_also_during_an_attempt(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	try_from_to(CONTEND, FIRST, LAST - EVERY);
	why_waits(one, KTRX_WAIT_LOCK, LOCK_B, "bee", LAST - EVERY);
	why_waits(other, KTRX_WAIT_LOCK, LOCK_A, "aye", LAST - EVERY + MS);
	one->state = other->state = KTRX_THREAD_WAITING;
	one->state_stamp = other->state_stamp = LAST - EVERY + MS;
	one->owner = OTHER + 1;
	other->owner = ONE + 1;
	one->deadline = other->deadline = LAST + MS;
	is_livelock(FINDING_LIKELY);
	why_says("thread 5 (one) tried 80 times in 3.95 s to take lock bee (0x3000) and never got it");
}

/* A thread that does other work between its attempts may release its lock when the work is done. */
static void tries_of_thread_that_does_other_work_are_likely(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	try_from_to(CONTEND, FIRST, LAST - 1000 * MS);
	script_event(WORK, LAST - 970 * MS, 0, ONE, V(7));
	try_from_to(CONTEND, LAST - 950 * MS, LAST - EVERY);
	is_livelock(FINDING_LIKELY);
	why_says("thread 5 (one) recorded other events between its tries, the last 970.0 ms ago");
}

static void work_before_the_first_try_does_not_matter(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	script_event(WORK, FIRST - 20 * MS, 0, ONE, V(7));
	try_from_to(FAIL, FIRST, LAST - EVERY);
	is_livelock(FINDING_CERTAIN);
}

/* Events show when the lock was taken: attempts before that do not count. */
static void tries_count_since_lock_was_taken(void **state)
{
	(void)state;
	hold_since(FIRST + 1000 * MS + 2 * MS);
	try_from_to(CONTEND, FIRST, FIRST + 1000 * MS);
	script_event(ACQUIRE, FIRST + 1002 * MS, 0, ONE, V(LOCK_A));
	script_event(ACQUIRE, FIRST + 1003 * MS, 0, OTHER, V(LOCK_B));
	try_from_to(CONTEND, FIRST + 1050 * MS, LAST - EVERY);
	is_livelock(FINDING_CERTAIN);
	why_says("thread 5 (one) tried 59 times in 2.90 s");
}

static void success_ends_livelock(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	try_from_to(CONTEND, FIRST, LAST - EVERY);
	script_event(ACQUIRE, LAST - MS, 0, ONE, V(LOCK_B));
	assert_int_equal(why_count(WHY_LIVELOCK), 0);
}

static void few_tries_are_healthy(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	for (uint64_t n = 0; n < 7; n++)
		try_from_to(CONTEND, LAST - 3500 * MS + 500 * MS * n, LAST - 3500 * MS + 500 * MS * n);
	assert_int_equal(why_count(WHY_LIVELOCK), 0);
}

static void tries_within_short_time_are_healthy(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	try_from_to(CONTEND, LAST - 1500 * MS, LAST - EVERY);
	assert_int_equal(why_count(WHY_LIVELOCK), 0);
}

static void thread_that_no_longer_tries_is_healthy(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	try_from_to(CONTEND, FIRST, LAST - 1000 * MS);
	assert_int_equal(why_count(WHY_LIVELOCK), 0);
}

static void tries_of_interrupt_handlers_do_not_count(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	for (uint64_t stamp = FIRST; stamp < LAST; stamp += EVERY) {
		script_event(CONTEND, stamp, 0, ONE, V(LOCK_B))->context = KTRX_CONTEXT_INTERRUPT;
		script_event(CONTEND, stamp, 0, OTHER, V(LOCK_A));
	}
	assert_int_equal(why_count(WHY_LIVELOCK), 0);
}

/* Slots were lost. One of them may show that a thread has taken the lock. */
static void tries_before_gap_do_not_count(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	try_from_to(CONTEND, FIRST, LAST - 1000 * MS);
	script_event(SWITCH, LAST - 900 * MS, 0, IDLE, V(ONE), V(IDLE))->lost = 1;
	try_from_to(CONTEND, LAST - 850 * MS, LAST - EVERY);
	assert_int_equal(why_count(WHY_LIVELOCK), 0);
}

/* Thread 6 waits for the lock of thread 5, which tries again and again. */
static void tries_and_wait_make_livelock(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	why_waits(other, KTRX_WAIT_LOCK, LOCK_A, "aye", FIRST);
	other->state = KTRX_THREAD_WAITING;
	for (uint64_t stamp = FIRST; stamp < LAST; stamp += EVERY)
		script_event(CONTEND, stamp, 0, ONE, V(LOCK_B));
	is_livelock(FINDING_CERTAIN);
	why_says("thread 6 (other) has waited 4.00 s for lock aye (0x2000)");
}

/*
 * Without lock hooks, events show the locks that are held, and the attempts show since when a thread waits.
 */
static void wait_by_events_begins_with_first_try(void **state)
{
	(void)state;
	script_cpu(0)->hooks &= (uint8_t)~KTRX_HOOK_LOCK;
	script_event(ACQUIRE, FIRST - 3 * MS, 0, ONE, V(LOCK_A));
	script_event(ACQUIRE, FIRST - 2 * MS, 0, OTHER, V(LOCK_B));
	try_from_to(CONTEND, FIRST, LAST - EVERY);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 5 (one) and thread 6 (other) have waited 4.00 s for each other");
}

/* A thread may try to take a lock only to find out whether it already holds this lock. */
static void tries_at_own_lock_are_only_possible(void **state)
{
	(void)state;
	hold_since(FIRST - MS);
	for (uint64_t stamp = FIRST; stamp < LAST; stamp += EVERY)
		script_event(FAIL, stamp, 0, ONE, V(LOCK_A));
	assert_int_equal(why_count(WHY_LIVELOCK), 1);
	assert_true(why_verdict_is_healthy(why_judge()->verdict));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(tries_at_locks_held_all_the_time_are_certain),
		TEST(tries_with_timeouts_are_a_livelock_also_during_an_attempt),
		TEST(tries_of_thread_that_does_other_work_are_likely),
		TEST(work_before_the_first_try_does_not_matter),
		TEST(failures_count_like_waits),
		TEST(try_with_two_events_counts_once),
		TEST(several_locks_are_counted_separately),
		TEST(lock_taken_after_first_try_is_no_livelock),
		TEST(tries_count_since_lock_was_taken),
		TEST(success_ends_livelock),
		TEST(few_tries_are_healthy),
		TEST(tries_within_short_time_are_healthy),
		TEST(thread_that_no_longer_tries_is_healthy),
		TEST(tries_of_interrupt_handlers_do_not_count),
		TEST(tries_before_gap_do_not_count),
		TEST(tries_and_wait_make_livelock),
		TEST(wait_by_events_begins_with_first_try),
		TEST(tries_at_own_lock_are_only_possible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
