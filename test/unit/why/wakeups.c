/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about threads that sleep because a wakeup is missing or came too early. Also tests threads
 * that may still be woken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"
#include "unit/support/why_threads.h"

/* Adds events in which client and worker wake each other `times` times. */
static void wake_each_other(unsigned times)
{
	for (uint64_t stamp = MS / 2; times > 0; times--, stamp += 100) {
		why_sleep_on(JOBS, stamp, WORKER, KTRX_WAIT_EVENT, CLIENT);
		why_wake(stamp + 20, CLIENT, WORKER);
		why_sleep_on(DONE, stamp + 40, CLIENT, KTRX_WAIT_EVENT, WORKER);
		why_wake(stamp + 60, WORKER, CLIENT);
	}
}

/* Client and worker wake each other. Then both sleep: first the worker, and from `then` on the client. */
static void ask_and_answer(uint64_t then)
{
	why_sleep_on(JOBS, 1 * MS, WORKER, KTRX_WAIT_EVENT, CLIENT);
	why_wake(2 * MS, CLIENT, WORKER);
	why_sleep_on(DONE, 3 * MS, CLIENT, KTRX_WAIT_EVENT, WORKER);
	why_wake(4 * MS, WORKER, CLIENT);
	why_sleep_on(JOBS, 5 * MS, WORKER, KTRX_WAIT_EVENT, CLIENT);
	why_sleep_on(DONE, then, CLIENT, KTRX_WAIT_EVENT, IDLE);
}

static struct ktrx_holder *both_wait(void)
{
	struct ktrx_holder *worker = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *client = why_thread_row(CLIENT, "client", KTRX_THREAD_WAITING, 0);

	why_waits(worker, KTRX_WAIT_EVENT, JOBS, "jobs", 5 * MS);
	why_waits(client, KTRX_WAIT_EVENT, DONE, "answers", 6 * MS);
	return client;
}

/* Checks that the verdict is "idle", and that `lost` findings are about a lost wakeup. */
static void is_idle_with(unsigned lost)
{
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_count(WHY_LOST_WAKEUP), lost);
}

static void sleepers_after_many_wakeups_lost_one(void **state)
{
	(void)state;
	both_wait();
	wake_each_other(15);
	ask_and_answer(6 * MS);
	why_idle_until(2005 * MS);
	assert_int_equal(why_judge()->verdict, WHY_LOST_WAKEUP);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	assert_int_equal(why_judge()->actor[0].id, WORKER + 1);
	assert_int_equal(why_judge()->actor[0].waits, JOBS);
	why_says("thread 5 (worker) has waited 2.00 s on jobs (0x1000)");
	why_says("thread 6 (client) woke threads on jobs (0x1000) 16 times");
	assert_int_equal(why_count(WHY_IDLE), 0);
}

/* Both threads may be servers that wait for new clients: ten wakeups are too few to decide this. */
static void sleepers_after_few_wakeups_are_only_possible(void **state)
{
	(void)state;
	both_wait();
	wake_each_other(9);
	ask_and_answer(6 * MS);
	why_idle_until(2005 * MS);
	is_idle_with(1);
	why_says("10 wakeups cannot show");
}

/* Another thread works, so the machine looks busy. */
static void lost_wakeup_leaves_a_busy_machine_in_doubt(void **state)
{
	(void)state;
	both_wait();
	wake_each_other(9);
	ask_and_answer(6 * MS);
	script_event(SWITCH, 7 * MS, 0, IDLE, V(IDLE), V(9), V(0));
	why_thread_row(9, "other", KTRX_THREAD_RUNNING, 0)->state_stamp = 7 * MS;
	why_work_until(2005 * MS, 9);
	assert_int_equal(why_count(WHY_LOST_WAKEUP), 1);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	why_says("not certain because of: lost-wakeup (possible), see below");
}

/* The client never waited for an answer before, so the worker's answers found it awake. */
static void sleeper_that_was_never_woken_is_only_possible(void **state)
{
	(void)state;
	both_wait();
	for (uint64_t n = 1; n <= 20; n++) {
		why_sleep_on(JOBS, n * MS / 5, WORKER, KTRX_WAIT_EVENT, CLIENT);
		why_wake(n * MS / 5 + 20, CLIENT, WORKER);
		script_event(NOBODY, n * MS / 5 + 40, 0, WORKER, V(DONE), V(0x77));
	}
	why_sleep_on(JOBS, 5 * MS, WORKER, KTRX_WAIT_EVENT, CLIENT);
	script_event(OTHER, 6 * MS - 1, 0, CLIENT);
	why_sleep_on(DONE, 6 * MS, CLIENT, KTRX_WAIT_EVENT, IDLE);
	why_idle_until(2005 * MS);
	is_idle_with(1);
	why_says("because some were never woken from this wait");
}

/* The client's sleep ends at its deadline, and then the client may wake the worker. */
static void waker_with_deadline_may_still_wake(void **state)
{
	(void)state;
	both_wait()->deadline = 3000 * MS;
	ask_and_answer(6 * MS);
	why_idle_until(2005 * MS);
	is_idle_with(0);
}

static void earlier_interrupt_may_wake_again(void **state)
{
	(void)state;
	both_wait();
	why_sleep_on(DONE, MS / 4, CLIENT, KTRX_WAIT_EVENT, WORKER);
	why_by_interrupt(WAKE, MS / 2, WORKER, CLIENT);
	ask_and_answer(6 * MS);
	why_idle_until(2005 * MS);
	is_idle_with(0);
}

/* No thread has ever woken this server, so the trace does not show which thread could wake it now. */
static void sleeper_never_woken_is_healthy(void **state)
{
	(void)state;
	why_waits(why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0), KTRX_WAIT_EVENT, JOBS, "jobs",
		  MS);
	why_sleep_on(JOBS, MS, WORKER, KTRX_WAIT_EVENT, IDLE);
	why_idle_until(2005 * MS);
	is_idle_with(0);
}

/* The only thread that woke the worker has ended, so another thread may have taken its place. */
static void ended_wakers_do_not_count(void **state)
{
	(void)state;
	why_waits(why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0), KTRX_WAIT_EVENT, JOBS, "jobs",
		  3 * MS);
	why_sleep_on(JOBS, MS, WORKER, KTRX_WAIT_EVENT, CLIENT);
	why_wake(2 * MS, CLIENT, WORKER);
	script_event(SWITCH, 2 * MS + 1, 0, CLIENT, V(CLIENT), V(WORKER), V(4));
	why_sleep_on(JOBS, 3 * MS, WORKER, KTRX_WAIT_EVENT, IDLE);
	why_idle_until(2005 * MS);
	is_idle_with(0);
}

/* Without the table it is unknown whether the sleeps have timeouts. */
static void sleeps_without_table_are_only_possible(void **state)
{
	(void)state;
	ask_and_answer(6 * MS);
	why_idle_until(2005 * MS);
	script_cpu(0)->hooks = 0;
	is_idle_with(1);
	why_says("ktrace_block()");
}

static void wakers_before_gap_are_only_possible(void **state)
{
	(void)state;
	both_wait();
	ask_and_answer(6 * MS);
	script_event(OTHER, 7 * MS, 0, IDLE)->lost = 3;
	why_idle_until(2005 * MS);
	is_idle_with(1);
	why_says("partial");
}

/* More slots are unreadable than a CPU may be writing when the trace is captured. */
static void wakers_before_unreadable_end_are_only_possible(void **state)
{
	(void)state;
	both_wait();
	ask_and_answer(6 * MS);
	why_idle_until(2005 * MS);
	script_ring(1)->overwritten = 9;
	script_ring(1)->invalid = 3 * KTRX_RECORD_MAX_SLOTS + 1;
	is_idle_with(1);
	why_says("partial");
}

/* Any CPU may have written the unreadable slots of a ring that all CPUs share. */
static void wakers_before_unreadable_end_of_shared_ring_are_only_possible(void **state)
{
	(void)state;
	both_wait();
	ask_and_answer(6 * MS);
	why_idle_until(2005 * MS);
	script_ring(3)->cpu = KTRX_NO_CPU;
	script_ring(3)->invalid = 3 * KTRX_RECORD_MAX_SLOTS + 1;
	is_idle_with(1);
	why_says("partial");
}

/*
 * The last slots of the boot ring cannot be read. They are from before `own`, the time of the first event in
 * CPU 0's own ring. CPU 1 has its own ring from the beginning.
 */
static void boot_ring_ends_unreadable(uint64_t own)
{
	script_ring(0)->cpu = KTRX_NO_CPU;
	script_ring(0)->invalid = 3 * KTRX_RECORD_MAX_SLOTS + 1;
	script_ring(2)->cpu = 0;
	script_info()->cpus = 2;
	script_info()->rings = 3;
	script_event(OTHER, 1, 1, IDLE);
	script_sort();
	for (unsigned n = 0; n < script_count(); n++) {
		struct ktread_event *event = script_change(n);

		if (event->cpu == 0)
			event->ring = event->stamp < own ? 0 : 2;
	}
}

static void wakers_after_unreadable_end_of_boot_ring_count(void **state)
{
	(void)state;
	both_wait();
	wake_each_other(15);
	ask_and_answer(6 * MS);
	why_idle_until(2005 * MS);
	boot_ring_ends_unreadable(0);
	assert_int_equal(why_judge()->verdict, WHY_LOST_WAKEUP);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
}

static void wakers_before_unreadable_end_of_boot_ring_are_only_possible(void **state)
{
	(void)state;
	both_wait();
	wake_each_other(15);
	ask_and_answer(6 * MS);
	why_idle_until(2005 * MS);
	boot_ring_ends_unreadable(1000 * MS);
	assert_int_equal(why_judge()->verdict, WHY_LOST_WAKEUP);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	why_says("partial");
}

/* The end of a ring is missing in the file, so the last events of threads are unknown. */
static void missing_end_of_ring_has_no_health(void **state)
{
	(void)state;
	why_idle_until(2005 * MS);
	script_ring(1)->cut = 3;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("1 ring lacks its end");
	why_says("to be more certain: use the complete file");
	why_says("partial");
}

/* The client wakes the worker after the worker has answered, but before the worker sleeps. */
static void race(uint64_t nobody_at, bool looks_again, bool is_woken)
{
	both_wait();
	why_sleep_on(JOBS, 1 * MS, WORKER, KTRX_WAIT_EVENT, CLIENT);
	why_wake(2 * MS, CLIENT, WORKER);
	why_sleep_on(DONE, 3 * MS, CLIENT, KTRX_WAIT_EVENT, WORKER);
	why_wake(4 * MS, WORKER, CLIENT);
	if (is_woken)
		why_wake(4 * MS + 1, CLIENT, WORKER);
	script_event(NOBODY, nobody_at, 1, CLIENT, V(JOBS), V(0x77));
	script_event(ACQUIRE, nobody_at + 1, 0, WORKER, V(JOBS));
	if (looks_again)
		script_event(OTHER, nobody_at + 2, 0, WORKER);
	why_sleep_on(JOBS, 5 * MS, WORKER, KTRX_WAIT_EVENT, IDLE);
	script_event(BLOCK, 6 * MS, 1, CLIENT, V(DONE), V(CLIENT), V(KTRX_WAIT_EVENT));
	why_idle_until(2005 * MS);
	why_cpu_row(1, KTRX_MODE_IDLE);
}

static void wakeup_before_sleep_is_race(void **state)
{
	(void)state;
	race(5 * MS - 1000, false, false);
	assert_int_equal(why_judge()->verdict, WHY_WAKEUP_RACE);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	assert_int_equal(why_judge()->actor[0].id, WORKER + 1);
	why_says("thread 5 (worker) missed its wakeup");
	why_says("thread 6 (client) woke jobs (0x1000) and found no thread asleep, at 0x77");
	assert_int_equal(why_count(WHY_LOST_WAKEUP), 0);
}

/*
 * The worker did something else after the wakeup, so it was not about to sleep then. Another wakeup is
 * missing.
 */
static void sleeper_with_later_events_was_not_raced(void **state)
{
	(void)state;
	race(5 * MS - 1000, true, false);
	assert_int_equal(why_count(WHY_LOST_WAKEUP), 1);
	assert_int_equal(why_count(WHY_WAKEUP_RACE), 0);
	/*
	 * The clocks have an error of 100 ns. The order of two events is uncertain if they are 100 ns apart,
	 * and certain if they are 101 ns apart.
	 */
	for (uint64_t apart = 100; apart < 102; apart++) {
		why_teardown(state);
		why_threads_begin(state);
		why_clocks_leave(100);
		race(5 * MS - 1000, false, false);
		script_event(OTHER, 5 * MS - 1000 - apart, 0, WORKER);
		script_sort();
		assert_int_equal(why_count(WHY_WAKEUP_RACE), apart - 100);
	}
}

/*
 * The client has woken the worker once before, shortly before this wakeup. So after the first wakeup, the
 * worker probably also handled the reason of the second one.
 */
static void sleeper_woken_just_before_was_not_raced(void **state)
{
	(void)state;
	race(5 * MS - 1000, false, true);
	assert_int_equal(why_count(WHY_WAKEUP_RACE), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_threads_begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sleepers_after_many_wakeups_lost_one),
		TEST(sleepers_after_few_wakeups_are_only_possible),
		TEST(lost_wakeup_leaves_a_busy_machine_in_doubt),
		TEST(sleeper_that_was_never_woken_is_only_possible),
		TEST(waker_with_deadline_may_still_wake),
		TEST(earlier_interrupt_may_wake_again),
		TEST(sleeper_never_woken_is_healthy),
		TEST(ended_wakers_do_not_count),
		TEST(sleeps_without_table_are_only_possible),
		TEST(wakers_before_gap_are_only_possible),
		TEST(wakers_before_unreadable_end_are_only_possible),
		TEST(wakers_before_unreadable_end_of_shared_ring_are_only_possible),
		TEST(wakers_after_unreadable_end_of_boot_ring_count),
		TEST(wakers_before_unreadable_end_of_boot_ring_are_only_possible),
		TEST(missing_end_of_ring_has_no_health),
		TEST(wakeup_before_sleep_is_race),
		TEST(sleeper_with_later_events_was_not_raced),
		TEST(sleeper_woken_just_before_was_not_raced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
