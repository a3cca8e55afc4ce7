/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about locks that threads take in different orders. Some of these orders can lead to a
 * deadlock, and some cannot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define A	 0x1000u
#define B	 0x2000u
#define V(value) ((uint64_t)(value))

enum { OTHER = 1, CONTEND, ACQUIRE, RELEASE, TRY };

static void declare_locks(void)
{
	script_type(ACQUIRE, "lock", "acquire", "pointer lock");
	script_type(RELEASE, "lock", "release", "pointer lock");
}

static void end_at(uint64_t stamp)
{
	script_type(OTHER, "mine", "other", "");
	script_event(OTHER, 1, 0, 0);
	script_event(OTHER, stamp, 0, 0);
}

/* The thread takes lock `first`, which event `how` records, and then lock `then`. It releases both. */
static void takes_by(uint16_t how, uint64_t stamp, uint32_t thread, uint64_t first, uint64_t then)
{
	script_event(how, stamp, 0, thread, first);
	script_event(ACQUIRE, stamp + 1, 0, thread, then);
	script_event(RELEASE, stamp + 2, 0, thread, then);
	script_event(RELEASE, stamp + 3, 0, thread, first);
}

static void takes(uint64_t stamp, uint32_t thread, uint64_t first, uint64_t then)
{
	takes_by(ACQUIRE, stamp, thread, first, then);
}

static void orders(uint32_t other)
{
	declare_locks();
	takes(10 * MS, 5, A, B);
	takes(11 * MS, other, B, A);
	end_at(1020 * MS);
}

static void opposite_orders_are_reported(void **state)
{
	(void)state;
	orders(6);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 1);
}

/*
 * Thread 5 takes A, then B. Thread 6 takes B, then A. The arguments are the events that record the first lock
 * of each thread, and the second lock of thread 6: with or without trylock.
 */
static void orders_by(uint16_t first, uint16_t last)
{
	declare_locks();
	script_type(TRY, "lock", "try", "pointer lock");
	takes_by(first, 10 * MS, 5, A, B);
	script_event(first, 20 * MS, 0, 6, (uint64_t)B);
	script_event(last, 21 * MS, 0, 6, (uint64_t)A);
	end_at(1020 * MS);
}

static void try_makes_no_order(void **state)
{
	(void)state;
	orders_by(ACQUIRE, TRY);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 0);
}

static void acquire_makes_order(void **state)
{
	(void)state;
	orders_by(ACQUIRE, ACQUIRE);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 1);
}

/*
 * A lock that was taken by a trylock is held like any other lock: a thread may wait for C while it holds B.
 */
static void lock_taken_by_try_is_held(void **state)
{
	(void)state;
	orders_by(TRY, ACQUIRE);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 1);
}

/*
 * On each CPU, code that runs without a thread has thread id 0. So locks that id 0 takes on two CPUs have no
 * common order.
 */
static void thread_0_has_no_order(void **state)
{
	(void)state;
	declare_locks();
	script_type(CONTEND, "lock", "contend", "pointer lock");
	script_event(ACQUIRE, 10 * MS, 0, 0, (uint64_t)A);
	script_event(ACQUIRE, 11 * MS, 1, 0, (uint64_t)B);
	script_event(RELEASE, 12 * MS, 1, 0, (uint64_t)B);
	script_event(CONTEND, 13 * MS, 1, 0, (uint64_t)A);
	script_event(ACQUIRE, 20 * MS, 2, 6, (uint64_t)B);
	script_event(CONTEND, 21 * MS, 2, 6, (uint64_t)A);
	end_at(1020 * MS);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 0);
	assert_int_equal(why_count(WHY_SELF_DEADLOCK), 0);
	assert_int_equal(why_count(WHY_DEADLOCK), 0);
}

/* Thread 5 takes both locks twice. Thread 6 takes them in the other order. No release is recorded. */
static void acquires_without_releases_make_no_order(void **state)
{
	(void)state;
	script_type(ACQUIRE, "lock", "acquire", "pointer lock");
	script_event(ACQUIRE, 10 * MS, 0, 5, (uint64_t)A);
	script_event(ACQUIRE, 11 * MS, 0, 5, (uint64_t)B);
	script_event(ACQUIRE, 20 * MS, 1, 6, (uint64_t)B);
	script_event(ACQUIRE, 21 * MS, 1, 6, (uint64_t)A);
	end_at(1020 * MS);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 0);
}

/*
 * A kernel takes and releases each mutex inside a section that one spinlock protects. So the spinlock is held
 * when the mutex is taken, and the mutex is held when the spinlock is taken. No thread waits for the mutex
 * while it holds the spinlock. If `guarded` is 0, the mutex is released outside of such a section.
 */
static void uses_mutex(uint64_t stamp, uint32_t thread, uint64_t spinlock, uint64_t mutex, int guarded)
{
	script_event(ACQUIRE, stamp, 0, thread, spinlock);
	script_event(ACQUIRE, stamp + 1, 0, thread, mutex);
	script_event(RELEASE, stamp + 2, 0, thread, spinlock);
	script_event(ACQUIRE, stamp + 3, 0, thread, spinlock);
	if (!guarded)
		script_event(RELEASE, stamp + 4, 0, thread, spinlock);
	script_event(RELEASE, stamp + 5, 0, thread, mutex);
	if (guarded)
		script_event(RELEASE, stamp + 6, 0, thread, spinlock);
}

static void use_mutexes(int guarded)
{
	declare_locks();
	for (uint32_t n = 0; n < 4; n++)
		uses_mutex((10 + n) * MS, 5 + n % 2, A, B, guarded);
	end_at(1020 * MS);
}

static void spinlock_that_protects_a_mutex_is_healthy(void **state)
{
	(void)state;
	use_mutexes(1);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 0);
}

/*
 * The kernel reports each mutex as taken while it still holds the spinlock, but as released before it takes
 * the spinlock. Threads wait for both locks. The waits show that the holder of the spinlock is a CPU, and
 * that the holder of the mutex is a thread.
 */
static void mutex_is_not_waited_for_with_a_spinlock(void **state)
{
	(void)state;
	script_type(CONTEND, "lock", "contend", "pointer lock,string name,string kind");
	script_event(CONTEND, 2 * MS, 1, 7, (uint64_t)A, "spin", "CPU");
	script_event(CONTEND, 3 * MS, 1, 7, (uint64_t)B, "mutex", "thread");
	use_mutexes(0);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 0);
}

static void other_locks_inside_a_mutex_make_an_order(void **state)
{
	(void)state;
	use_mutexes(0);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 1);
}

/* Threads 5 and 6 release their locks in the order in which they took them. */
static void order_of_releases_does_not_matter(void **state)
{
	(void)state;
	declare_locks();
	for (uint32_t n = 0; n < 2; n++) {
		script_event(ACQUIRE, (10 + 10 * n) * MS, 0, 5 + n, (uint64_t)(n ? B : A));
		script_event(ACQUIRE, (11 + 10 * n) * MS, 0, 5 + n, (uint64_t)(n ? A : B));
		script_event(RELEASE, (12 + 10 * n) * MS, 0, 5 + n, (uint64_t)(n ? B : A));
		script_event(RELEASE, (13 + 10 * n) * MS, 0, 5 + n, (uint64_t)(n ? A : B));
	}
	end_at(1020 * MS);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 1);
}

static void one_thread_with_both_orders_is_healthy(void **state)
{
	(void)state;
	orders(5);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 0);
}

/*
 * Thread 5 takes A and B in both orders. Threads 6 and 7 connect A to B through a third lock. Together with
 * one order of thread 5, this is a cycle of three locks. It must be found for each address of the third lock.
 */
static void three_can_meet(uint64_t third)
{
	declare_locks();
	takes(10 * MS, 5, A, B);
	takes(11 * MS, 5, B, A);
	takes(12 * MS, 6, A, third);
	takes(13 * MS, 7, third, B);
	end_at(1020 * MS);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 1);
	assert_int_equal(why_judge()->actors, 3);
	why_says("3 locks, 0x");
}

static void cycle_that_shares_orders_is_found(void **state)
{
	(void)state;
	three_can_meet(A + 1);
}

static void cycle_is_found_from_any_lock(void **state)
{
	(void)state;
	three_can_meet(B + 1);
}

/* Long names of locks are truncated, so that the text after them is complete. */
static void long_names_do_not_displace_text(void **state)
{
	static const char one[] = "a_lock_whose_name_says_all_that_there_is_to_say_of_it_and_more";
	static const char other[] = "another_lock_whose_name_says_all_that_there_is_to_say_of_it___";

	(void)state;
	script_type(ACQUIRE, "lock", "acquire", "pointer lock,string name");
	script_type(RELEASE, "lock", "release", "pointer lock");
	for (uint64_t n = 0; n < 4; n++) {
		const uint64_t first = n % 2 ? B : A, then = n % 2 ? A : B, stamp = (10 + n) * MS;
		const uint32_t thread = n % 2 ? 6 : 5;

		script_event(ACQUIRE, stamp, 0, thread, first, n % 2 ? other : one);
		script_event(ACQUIRE, stamp + 1, 0, thread, then, n % 2 ? one : other);
		script_event(RELEASE, stamp + 2, 0, thread, then);
		script_event(RELEASE, stamp + 3, 0, thread, first);
	}
	end_at(1020 * MS);
	assert_int_equal(why_judge()->verdict, WHY_LOCK_ORDER);
	assert_non_null(strstr(why_judge()->base.evidence[0], ", more than once"));
	assert_non_null(strstr(why_judge()->base.what, "but has not yet"));
}

/*
 * At an earlier time, thread 6 also took B while it held A. Thread 5 uses both orders, so it can deadlock
 * with thread 6.
 */
static void one_of_several_threads_may_deadlock(void **state)
{
	(void)state;
	orders(5);
	takes(2 * MS, 6, A, B);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 1);
}

/*
 * The threads took the locks in both orders, without a deadlock. Then they deadlocked, and the deadlock is
 * reported.
 */
static void order_of_a_deadlock_is_not_reported_again(void **state)
{
	struct ktrx_holder *one, *other;

	(void)state;
	orders(6);
	one = why_thread_row(5, "one", KTRX_THREAD_WAITING, 0);
	other = why_thread_row(6, "other", KTRX_THREAD_WAITING, 0);
	why_holds(one, A, 20 * MS);
	why_waits(one, KTRX_WAIT_LOCK, B, "B", 30 * MS);
	one->owner = 6 + 1;
	why_holds(other, B, 20 * MS);
	why_waits(other, KTRX_WAIT_LOCK, A, "A", 30 * MS);
	other->owner = 5 + 1;
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 0);
}

/*
 * Thread 5 takes B on CPU 0, and is switched out at 20 ms. It may release B on CPU 1, whose ring has lost the
 * events before `known`. On CPU 0 it then takes A.
 */
static void moves_while_events_are_lost_until(uint64_t known)
{
	enum { SWITCH = TRY + 1 };

	declare_locks();
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	takes(10 * MS, 6, A, B);
	script_event(ACQUIRE, 19 * MS, 0, 5, (uint64_t)B);
	script_event(SWITCH, 20 * MS, 0, 5, V(5), V(6), V(0));
	script_event(SWITCH, 25 * MS, 0, 6, V(6), V(5), V(1));
	script_event(ACQUIRE, 26 * MS, 0, 5, (uint64_t)A);
	end_at(1020 * MS);
	script_event(OTHER, known, 1, 6);
	script_sort();
	script_ring(1)->overwritten = 1000;
}

static void lock_may_be_released_where_events_are_lost(void **state)
{
	(void)state;
	moves_while_events_are_lost_until(30 * MS);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 0);
}

static void lock_is_held_over_a_switch_if_no_events_are_lost(void **state)
{
	(void)state;
	moves_while_events_are_lost_until(15 * MS);
	assert_int_equal(why_count(WHY_LOCK_ORDER), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, why_setup, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(opposite_orders_are_reported),
		TEST(try_makes_no_order),
		TEST(acquire_makes_order),
		TEST(lock_taken_by_try_is_held),
		TEST(thread_0_has_no_order),
		TEST(acquires_without_releases_make_no_order),
		TEST(spinlock_that_protects_a_mutex_is_healthy),
		TEST(mutex_is_not_waited_for_with_a_spinlock),
		TEST(other_locks_inside_a_mutex_make_an_order),
		TEST(order_of_releases_does_not_matter),
		TEST(one_thread_with_both_orders_is_healthy),
		TEST(one_of_several_threads_may_deadlock),
		TEST(order_of_a_deadlock_is_not_reported_again),
		TEST(long_names_do_not_displace_text),
		TEST(cycle_that_shares_orders_is_found),
		TEST(cycle_is_found_from_any_lock),
		TEST(lock_may_be_released_where_events_are_lost),
		TEST(lock_is_held_over_a_switch_if_no_events_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
