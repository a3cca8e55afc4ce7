/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Waits for devices, locks and deadlines that are overdue or normal, and the certainty of the verdict idle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_overdue.h"
#include "unit/support/why_support.h"

#define KNOWN_WAKES 8u /* so many wakeups show how soon a thread is woken */

/* ---- Devices and locks --------------------------------------------------------------------------- */

static void holds_and_is_waited_for(uint64_t since_ms)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);

	why_holds(why_sleeps(SLEEPER, "reader", KTRX_WAIT_DEVICE, since_ms), LOCK, since_ms * MS);
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", (since_ms + 1) * MS);
}

static void a_device_that_stopped_to_answer_holds_up_others(void **state)
{
	(void)state;
	holds_and_is_waited_for(why_turns(WAKER, KTRX_WAIT_DEVICE, 20, 20000) + 5);
	why_is_overdue(FINDING_LIKELY);
	why_says("thread 5 (reader) has waited 11.49 s for device queue (0x1000), and holds lock cache");
	why_says("20 such waits ended before, the longest after 18.0 ms");
	why_says("thread 7 (waiter) has waited 11.49 s for lock cache (0x2000)");
}

/* For example a timer interrupt, which wakes other threads as well. */
static void an_interrupt_that_still_comes_is_not_said_to_stay_away(void **state)
{
	uint64_t last = why_turns(0, KTRX_WAIT_DEVICE, 20, 20000);

	(void)state;
	why_irq_goes_on(last + 50);
	holds_and_is_waited_for(last + 5);
	why_is_overdue(FINDING_LIKELY);
	why_says("interrupt 33 on CPU 1, which still comes");
}

/* The first wait for a device: it may normally take this long. */
static void a_device_of_which_nothing_is_known_is_possibly_late(void **state)
{
	(void)state;
	holds_and_is_waited_for(1000);
	why_is_overdue(FINDING_POSSIBLE);
}

static void a_slow_device_is_well(void **state)
{
	(void)state;
	holds_and_is_waited_for(why_turns(WAKER, KTRX_WAIT_DEVICE, 10, 900000) + 5);
	why_is_idle(FINDING_LIKELY);
}

static void a_device_that_always_answered_at_once_is_possibly_late(void **state)
{
	(void)state;
	why_sleeps(SLEEPER, "reader", KTRX_WAIT_DEVICE, why_turns(WAKER, KTRX_WAIT_DEVICE, 40, 20000) + 5);
	why_is_overdue(FINDING_POSSIBLE);
	why_says("far longer than ever before");
}

/* The holder's earlier waits are overwritten in the rings. Its row counts how often it was woken before. */
static void a_holder_was_woken(uint32_t times)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *row = why_thread_row(SLEEPER, "reader", KTRX_THREAD_WAITING, 0);

	why_waits(row, KTRX_WAIT_DEVICE, QUEUE, "queue", 1000 * MS);
	why_holds(row, LOCK, 990 * MS);
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1010 * MS);
	row->wakes = times;
}

static void a_holder_that_used_to_come_on_is_overdue_without_events(void **state)
{
	(void)state;
	a_holder_was_woken(100);
	why_others_are_busy();
	why_is_overdue(FINDING_LIKELY);
	why_says("it was woken 100 times in the 1.00 s before this wait");
	why_says("thread 7 (waiter) has waited 10.99 s for lock cache (0x2000)");
}

/* Its earlier waits were about as long. */
static void a_holder_that_seldom_comes_on_is_possibly_late(void **state)
{
	(void)state;
	a_holder_was_woken(KNOWN_WAKES - 1);
	why_is_overdue(FINDING_POSSIBLE);
}

/* Progress of other threads does not show that this wait is normal. */
static void a_busy_machine_with_an_open_wait_is_possibly_well(void **state)
{
	(void)state;
	holds_and_is_waited_for(1000);
	why_others_are_busy();
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	assert_true(why_judge()->open);
	why_says("not certain because of: overdue (possible), see below");
}

/* Only the owner's id is known: it may have ended while it held the lock. */
static void an_owner_without_a_row_may_hold_the_lock(void **state)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1000 * MS);
	waiter->owner = WAKER + 1;
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/* The holder released the lock and holds another one now. */
static void a_lock_that_nobody_holds_is_possibly_overdue(void **state)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1000 * MS);
	waiter->owner = WAKER + 1;
	why_holds(why_waker_lives(), 0x3000, MS);
	why_is_overdue(FINDING_POSSIBLE);
	why_says("thread 7 (waiter) has waited 11.00 s for lock cache (0x2000); the lock is no longer held");
}

/* A kernel that records the owner of a lock when a wait begins, but not when a lock is taken. */
static void an_owner_of_then_is_not_called_the_holder(void **state)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1000 * MS);
	waiter->owner = WAKER + 1;
	why_waker_lives();
	why_is_idle(FINDING_CERTAIN);
	why_says("for lock cache (0x2000); held by thread 6 (waker) when the wait began");
}

/* ---- Deadlines ----------------------------------------------------------------------------------- */

static void until(uint64_t deadline)
{
	struct ktrx_holder *row = why_thread_row(SLEEPER, "timer", KTRX_THREAD_WAITING, 0);

	why_waits(row, KTRX_WAIT_TIME, 0, "", 1000 * MS);
	row->deadline = deadline;
}

static void a_time_that_is_long_over_is_overdue(void **state)
{
	(void)state;
	until(1500 * MS);
	why_is_overdue(FINDING_LIKELY);
	why_says("thread 5 (timer) still sleeps 10.50 s after its deadline");
}

static void a_time_that_is_just_over_is_none(void **state)
{
	(void)state;
	until((END_MS - 900) * MS);
	why_is_idle(FINDING_CERTAIN);
}

/* The kernel's clock runs at half speed because it loses ticks. */
static void a_time_that_a_slow_clock_makes_late_is_none(void **state)
{
	(void)state;
	until(6500 * MS);
	why_is_idle(FINDING_CERTAIN);
}

/* For example a kernel that counts deadlines in microseconds. */
static void a_time_before_the_sleep_is_none(void **state)
{
	(void)state;
	until(2 * MS);
	why_is_idle(FINDING_CERTAIN);
}

/* ---- Certainty of idle --------------------------------------------------------------------------- */

static void a_machine_without_open_waits_is_certainly_idle(void **state)
{
	(void)state;
	why_waker_lives();
	why_is_idle(FINDING_CERTAIN);
}

static void a_wait_as_long_as_earlier_ones_is_not_open(void **state)
{
	(void)state;
	why_turn(WAKER, KTRX_WAIT_EVENT, 100000, 9000000);
	why_sleeps(SLEEPER, "server", KTRX_WAIT_EVENT, 9001);
	why_waker_lives();
	why_is_idle(FINDING_CERTAIN);
	why_says("1 such wait ended before, the longest after 8.90 s");
}

static void a_wait_that_was_never_seen_to_end_is_open(void **state)
{
	(void)state;
	why_sleeps(SLEEPER, "init", KTRX_WAIT_EVENT, 1000);
	why_is_idle(FINDING_LIKELY);
	why_says("thread 5 (init) has waited 11.00 s on queue (0x1000): the trace shows no such wait that "
		 "ended");
}

static void a_wakeup_that_came_too_early_is_named(void **state)
{
	(void)state;
	script_event(NOBODY, 998 * MS, 1, WAKER, V(QUEUE), V(0x77000));
	script_event(OTHER, 999 * MS, 1, IDLE);
	why_sleeps(SLEEPER, "init", KTRX_WAIT_EVENT, 1000);
	why_waker_lives();
	why_is_idle(FINDING_LIKELY);
	why_says("the trace shows no such wait that ended; a wakeup came 2.0");
}

static void events_that_are_switched_off_are_missed(void **state)
{
	(void)state;
	ktread_type_find(script_trace(), "sched", "wake_nobody");
	why_sleeps(SLEEPER, "init", KTRX_WAIT_EVENT, 1000);
	((struct ktread_type *)(uintptr_t)ktread_type_find(script_trace(), "sched", "wake_nobody"))->state =
		0;
	why_is_idle(FINDING_LIKELY);
	why_says("to be more certain: record sched.wake_nobody");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_overdue_begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_device_that_stopped_to_answer_holds_up_others),
		TEST(an_interrupt_that_still_comes_is_not_said_to_stay_away),
		TEST(a_device_of_which_nothing_is_known_is_possibly_late),
		TEST(a_slow_device_is_well),
		TEST(a_holder_that_used_to_come_on_is_overdue_without_events),
		TEST(a_holder_that_seldom_comes_on_is_possibly_late),
		TEST(a_busy_machine_with_an_open_wait_is_possibly_well),
		TEST(a_device_that_always_answered_at_once_is_possibly_late),
		TEST(a_lock_that_nobody_holds_is_possibly_overdue),
		TEST(an_owner_without_a_row_may_hold_the_lock),
		TEST(an_owner_of_then_is_not_called_the_holder),
		TEST(a_time_that_is_long_over_is_overdue),
		TEST(a_time_that_is_just_over_is_none),
		TEST(a_time_that_a_slow_clock_makes_late_is_none),
		TEST(a_time_before_the_sleep_is_none),
		TEST(a_machine_without_open_waits_is_certainly_idle),
		TEST(a_wait_as_long_as_earlier_ones_is_not_open),
		TEST(a_wait_that_was_never_seen_to_end_is_open),
		TEST(a_wakeup_that_came_too_early_is_named),
		TEST(events_that_are_switched_off_are_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
