/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about waits for devices, locks and deadlines: some are overdue, others are normal. Also
 * tests how certain the verdict "idle" is.
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

#define ACQUIRE	    (EXIT + 1)
#define KNOWN_WAKES 8u /* minimum number of earlier wakeups that show how soon a thread is usually woken */

/* ---- Devices and locks --------------------------------------------------------------------------- */

static void holds_and_is_waited_for(uint64_t since_ms)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);

	why_holds(why_sleeps(SLEEPER, "reader", KTRX_WAIT_DEVICE, since_ms), LOCK, since_ms * MS);
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", (since_ms + 1) * MS);
}

static void holder_of_lock_waits_for_silent_device(void **state)
{
	(void)state;
	holds_and_is_waited_for(why_turns(WAKER, KTRX_WAIT_DEVICE, 20, 20000) + 5);
	why_is_overdue(FINDING_LIKELY);
	why_says("thread 5 (reader) has waited 11.49 s for device queue (0x1000), and holds lock cache");
	why_says("20 such waits ended before, the longest after 18.0 ms");
	why_says("thread 7 (waiter) has waited 11.49 s for lock cache (0x2000)");
}

/*
 * The interrupt that woke the holder before still occurs. It may be a timer interrupt that also wakes other
 * threads.
 */
static void interrupt_that_still_comes_is_named(void **state)
{
	uint64_t last = why_turns(0, KTRX_WAIT_DEVICE, 20, 20000);

	(void)state;
	why_irq_goes_on(last + 50);
	holds_and_is_waited_for(last + 5);
	why_is_overdue(FINDING_LIKELY);
	why_says("interrupt 33 on CPU 1, which still comes");
}

/* This is the first wait for the device, so it may be normal that the wait takes this long. */
static void device_without_earlier_waits_is_possibly_overdue(void **state)
{
	(void)state;
	holds_and_is_waited_for(1000);
	why_is_overdue(FINDING_POSSIBLE);
}

static void slow_device_is_healthy(void **state)
{
	(void)state;
	holds_and_is_waited_for(why_turns(WAKER, KTRX_WAIT_DEVICE, 10, 900000) + 5);
	why_is_idle(FINDING_LIKELY);
}

static void fast_device_that_stops_is_possibly_overdue(void **state)
{
	(void)state;
	why_sleeps(SLEEPER, "reader", KTRX_WAIT_DEVICE, why_turns(WAKER, KTRX_WAIT_DEVICE, 40, 20000) + 5);
	why_is_overdue(FINDING_POSSIBLE);
	why_says("far longer than ever before");
}

/* The rings have overwritten the holder's earlier waits. Its table row counts how often it was woken. */
static void a_holder_was_woken(uint32_t times)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *row = why_thread_row(SLEEPER, "reader", KTRX_THREAD_WAITING, 0);

	why_waits(row, KTRX_WAIT_DEVICE, QUEUE, "queue", 1000 * MS);
	why_holds(row, LOCK, 990 * MS);
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1010 * MS);
	row->wakes = times;
}

static void holder_with_earlier_wakeups_in_row_is_overdue(void **state)
{
	(void)state;
	a_holder_was_woken(100);
	why_others_are_busy();
	why_is_overdue(FINDING_LIKELY);
	why_says("it was woken 100 times in the 1.00 s before this wait");
	why_says("thread 7 (waiter) has waited 10.99 s for lock cache (0x2000)");
}

/* The holder was woken too few times, so its usual time between wakeups is unknown. */
static void holder_with_rare_wakeups_is_possibly_overdue(void **state)
{
	(void)state;
	a_holder_was_woken(KNOWN_WAKES - 1);
	why_is_overdue(FINDING_POSSIBLE);
}

/* Other threads make progress, but this does not show that the holder's long wait is normal. */
static void busy_is_only_possible_with_overdue_wait(void **state)
{
	(void)state;
	holds_and_is_waited_for(1000);
	why_others_are_busy();
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	assert_true(why_judge()->open);
	why_says("not certain because of: overdue (possible), see below");
}

/*
 * A thread runs on CPU 1 and waits for a lock, whose holder sleeps. Timer ticks interrupt it at addresses
 * that are `step` bytes apart.
 */
static void waiter_runs(uint64_t step)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_RUNNING, 1);
	struct ktrx_cpu *cpu = script_cpu(1);

	why_holds(why_sleeps(SLEEPER, "remount", KTRX_WAIT_EVENT, 1000), LOCK, 990 * MS);
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "index", 1010 * MS);
	waiter->state_stamp = (END_MS - 1500) * MS;
	script_event(OTHER, (END_MS - 1500) * MS, 1, WAITER);
	cpu->mode = KTRX_MODE_KERNEL;
	cpu->thread = WAITER;
	cpu->heartbeats = 1000;
	cpu->heartbeat_stamp = (END_MS - 5) * MS;
	for (uint64_t n = 0; n < KTRX_SAMPLES; n++)
		cpu->sample[n] = 0x100000 + n * step;
}

/*
 * The lock is a spinlock: the waiter does not sleep or yield. So its holder must not sleep for long, even if
 * it waits for a device.
 */
static void holder_sleeps_while_waiter_spins_is_overdue(void **state)
{
	(void)state;
	waiter_runs(1);
	assert_int_equal(why_judge()->verdict, WHY_OVERDUE);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says(
		"thread 5 (remount) has waited 11.00 s on queue (0x1000), and holds lock index (0x2000), for "
		"which 1 other thread waits");
	why_says("thread 7 (waiter) has spun 10.99 s for lock index (0x2000)");
}

/* The waiter calls the scheduler and tries again, so timer ticks interrupt it at many addresses. */
static void holder_sleeps_while_waiter_yields_is_possibly_overdue(void **state)
{
	(void)state;
	waiter_runs(400);
	assert_int_equal(why_count(WHY_OVERDUE), 1);
	assert_int_not_equal(why_judge()->verdict, WHY_OVERDUE);
}

/*
 * The owner of the lock has no table row, so only its id is known. It may have ended while it held the lock.
 */
static void owner_without_row_may_hold_lock(void **state)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1000 * MS);
	waiter->owner = WAKER + 1;
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/* The holder released the lock and holds another lock now. */
static void wait_for_free_lock_is_possibly_overdue(void **state)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1000 * MS);
	waiter->owner = WAKER + 1;
	why_holds(why_waker_lives(), 0x3000, MS);
	why_is_overdue(FINDING_POSSIBLE);
	why_says("thread 7 (waiter) has waited 11.00 s for lock cache (0x2000); the lock is no longer held");
}

/*
 * A thread waits from 1000 ms on for a lock. The waker took the lock at `taken`, and the thread `releaser`
 * released it 200 ms later. No row of the table shows that a lock is held now.
 */
static void waits_for_released_lock(uint64_t taken, uint32_t releaser)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);

	script_type(ACQUIRE, "lock", "acquire", "u64 lock");
	script_type(ACQUIRE + 1, "lock", "release", "u64 lock");
	script_event(ACQUIRE, taken, 1, WAKER, V(LOCK));
	script_event(ACQUIRE + 1, taken + 200 * MS, 1, releaser, V(LOCK));
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1000 * MS);
	waiter->owner = WAKER + 1;
	why_waker_lives();
}

/* Events show that the holder released the lock, and did not wake the waiter. */
static void events_show_that_lock_is_free(void **state)
{
	(void)state;
	waits_for_released_lock(900 * MS, WAKER);
	script_event(OTHER, 1100 * MS + 100, 1, IDLE);
	why_is_overdue(FINDING_POSSIBLE);
	why_says("for lock cache (0x2000); held by thread 6 (waker) when the wait began; "
		 "the lock is no longer held");
}

/* Another thread has taken the lock since. */
static void lock_that_another_thread_took_is_not_free(void **state)
{
	(void)state;
	waits_for_released_lock(900 * MS, WAKER);
	script_event(ACQUIRE, 1200 * MS, 1, OTHER_ONE, V(LOCK));
	script_event(OTHER, 1200 * MS + 100, 1, IDLE);
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/*
 * A thread that did not take the lock, according to the trace, releases it. An acquire may be missing, so
 * the lock may still be held.
 */
static void lock_that_another_thread_released_may_be_held(void **state)
{
	(void)state;
	waits_for_released_lock(900 * MS, OTHER_ONE);
	script_event(OTHER, 1100 * MS + 100, 1, IDLE);
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/* Before the wait began, events were lost. One of them may show that another thread took the lock. */
static void lock_before_a_gap_may_be_held(void **state)
{
	(void)state;
	waits_for_released_lock(500 * MS, WAKER);
	script_event(OTHER, 800 * MS, 1, IDLE)->lost = 1;
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/* Another thread took the lock before an event was switched on or off. */
static void lock_before_a_switched_event_may_be_held(void **state)
{
	(void)state;
	script_type(ACQUIRE + 2, "ktrace", "switched", "u16 first,u16 last,u8 state");
	waits_for_released_lock(500 * MS, WAKER);
	script_event(ACQUIRE, 750 * MS, 1, OTHER_ONE, V(LOCK));
	script_event(ACQUIRE + 2, 800 * MS, 1, IDLE, V(OTHER), V(OTHER), V(0));
	script_event(OTHER, 1100 * MS + 100, 1, IDLE);
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/*
 * A kernel records the owner of a lock when a wait begins, but does not record when a lock is taken. The
 * owner may have released the lock without a wakeup.
 */
static void owner_at_begin_of_wait_is_not_called_holder(void **state)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1000 * MS);
	waiter->owner = WAKER + 1;
	why_waker_lives();
	why_is_idle(FINDING_LIKELY);
	why_says("for lock cache (0x2000); held by thread 6 (waker) when the wait began");
}

/*
 * The holder released the lock, and took it again before the waiter ran. It has held the lock since
 * `taken_ms`, and sleeps with timeouts.
 */
static void lock_is_taken_before_the_waiter(uint64_t taken_ms)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *holder = why_thread_row(SLEEPER, "poller", KTRX_THREAD_WAITING, 0);

	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1000 * MS);
	why_holds(holder, LOCK, taken_ms * MS);
	why_waits(holder, KTRX_WAIT_TIME, 0, "", (END_MS - 10) * MS);
	holder->state_stamp = (END_MS - 10) * MS;
	holder->deadline = (END_MS + 10) * MS;
	why_waker_lives();
}

static void lock_that_the_holder_took_again_is_kept(void **state)
{
	(void)state;
	lock_is_taken_before_the_waiter(1001);
	why_is_overdue(FINDING_POSSIBLE);
	why_says("held by thread 5 (poller), which sleeps with timeouts and keeps the lock");
}

static void lock_that_changes_hands_is_not_kept(void **state)
{
	(void)state;
	lock_is_taken_before_the_waiter(5000);
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/* ---- Sleeps with a deadline ---------------------------------------------------------------------- */

static struct ktrx_holder *until(uint64_t deadline)
{
	struct ktrx_holder *row = why_thread_row(SLEEPER, "timer", KTRX_THREAD_WAITING, 0);

	why_waits(row, KTRX_WAIT_TIME, 0, "", 1000 * MS);
	row->deadline = deadline;
	return row;
}

static void sleep_long_after_deadline_is_overdue(void **state)
{
	(void)state;
	until(1500 * MS);
	why_is_overdue(FINDING_LIKELY);
	why_says("thread 5 (timer) still sleeps 10.50 s after its deadline");
}

/* The CPU of the thread has no timer of its own: CPU 0 counts the ticks for all CPUs. */
static void ticks_of_another_cpu_end_sleeps(void **state)
{
	(void)state;
	until(1500 * MS)->cpu = 1;
	script_cpu(1)->heartbeats = 0;
	script_cpu(1)->heartbeat_stamp = 0;
	why_is_overdue(FINDING_LIKELY);
	why_says("CPU 1, where it last ran, never had a tick, but CPU 0 still has ticks");
}

static void sleep_just_after_deadline_is_healthy(void **state)
{
	(void)state;
	until((END_MS - 900) * MS);
	why_is_idle(FINDING_CERTAIN);
}

/* The kernel's clock may run at half its speed because timer ticks were lost, or the wakeup was lost. */
static void sleep_that_may_be_late_by_a_slow_clock_makes_idle_likely(void **state)
{
	(void)state;
	until(6500 * MS);
	why_is_idle(FINDING_LIKELY);
}

/*
 * The deadline is before the beginning of the sleep, for example because the kernel counts deadlines in
 * microseconds.
 */
static void deadline_before_sleep_is_ignored(void **state)
{
	(void)state;
	until(2 * MS);
	why_is_idle(FINDING_CERTAIN);
}

/* ---- Certainty of the verdict "idle" ------------------------------------------------------------- */

static void idle_is_certain_without_untimed_waits(void **state)
{
	(void)state;
	why_waker_lives();
	why_is_idle(FINDING_CERTAIN);
}

static void wait_as_long_as_earlier_ones_is_normal(void **state)
{
	(void)state;
	why_turn(WAKER, KTRX_WAIT_EVENT, 100000, 9000000);
	why_sleeps(SLEEPER, "server", KTRX_WAIT_EVENT, 9001);
	why_waker_lives();
	why_is_idle(FINDING_CERTAIN);
	why_says("1 such wait ended before, the longest after 8.90 s");
}

/* The trace shows no thread that could wake the sleeper now. */
static void wait_whose_wakers_have_ended_makes_idle_likely(void **state)
{
	(void)state;
	why_turn(WAKER, KTRX_WAIT_EVENT, 100000, 9000000);
	why_sleeps(SLEEPER, "server", KTRX_WAIT_EVENT, 9001);
	why_is_idle(FINDING_LIKELY);
	why_says("1 such wait ended before, the longest after 8.90 s");
}

static void wait_never_seen_to_end_makes_idle_likely(void **state)
{
	(void)state;
	why_sleeps(SLEEPER, "init", KTRX_WAIT_EVENT, 1000);
	why_is_idle(FINDING_LIKELY);
	why_says("thread 5 (init) has waited 11.00 s on queue (0x1000): "
		 "no such wait has ended in this trace");
}

static void early_wakeup_is_named(void **state)
{
	(void)state;
	script_event(NOBODY, 998 * MS, 1, WAKER, V(QUEUE), V(0x77000));
	script_event(OTHER, 999 * MS, 1, IDLE);
	why_sleeps(SLEEPER, "init", KTRX_WAIT_EVENT, 1000);
	why_waker_lives();
	why_is_idle(FINDING_LIKELY);
	why_says("no such wait has ended in this trace; a wakeup came 2.0");
}

/* The trace lacks no event: the other wakeups ended timed sleeps, or came when the thread was created. */
static void other_wakeups_end_no_such_wait(void **state)
{
	for (unsigned lost = 0; lost < 2; lost++) {
		why_teardown(state);
		why_overdue_begin(state);
		why_sleeps(SLEEPER, "driver", KTRX_WAIT_EVENT, 1000)->wakes = 2;
		script_ring(0)->overwritten = lost ? 1000 : 0;
		why_is_idle(FINDING_LIKELY);
		why_says(lost ? "the thread was woken 2 times before, but the trace does not show from which"
			      : "no such wait has ended in this trace");
	}
}

static void advice_asks_for_switched_off_event(void **state)
{
	(void)state;
	ktread_type_find(script_trace(), "sched", "wake_nobody");
	why_sleeps(SLEEPER, "init", KTRX_WAIT_EVENT, 1000);
	((struct ktread_type *)(uintptr_t)ktread_type_find(script_trace(), "sched", "wake_nobody"))->state =
		0;
	why_is_idle(FINDING_LIKELY);
	why_says("to be more certain: record sched.wake_nobody");
}

/*
 * The ring of CPU 1 still contains an early wakeup. The newest wakeups were on CPU 0, whose ring lost them,
 * but the thread's row has counted them. So the early wakeup is not the last one.
 */
static void wakeup_before_lost_ones_is_not_called_the_last(void **state)
{
	struct ktrx_holder *row = why_sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, 1500);

	(void)state;
	row->habit_object = QUEUE;
	row->habit_wakes = 60;
	row->habit_alike = 58;
	row->habit_last = 1499 * MS;
	row->habit_first = 400 * MS;
	row->habit_longest = 40 * MS;
	row->habit_usual = 19 * MS;
	row->habit_waker = WAKER + 1;
	why_waker_lives();
	script_event(BLOCK, 200 * MS, 1, IDLE, V(QUEUE), V(SLEEPER), V(KTRX_WAIT_EVENT));
	script_event(WAKE, 210 * MS, 1, WAKER, V(SLEEPER));
	script_event(OTHER, 6000 * MS, 0, IDLE)->lost = 1000;
	assert_int_equal(why_count(WHY_OVERDUE), 1);
	why_says("60 such waits in a row ended, at most 40.0 ms apart; thread 6 (waker) ended the last one "
		 "10.50 s ago");
	assert_null(strstr(why_text(), "woke it 1 time, the last time 11.79 s ago"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_overdue_begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wakeup_before_lost_ones_is_not_called_the_last),
		TEST(holder_of_lock_waits_for_silent_device),
		TEST(interrupt_that_still_comes_is_named),
		TEST(device_without_earlier_waits_is_possibly_overdue),
		TEST(slow_device_is_healthy),
		TEST(holder_with_earlier_wakeups_in_row_is_overdue),
		TEST(holder_with_rare_wakeups_is_possibly_overdue),
		TEST(busy_is_only_possible_with_overdue_wait),
		TEST(holder_sleeps_while_waiter_spins_is_overdue),
		TEST(holder_sleeps_while_waiter_yields_is_possibly_overdue),
		TEST(fast_device_that_stops_is_possibly_overdue),
		TEST(wait_for_free_lock_is_possibly_overdue),
		TEST(owner_without_row_may_hold_lock),
		TEST(events_show_that_lock_is_free),
		TEST(lock_that_another_thread_took_is_not_free),
		TEST(lock_that_another_thread_released_may_be_held),
		TEST(lock_before_a_gap_may_be_held),
		TEST(lock_before_a_switched_event_may_be_held),
		TEST(owner_at_begin_of_wait_is_not_called_holder),
		TEST(lock_that_the_holder_took_again_is_kept),
		TEST(lock_that_changes_hands_is_not_kept),
		TEST(sleep_long_after_deadline_is_overdue),
		TEST(ticks_of_another_cpu_end_sleeps),
		TEST(sleep_just_after_deadline_is_healthy),
		TEST(sleep_that_may_be_late_by_a_slow_clock_makes_idle_likely),
		TEST(deadline_before_sleep_is_ignored),
		TEST(idle_is_certain_without_untimed_waits),
		TEST(wait_as_long_as_earlier_ones_is_normal),
		TEST(wait_whose_wakers_have_ended_makes_idle_likely),
		TEST(wait_never_seen_to_end_makes_idle_likely),
		TEST(early_wakeup_is_named),
		TEST(other_wakeups_end_no_such_wait),
		TEST(advice_asks_for_switched_off_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
