/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Waits that last too long, and the many that last as long as they like: input, requests, packets, slow devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE	    1u
#define SLEEPER	    5u
#define WAKER	    6u
#define WAITER	    7u
#define OTHER_ONE   8u
#define KNOWN_WAKES 8u /* so many tell how soon a thread comes on */
#define QUEUE	    0x1000u
#define LOCK	    0x2000u
#define IRQ	    33u
#define END_MS	    12000u

enum { OTHER = 1, BLOCK, WAKE, NOBODY, ENTER, EXIT };

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread,u8 kind");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(NOBODY, "sched", "wake_nobody", "u64 queue,u64 ip");
	script_type(ENTER, "irq", "enter", "u32 irq");
	script_type(EXIT, "irq", "exit", "u32 irq");
	script_thread(IDLE, "idle");
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		why_cpu_row(cpu, KTRX_MODE_IDLE);
		script_cpu(cpu)->heartbeats = 1000;
		script_cpu(cpu)->heartbeat_stamp = END_MS * MS;
		script_cpu(cpu)->now = END_MS * MS;
		script_cpu(cpu)->thread = IDLE;
		script_event(OTHER, MS, cpu, IDLE);
		script_event(OTHER, END_MS * MS, cpu, IDLE);
	}
	return error;
}

static struct ktrx_holder *sleeps(uint32_t thread, const char *name, uint8_t kind, uint64_t since_ms)
{
	struct ktrx_holder *row = why_thread_row(thread, name, KTRX_THREAD_WAITING, 0);

	why_waits(row, kind, QUEUE, "queue", since_ms * MS);
	script_event(BLOCK, since_ms * MS, 0, IDLE, V(QUEUE), V(thread), V(kind));
	return row;
}

/* The sleeper sleeps at one time and is woken at another, by a thread or, for thread 0, by an interrupt on CPU 1. */
static void turn(uint32_t waker, uint8_t kind, uint64_t from_us, uint64_t to_us)
{
	script_event(BLOCK, from_us * 1000, 0, IDLE, V(QUEUE), V(SLEEPER), V(kind));
	if (waker) {
		script_event(WAKE, to_us * 1000, 1, waker, V(SLEEPER));
		script_event(OTHER, to_us * 1000 + 100, 1, IDLE);
		return;
	}
	script_event(ENTER, to_us * 1000 - 200, 1, IDLE, V(IRQ))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(WAKE, to_us * 1000, 1, IDLE, V(SLEEPER))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(EXIT, to_us * 1000 + 200, 1, IDLE, V(IRQ))->context = KTRX_CONTEXT_INTERRUPT;
}

/* `count` turns, a wakeup each `every_us`, from 100 ms on. When the last one came, in ms. */
static uint64_t turns(uint32_t waker, uint8_t kind, uint32_t count, uint64_t every_us)
{
	for (uint32_t n = 1; n <= count; n++)
		turn(waker, kind, 100000 + (n - 1) * every_us + every_us / 10, 100000 + n * every_us);
	return 100 + count * every_us / 1000;
}

static void irq_goes_on(uint64_t from_ms)
{
	for (uint64_t ms = from_ms; ms < END_MS; ms += 50) {
		script_event(ENTER, ms * MS, 1, IDLE, V(IRQ))->context = KTRX_CONTEXT_INTERRUPT;
		script_event(EXIT, ms * MS + 200, 1, IDLE, V(IRQ))->context = KTRX_CONTEXT_INTERRUPT;
	}
}

static struct ktrx_holder *waker_lives(void)
{
	struct ktrx_holder *row = why_thread_row(WAKER, "waker", KTRX_THREAD_WAITING, 1);

	why_waits(row, KTRX_WAIT_TIME, 0, "", (END_MS - 5) * MS);
	row->deadline = (END_MS + 5) * MS;
	script_event(OTHER, (END_MS - 6) * MS, 1, WAKER);
	script_event(OTHER, (END_MS - 6) * MS + 100, 1, IDLE);
	return row;
}

static void is_overdue(enum finding_certainty certain)
{
	assert_int_equal(why_count(WHY_OVERDUE), 1);
	if (certain == FINDING_POSSIBLE) {
		assert_int_equal(why_judge()->verdict, WHY_IDLE);
		assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
		why_says("open: overdue (possible), see below");
	} else {
		assert_int_equal(why_judge()->verdict, WHY_OVERDUE);
		assert_int_equal(why_judge()->base.certain, certain);
	}
}

static void is_idle(enum finding_certainty certain)
{
	assert_int_equal(why_count(WHY_OVERDUE), 0);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, certain);
}

/* ---- Like clockwork ------------------------------------------------------------------------------ */

static void a_clockwork_whose_interrupt_still_comes_is_likely_overdue(void **state)
{
	const uint64_t last = turns(0, KTRX_WAIT_EVENT, 40, 50000);

	(void)state;
	irq_goes_on(last + 50);
	waker_lives();
	sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, last + 5);
	is_overdue(FINDING_LIKELY);
	why_says("thread 5 (sampler) has waited 9.89 s on queue (0x1000); its wakeups came every 50.0 ms");
	why_says("interrupts woke it 40 times, the last time 9.90 s ago: interrupt 33 on CPU 1, which still "
		 "comes");
}

/* It may sleep for a minute now: its kernel says "event" of every sleep. */
static void without_times_an_event_may_be_a_time(void **state)
{
	const uint64_t last = turns(0, KTRX_WAIT_EVENT, 40, 50000);

	(void)state;
	irq_goes_on(last + 50);
	sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, last + 5);
	is_overdue(FINDING_POSSIBLE);
	why_says("ktrace_block() has recorded none");
	why_says("threads that wait, as far as is known, without a timeout:");
}

static void a_clockwork_whose_interrupt_stays_away_is_possibly_overdue(void **state)
{
	(void)state;
	sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, turns(0, KTRX_WAIT_EVENT, 40, 50000) + 5);
	is_overdue(FINDING_POSSIBLE);
	why_says("which has not come lately");
}

static void a_clockwork_whose_waker_lives_is_possibly_overdue(void **state)
{
	(void)state;
	sleeps(SLEEPER, "consumer", KTRX_WAIT_EVENT, turns(WAKER, KTRX_WAIT_EVENT, 40, 50000) + 5);
	waker_lives();
	is_overdue(FINDING_POSSIBLE);
	why_says("thread 6 (waker) woke it 40 times");
}

static void a_clockwork_whose_waker_has_ended_is_over(void **state)
{
	(void)state;
	sleeps(SLEEPER, "consumer", KTRX_WAIT_EVENT, turns(WAKER, KTRX_WAIT_EVENT, 40, 50000) + 5);
	is_idle(FINDING_LIKELY);
	why_says("thread 5 (consumer) has waited 9.89 s on queue (0x1000): 40 such waits ended before, the "
		 "longest "
		 "after 45.0 ms");
}

static void a_clockwork_that_still_runs_is_well(void **state)
{
	(void)state;
	sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, turns(0, KTRX_WAIT_EVENT, 238, 50000) + 5);
	is_idle(FINDING_CERTAIN);
}

/* Bursts of wakeups with pauses, as of somebody who types. */
static void what_comes_in_bursts_may_stay_away(void **state)
{
	uint64_t us = 100000;

	(void)state;
	for (uint32_t n = 0; n < 60; n++) {
		const uint64_t step = n % 12 == 0 ? 700000 : 20000 + 9000 * (n % 7) * (n % 5);

		turn(0, KTRX_WAIT_EVENT, us + 100, us + step);
		us += step;
	}
	assert_true(us / 1000 < END_MS - 4000);
	irq_goes_on(us / 1000 + 50);
	sleeps(SLEEPER, "shell", KTRX_WAIT_EVENT, us / 1000 + 1);
	is_idle(FINDING_LIKELY);
}

/* A flow of packets or bytes, even and dense, that is over. */
static void a_flow_that_is_over_is_well(void **state)
{
	(void)state;
	sleeps(SLEEPER, "network", KTRX_WAIT_EVENT, turns(0, KTRX_WAIT_EVENT, 1500, 1000) + 5);
	is_idle(FINDING_LIKELY);
}

static void a_few_wakeups_make_no_clockwork(void **state)
{
	(void)state;
	sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, turns(0, KTRX_WAIT_EVENT, 15, 50000) + 5);
	is_idle(FINDING_LIKELY);
}

/* Nothing came from the machine any more: whether it went on then nobody has seen. */
static void a_machine_that_stood_is_not_overdue(void **state)
{
	const uint64_t last = turns(0, KTRX_WAIT_EVENT, 236, 50000);

	(void)state;
	script_info()->note = "silent: 20.0 s or more\n";
	sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, last + 5);
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/* Another thread has enough to do on CPU 1: the machine is not idle. */
static void others_are_busy(void)
{
	why_thread_row(OTHER_ONE, "cruncher", KTRX_THREAD_RUNNING, 1)->state_stamp = (END_MS - 1500) * MS;
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_cpu(1)->thread = OTHER_ONE;
	for (uint64_t ms = END_MS - 1500; ms <= END_MS; ms += 100)
		script_event(OTHER, ms * MS + 100, 1, OTHER_ONE);
}

/* ---- By the rows, where rings hold nothing of it ------------------------------------------------- */

/* It waits since 5 s after the boot, and was woken `wakes` times before, every 50 ms, at most `longest_ms` apart. */
static struct ktrx_holder *had_habit(uint32_t wakes, uint32_t alike, uint64_t longest_ms, uint32_t waker)
{
	struct ktrx_holder *row = why_thread_row(SLEEPER, "sampler", KTRX_THREAD_WAITING, 0);

	why_waits(row, KTRX_WAIT_EVENT, QUEUE, "queue", 5000 * MS);
	row->habit_object = QUEUE;
	row->habit_wakes = wakes;
	row->habit_alike = alike;
	row->habit_last = 4999 * MS;
	row->habit_first = row->habit_last - (wakes - 1) * 50 * MS;
	row->habit_longest = longest_ms * MS;
	row->habit_usual = 50 * MS;
	row->habit_waker = waker ? waker + 1 : 0;
	return row;
}

static void a_row_shows_that_a_clockwork_has_stopped(void **state)
{
	(void)state;
	had_habit(60, 58, 90, WAKER);
	waker_lives();
	is_overdue(FINDING_POSSIBLE);
	why_says("thread 5 (sampler) has waited 7.00 s on queue (0x1000); its wakeups came every 50.0 ms");
	why_says("60 such waits in a row were ended, at most 90.0 ms one after the other; the last 7.00 s "
		 "ago, by "
		 "thread 6 (waker)");
}

static void a_busy_machine_does_not_hide_it(void **state)
{
	(void)state;
	had_habit(60, 58, 90, WAKER);
	waker_lives();
	others_are_busy();
	assert_int_equal(why_count(WHY_OVERDUE), 1);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_true(why_judge()->open);
}

/* On a loaded machine the times between are uneven; its waker is still there. */
static void uneven_wakeups_by_a_thread_are_missed_later(void **state)
{
	(void)state;
	had_habit(60, 20, 200, WAKER);
	waker_lives();
	is_idle(FINDING_LIKELY);
}

static void uneven_wakeups_by_a_thread_are_missed_at_last(void **state)
{
	struct ktrx_holder *row = had_habit(60, 20, 300, WAKER);

	(void)state;
	waker_lives();
	why_waits(row, KTRX_WAIT_EVENT, QUEUE, "queue", 1800 * MS);
	row->habit_last = 1799 * MS;
	row->habit_first = 300 * MS;
	is_overdue(FINDING_POSSIBLE);
}

/* Uneven wakeups, as a keyboard causes them. */
static void uneven_wakeups_by_interrupts_may_stay_away(void **state)
{
	(void)state;
	had_habit(60, 20, 100, 0);
	waker_lives();
	is_idle(FINDING_LIKELY);
}

static void a_waker_that_rests_has_nothing_more_to_say(void **state)
{
	struct ktrx_holder *waker = why_thread_row(WAKER, "producer", KTRX_THREAD_WAITING, 0);

	(void)state;
	had_habit(60, 58, 90, WAKER);
	why_waits(waker, KTRX_WAIT_EVENT, 0x3000, "more", 5000 * MS);
	is_idle(FINDING_LIKELY);
}

static void a_row_of_waits_for_something_else_shows_nothing(void **state)
{
	(void)state;
	had_habit(60, 58, 90, WAKER)->habit_object = 0x3000;
	waker_lives();
	is_idle(FINDING_LIKELY);
}

/* Another thread of the same pool is woken. */
static void a_thread_whose_turn_it_is_not_is_well(void **state)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "worker", KTRX_THREAD_WAITING, 0);

	(void)state;
	had_habit(60, 58, 90, WAKER);
	why_waits(waiter, KTRX_WAIT_EVENT, QUEUE, "queue", (END_MS - 40) * MS);
	waiter->habit_object = QUEUE;
	waiter->habit_wakes = 200;
	waiter->habit_last = (END_MS - 41) * MS;
	waker_lives();
	is_idle(FINDING_LIKELY);
}

/* ---- Devices and locks --------------------------------------------------------------------------- */

static void holds_and_is_waited_for(uint64_t since_ms)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);

	why_holds(sleeps(SLEEPER, "reader", KTRX_WAIT_DEVICE, since_ms), LOCK, since_ms * MS);
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", (since_ms + 1) * MS);
}

static void a_device_that_stopped_to_answer_holds_up_others(void **state)
{
	(void)state;
	holds_and_is_waited_for(turns(WAKER, KTRX_WAIT_DEVICE, 20, 20000) + 5);
	is_overdue(FINDING_LIKELY);
	why_says("thread 5 (reader) has waited 11.49 s for device queue (0x1000), and holds lock cache");
	why_says("20 such waits ended before, the longest after 18.0 ms");
	why_says("thread 7 (waiter) has waited 11.49 s for lock cache (0x2000)");
}

/* A timer's interrupt, say, that wakes others as well. */
static void an_interrupt_that_still_comes_is_not_said_to_stay_away(void **state)
{
	uint64_t last = turns(0, KTRX_WAIT_DEVICE, 20, 20000);

	(void)state;
	irq_goes_on(last + 50);
	holds_and_is_waited_for(last + 5);
	is_overdue(FINDING_LIKELY);
	why_says("interrupt 33 on CPU 1, which still comes");
}

/* The same to begin with, with no wait before it: that may be how long it takes. */
static void a_device_of_which_nothing_is_known_is_possibly_late(void **state)
{
	(void)state;
	holds_and_is_waited_for(1000);
	is_overdue(FINDING_POSSIBLE);
}

static void a_slow_device_is_well(void **state)
{
	(void)state;
	holds_and_is_waited_for(turns(WAKER, KTRX_WAIT_DEVICE, 10, 900000) + 5);
	is_idle(FINDING_LIKELY);
}

static void a_device_that_always_answered_at_once_is_possibly_late(void **state)
{
	(void)state;
	sleeps(SLEEPER, "reader", KTRX_WAIT_DEVICE, turns(WAKER, KTRX_WAIT_DEVICE, 40, 20000) + 5);
	is_overdue(FINDING_POSSIBLE);
	why_says("far longer than ever before");
}

/* What rings held of the holder's waits is overwritten; its row counts how often it was woken before this one. */
static void a_holder_that_used_to_come_on_is_overdue_without_events(void **state)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *row = why_thread_row(SLEEPER, "reader", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_waits(row, KTRX_WAIT_DEVICE, QUEUE, "queue", 1000 * MS);
	why_holds(row, LOCK, 990 * MS);
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1010 * MS);
	row->wakes = 100;
	others_are_busy();
	is_overdue(FINDING_LIKELY);
	why_says("it was woken 100 times in the 1.00 s before that");
	why_says("thread 7 (waiter) has waited 10.99 s for lock cache (0x2000)");
}

/* It waits for as long as that between any two of them. */
static void a_holder_that_seldom_comes_on_is_possibly_late(void **state)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *row = why_thread_row(SLEEPER, "reader", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_waits(row, KTRX_WAIT_DEVICE, QUEUE, "queue", 1000 * MS);
	why_holds(row, LOCK, 990 * MS);
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1010 * MS);
	row->wakes = KNOWN_WAKES - 1;
	is_overdue(FINDING_POSSIBLE);
}

/* That others get on does not show that this one rests rightly. */
static void a_busy_machine_with_an_open_wait_is_possibly_well(void **state)
{
	(void)state;
	holds_and_is_waited_for(1000);
	others_are_busy();
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	assert_true(why_judge()->open);
	why_says("open: overdue (possible), see below");
}

/* Its holder gave the lock up and holds another one now. */
static void a_lock_that_nobody_holds_is_possibly_overdue(void **state)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1000 * MS);
	waiter->owner = WAKER + 1;
	why_holds(waker_lives(), 0x3000, MS);
	is_overdue(FINDING_POSSIBLE);
	why_says("thread 7 (waiter) has waited 11.00 s for lock cache (0x2000), which is not held any more");
}

/* A kernel that tells who had a lock when a wait began, but never when one is taken. */
static void an_owner_of_then_is_not_called_the_holder(void **state)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_waits(waiter, KTRX_WAIT_LOCK, LOCK, "cache", 1000 * MS);
	waiter->owner = WAKER + 1;
	waker_lives();
	is_idle(FINDING_CERTAIN);
	why_says("for lock cache (0x2000), which thread 6 (waker) held when that began");
}

/* ---- Until a time -------------------------------------------------------------------------------- */

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
	is_overdue(FINDING_LIKELY);
	why_says("thread 5 (timer) sleeps until a time that was over 10.50 s ago");
}

static void a_time_that_is_just_over_is_none(void **state)
{
	(void)state;
	until((END_MS - 900) * MS);
	is_idle(FINDING_CERTAIN);
}

/* The kernel's clock runs at half the speed: it loses ticks. */
static void a_time_that_a_slow_clock_makes_late_is_none(void **state)
{
	(void)state;
	until(6500 * MS);
	is_idle(FINDING_CERTAIN);
}

/* As of a kernel that counts in microseconds. */
static void a_time_before_the_sleep_is_none(void **state)
{
	(void)state;
	until(2 * MS);
	is_idle(FINDING_CERTAIN);
}

/* ---- What is certain ----------------------------------------------------------------------------- */

static void a_machine_without_open_waits_is_certainly_idle(void **state)
{
	(void)state;
	waker_lives();
	is_idle(FINDING_CERTAIN);
}

static void a_wait_as_long_as_earlier_ones_is_not_open(void **state)
{
	(void)state;
	turn(WAKER, KTRX_WAIT_EVENT, 100000, 9000000);
	sleeps(SLEEPER, "server", KTRX_WAIT_EVENT, 9001);
	waker_lives();
	is_idle(FINDING_CERTAIN);
	why_says("1 such wait ended before, the longest after 8.90 s");
}

static void a_wait_that_was_never_seen_to_end_is_open(void **state)
{
	(void)state;
	sleeps(SLEEPER, "init", KTRX_WAIT_EVENT, 1000);
	is_idle(FINDING_LIKELY);
	why_says("thread 5 (init) has waited 11.00 s on queue (0x1000): the trace shows no such wait that "
		 "ended");
}

static void a_wakeup_that_came_too_early_is_named(void **state)
{
	(void)state;
	script_event(NOBODY, 998 * MS, 1, WAKER, V(QUEUE), V(0x77000));
	script_event(OTHER, 999 * MS, 1, IDLE);
	sleeps(SLEEPER, "init", KTRX_WAIT_EVENT, 1000);
	waker_lives();
	is_idle(FINDING_LIKELY);
	why_says("the trace shows no such wait that ended; a wakeup came 2.0");
}

static void events_that_are_switched_off_are_missed(void **state)
{
	(void)state;
	ktread_type_find(script_trace(), "sched", "wake_nobody");
	sleeps(SLEEPER, "init", KTRX_WAIT_EVENT, 1000);
	((struct ktread_type *)(uintptr_t)ktread_type_find(script_trace(), "sched", "wake_nobody"))->state =
		0;
	is_idle(FINDING_LIKELY);
	why_says("to be surer: the event sched.wake_nobody");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_clockwork_whose_interrupt_still_comes_is_likely_overdue),
		TEST(without_times_an_event_may_be_a_time),
		TEST(a_clockwork_whose_interrupt_stays_away_is_possibly_overdue),
		TEST(a_clockwork_whose_waker_lives_is_possibly_overdue),
		TEST(a_clockwork_whose_waker_has_ended_is_over),
		TEST(a_clockwork_that_still_runs_is_well),
		TEST(what_comes_in_bursts_may_stay_away),
		TEST(a_flow_that_is_over_is_well),
		TEST(a_few_wakeups_make_no_clockwork),
		TEST(a_machine_that_stood_is_not_overdue),
		TEST(a_row_shows_that_a_clockwork_has_stopped),
		TEST(a_busy_machine_does_not_hide_it),
		TEST(uneven_wakeups_by_a_thread_are_missed_later),
		TEST(uneven_wakeups_by_a_thread_are_missed_at_last),
		TEST(uneven_wakeups_by_interrupts_may_stay_away),
		TEST(a_waker_that_rests_has_nothing_more_to_say),
		TEST(a_row_of_waits_for_something_else_shows_nothing),
		TEST(a_thread_whose_turn_it_is_not_is_well),
		TEST(a_device_that_stopped_to_answer_holds_up_others),
		TEST(an_interrupt_that_still_comes_is_not_said_to_stay_away),
		TEST(a_device_of_which_nothing_is_known_is_possibly_late),
		TEST(a_slow_device_is_well),
		TEST(a_holder_that_used_to_come_on_is_overdue_without_events),
		TEST(a_holder_that_seldom_comes_on_is_possibly_late),
		TEST(a_busy_machine_with_an_open_wait_is_possibly_well),
		TEST(a_device_that_always_answered_at_once_is_possibly_late),
		TEST(a_lock_that_nobody_holds_is_possibly_overdue),
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
