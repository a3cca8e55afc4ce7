/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about periodic wakeups that have stopped. Also tests irregular wakeups, such as those by
 * user input or packets, and wakeups that are too few for a finding.
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

/* ---- Periodic wakeups ---------------------------------------------------------------------------- */

static void periodic_wakeup_missing_while_interrupt_comes_is_likely(void **state)
{
	const uint64_t last = why_turns(0, KTRX_WAIT_EVENT, 40, 50000);

	(void)state;
	why_irq_goes_on(last + 50);
	why_waker_lives();
	why_sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, last + 5);
	why_is_overdue(FINDING_LIKELY);
	why_says("thread 5 (sampler) has waited 9.89 s on queue (0x1000); it used to be woken every 50.0 ms");
	why_says("interrupts woke it 40 times, the last time 9.90 s ago: interrupt 33 on CPU 1, which still "
		 "comes");
}

static void record_switches(void)
{
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
}

/*
 * The kernel does not mark events of interrupt handlers: their context is the interrupted thread. The wakeups
 * lie between irq.enter and irq.exit.
 */
static void wakeup_inside_handler_is_by_interrupt(void **state)
{
	uint64_t last = 0;

	(void)state;
	record_switches();
	for (uint32_t n = 1; n <= 40; n++) {
		last = 100 + n * 50;
		script_event(BLOCK, (last - 45) * MS, 0, IDLE, V(QUEUE), V(SLEEPER), V(KTRX_WAIT_EVENT));
		script_event(ENTER, last * MS - 200, 1, IDLE, V(IRQ));
		script_event(WAKE, last * MS, 1, IDLE, V(SLEEPER));
		script_event(EXIT, last * MS + 200, 1, IDLE, V(IRQ));
	}
	why_waker_lives();
	why_sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, last + 5);
	why_is_overdue(FINDING_POSSIBLE);
	why_says(
		"interrupts woke it 40 times, the last time 9.90 s ago: interrupt 33 on CPU 1, which has not "
		"come lately");
}

/*
 * Without sched.switch, a handler that switched to a thread and did not return looks as if it still ran. If
 * another thread than the interrupted one makes the wakeups, the handler does not make them.
 */
static void wakeup_by_another_thread_than_the_interrupted_is_by_that_thread(void **state)
{
	uint64_t last = 0;

	(void)state;
	record_switches();
	script_switch_off(SWITCH);
	for (uint32_t n = 1; n <= 40; n++) {
		last = 100 + n * 50;
		script_event(BLOCK, (last - 45) * MS, 0, IDLE, V(QUEUE), V(SLEEPER), V(KTRX_WAIT_EVENT));
		script_event(ENTER, last * MS - 200, 1, IDLE, V(IRQ));
		script_event(WAKE, last * MS, 1, WAKER, V(SLEEPER));
	}
	why_waker_lives();
	why_sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, last + 5);
	assert_int_equal(why_count(WHY_OVERDUE), 1);
	why_says("thread 6 (waker) woke it 40 times");
	assert_null(strstr(why_text(), "interrupts woke it"));
}

/* Without sched.switch, the interrupted thread may have made the wakeups after the handler had returned. */
static void wakeup_by_the_interrupted_thread_is_by_neither(void **state)
{
	uint64_t last = 0;

	(void)state;
	record_switches();
	script_switch_off(SWITCH);
	for (uint32_t n = 1; n <= 40; n++) {
		last = 100 + n * 50;
		script_event(BLOCK, (last - 45) * MS, 0, IDLE, V(QUEUE), V(SLEEPER), V(KTRX_WAIT_EVENT));
		script_event(ENTER, last * MS - 200, 1, WAKER, V(IRQ));
		script_event(WAKE, last * MS, 1, WAKER, V(SLEEPER));
	}
	why_waker_lives();
	why_sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, last + 5);
	assert_null(strstr(why_text(), "woke it 40"));
}

/* This kernel records the wait kind "event" for all sleeps. So the thread may be in a long timed sleep. */
static void event_may_be_timed_sleep_without_recorded_timeouts(void **state)
{
	const uint64_t last = why_turns(0, KTRX_WAIT_EVENT, 40, 50000);

	(void)state;
	why_irq_goes_on(last + 50);
	why_sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, last + 5);
	why_is_overdue(FINDING_POSSIBLE);
	why_says("ktrace_block() has recorded none");
	why_says("threads that wait without a timeout (as far as is known):");
}

static void periodic_wakeup_missing_with_its_interrupt_is_possible(void **state)
{
	(void)state;
	why_sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, why_turns(0, KTRX_WAIT_EVENT, 40, 50000) + 5);
	why_is_overdue(FINDING_POSSIBLE);
	why_says("which has not come lately");
}

/* The newest wakeup found no thread asleep. It came before the thread went to sleep, and may be lost. */
static void early_wakeup_is_shown_if_periodic_wakeup_is_missing(void **state)
{
	const uint64_t last = why_turns(WAKER, KTRX_WAIT_EVENT, 40, 50000);

	(void)state;
	script_event(NOBODY, (last + 40) * MS, 1, WAKER, V(QUEUE), V(0x77));
	script_event(OTHER, (last + 41) * MS, 1, IDLE);
	why_sleeps(SLEEPER, "consumer", KTRX_WAIT_EVENT, last + 60);
	why_waker_lives();
	why_is_overdue(FINDING_POSSIBLE);
	why_says(
		"thread 6 (waker) woke queue (0x1000) 20.0 ms before this wait, and found no thread asleep, at "
		"0x77");
	why_says("check whether that wakeup was meant for this thread");
}

static void periodic_wakeup_missing_from_living_waker_is_possible(void **state)
{
	(void)state;
	why_sleeps(SLEEPER, "consumer", KTRX_WAIT_EVENT, why_turns(WAKER, KTRX_WAIT_EVENT, 40, 50000) + 5);
	why_waker_lives();
	why_is_overdue(FINDING_POSSIBLE);
	why_says("thread 6 (waker) woke it 40 times");
}

static void periodic_wakeup_of_ended_waker_is_healthy(void **state)
{
	(void)state;
	why_sleeps(SLEEPER, "consumer", KTRX_WAIT_EVENT, why_turns(WAKER, KTRX_WAIT_EVENT, 40, 50000) + 5);
	why_is_idle(FINDING_LIKELY);
	why_says("thread 5 (consumer) has waited 9.89 s on queue (0x1000): 40 such waits ended before, the "
		 "longest "
		 "after 45.0 ms");
}

static void periodic_wakeup_that_continues_is_healthy(void **state)
{
	(void)state;
	why_sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, why_turns(0, KTRX_WAIT_EVENT, 238, 50000) + 5);
	why_is_idle(FINDING_CERTAIN);
}

/* Wakeups occur in bursts with pauses between them, as if a user types. */
static void bursts_of_wakeups_may_stop(void **state)
{
	uint64_t us = 100000;

	(void)state;
	for (uint32_t n = 0; n < 60; n++) {
		const uint64_t step = n % 12 == 0 ? 700000 : 20000 + 9000 * (n % 7) * (n % 5);

		why_turn(0, KTRX_WAIT_EVENT, us + 100, us + step);
		us += step;
	}
	assert_true(us / 1000 < END_MS - 4000);
	why_irq_goes_on(us / 1000 + 50);
	why_sleeps(SLEEPER, "shell", KTRX_WAIT_EVENT, us / 1000 + 1);
	why_is_idle(FINDING_LIKELY);
}

/* A regular and dense stream of packets or bytes has ended. */
static void dense_interrupts_may_stop(void **state)
{
	(void)state;
	why_sleeps(SLEEPER, "network", KTRX_WAIT_EVENT, why_turns(0, KTRX_WAIT_EVENT, 1500, 1000) + 5);
	why_is_idle(FINDING_LIKELY);
}

static void few_wakeups_are_not_periodic(void **state)
{
	(void)state;
	why_sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, why_turns(0, KTRX_WAIT_EVENT, 15, 50000) + 5);
	why_is_idle(FINDING_LIKELY);
}

/* The machine was silent at the end, so it may have stopped, and the wait may not be overdue. */
static void silent_machine_is_not_overdue(void **state)
{
	const uint64_t last = why_turns(0, KTRX_WAIT_EVENT, 236, 50000);

	(void)state;
	script_info()->note = "silent: 20.0 s or more\n";
	why_sleeps(SLEEPER, "sampler", KTRX_WAIT_EVENT, last + 5);
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/*
 * A thread that the queue has lost: another thread wakes the queue's sleepers `after_ms` after the thread began
 * to wait, and finds none.
 */
static void wakeup_during_wait(uint64_t since_ms, uint64_t after_ms)
{
	why_sleeps(SLEEPER, "consumer", KTRX_WAIT_EVENT, since_ms);
	script_event(NOBODY, (since_ms + after_ms) * MS, 1, WAKER, V(QUEUE), V(0x77));
	script_event(OTHER, (since_ms + after_ms) * MS + 100, 1, IDLE);
	why_waker_lives();
	why_others_are_busy();
}

static void wakeup_that_finds_nobody_during_the_wait_is_likely_missed(void **state)
{
	(void)state;
	wakeup_during_wait(5000, 3000);
	assert_int_equal(why_judge()->verdict, WHY_OVERDUE);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says(
		"thread 5 (consumer) has waited 7.00 s on queue (0x1000); a wakeup of this queue found no thread "
		"asleep");
	why_says(
		"thread 6 (waker) woke this queue 4.00 s ago, during the wait, and found no thread asleep, at 0x77");
}

/* The thread has announced its sleep, but is not in the queue yet. Or it has waited only for a moment. */
static void wakeup_that_finds_nobody_may_come_too_early(void **state)
{
	(void)state;
	wakeup_during_wait(5000, 20);
	assert_int_equal(why_count(WHY_OVERDUE), 0);
	why_teardown(NULL);
	why_overdue_begin(NULL);
	wakeup_during_wait(END_MS - 1900, 500);
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/*
 * Some wakeups are meant for other threads than those that sleep on the queue, such as writers of a pipe. In
 * this test, such a wakeup found no thread asleep during an earlier wait, but the wait ended normally.
 */
static void wakeups_for_others_may_find_nobody(void **state)
{
	(void)state;
	script_event(BLOCK, 1000 * MS, 0, SLEEPER, V(QUEUE), V(SLEEPER), V(KTRX_WAIT_EVENT));
	script_event(NOBODY, 2000 * MS, 1, WAKER, V(QUEUE), V(0x77));
	script_event(WAKE, 3000 * MS, 1, WAKER, V(SLEEPER));
	wakeup_during_wait(5000, 3000);
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/* Another thread that slept on the queue was woken in the meantime, so the sleepers are woken in turn. */
static void sleeper_of_a_queue_that_wakes_others_may_wait(void **state)
{
	(void)state;
	wakeup_during_wait(5000, 3000);
	script_event(BLOCK, 9000 * MS, 0, IDLE, V(QUEUE), V(WAITER), V(KTRX_WAIT_EVENT));
	script_event(WAKE, 9500 * MS, 1, WAKER, V(WAITER));
	script_sort();
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/* ---- Table rows, if the rings contain no earlier wakeup ------------------------------------------ */

/*
 * The thread has waited since 5 s after boot. Before that, it was woken `wakes` times. The usual time between
 * two wakeups was 50 ms, and the longest time was `longest_ms`.
 */
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

static void row_shows_missing_periodic_wakeup(void **state)
{
	(void)state;
	had_habit(60, 58, 90, WAKER);
	why_waker_lives();
	why_is_overdue(FINDING_POSSIBLE);
	why_says("thread 5 (sampler) has waited 7.00 s on queue (0x1000); it used to be woken every 50.0 ms");
	why_says("60 such waits in a row ended, at most 90.0 ms apart; thread 6 (waker) ended the last one "
		 "7.00 s ago");
}

/* The port does not report that a handler runs, so the idle thread seems to be the waker. */
static void wakeup_by_an_idle_thread_is_one_by_an_interrupt(void **state)
{
	static const uint32_t wakers[] = { 0, IDLE };

	for (size_t n = 0; n < sizeof(wakers) / sizeof(wakers[0]); n++) {
		why_teardown(state);
		why_overdue_begin(state);
		had_habit(60, 58, 90, WAKER)->habit_waker = wakers[n] + 1;
		why_waker_lives();
		why_is_overdue(FINDING_POSSIBLE);
		why_says("an interrupt ended the last one 7.00 s ago");
	}
}

static void busy_machine_does_not_hide_missing_wakeup(void **state)
{
	(void)state;
	had_habit(60, 58, 90, WAKER);
	why_waker_lives();
	why_others_are_busy();
	assert_int_equal(why_count(WHY_OVERDUE), 1);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_true(why_judge()->open);
}

/* A series of wakeups of the sleeper in its row, and the wait that follows. */
struct series {
	uint32_t wakes, alike;
	uint64_t every_ms, longest_ms, waits_ms;
	uint8_t kind;
	int found; /* -1: no finding; otherwise its certainty */
};

static const struct series series[] = {
	/* the series lasted less than a second: it must be more regular, and the wait must be longer */
	{ 23, 22, 23, 47, 11400, KTRX_WAIT_EVENT, FINDING_POSSIBLE },
	{ 23, 22, 23, 47, 9000, KTRX_WAIT_EVENT, -1 },
	{ 23, 22, 23, 200, 11400, KTRX_WAIT_EVENT, -1 },
	{ 23, 19, 23, 47, 11400, KTRX_WAIT_EVENT, -1 },
	{ 23, 22, 10, 47, 11400, KTRX_WAIT_EVENT, -1 },
	{ 19, 18, 40, 47, 11000, KTRX_WAIT_EVENT, -1 },
	/* a stream of data that has ended */
	{ 60, 59, 9, 47, 11000, KTRX_WAIT_EVENT, -1 },
	/* a device that answered regularly must answer, but code that woke a thread regularly may stop */
	{ 23, 22, 23, 47, 11400, KTRX_WAIT_DEVICE, FINDING_POSSIBLE },
	{ 30, 28, 40, 90, 10500, KTRX_WAIT_DEVICE, FINDING_LIKELY },
	{ 30, 28, 40, 90, 10500, KTRX_WAIT_EVENT, FINDING_POSSIBLE },
	{ 30, 28, 40, 90, 8000, KTRX_WAIT_DEVICE, FINDING_POSSIBLE },
	{ 30, 28, 40, 200, 10500, KTRX_WAIT_DEVICE, FINDING_POSSIBLE },
	/* a slow device, and one that answers irregularly */
	{ 30, 28, 40, 1000, 10500, KTRX_WAIT_DEVICE, -1 },
	{ 30, 15, 40, 90, 10500, KTRX_WAIT_DEVICE, -1 },
};

/* An idle machine and a busy one must show the same. */
static void series_of_wakeups_shows_missing_wakeup(void **state)
{
	for (size_t n = 0; n < 2 * sizeof(series) / sizeof(series[0]); n++) {
		const struct series *one = &series[n / 2];
		struct ktrx_holder *row;

		why_teardown(state);
		why_overdue_begin(state);
		row = why_thread_row(SLEEPER, "sampler", KTRX_THREAD_WAITING, 0);
		why_waits(row, one->kind, QUEUE, "queue", (END_MS - one->waits_ms) * MS);
		row->habit_object = QUEUE;
		row->habit_wakes = one->wakes;
		row->habit_alike = one->alike;
		row->habit_last = (END_MS - one->waits_ms) * MS - MS / 2;
		row->habit_first = row->habit_last - (one->wakes - 1) * one->every_ms * MS;
		row->habit_longest = one->longest_ms * MS;
		why_waker_lives();
		if (n % 2)
			why_others_are_busy();
		if (why_count(WHY_OVERDUE) != (one->found != -1))
			fail_msg("case %zu: %s", n / 2, why_text());
		if (one->found == FINDING_LIKELY)
			assert_int_equal(why_judge()->verdict, WHY_OVERDUE);
		else
			assert_int_equal(why_judge()->verdict, n % 2 ? WHY_BUSY : WHY_IDLE);
		if (one->found == FINDING_POSSIBLE)
			assert_true(why_judge()->open);
	}
}

/* The waker sleeps, too, and was last woken by thread `waker`. Both have waited since `since_ms`. */
static void waker_sleeps(uint32_t waker, uint64_t since_ms)
{
	struct ktrx_holder *sleeper = had_habit(60, 20, 200, WAKER),
			   *row = why_thread_row(WAKER, "waker", KTRX_THREAD_WAITING, 1);

	*row = (struct ktrx_holder){ .id = WAKER + 1, .state = KTRX_THREAD_WAITING };
	why_waits(row, KTRX_WAIT_EVENT, QUEUE, "queue", since_ms * MS);
	row->habit_object = QUEUE;
	row->habit_wakes = 50;
	row->habit_alike = 20;
	row->habit_first = 100 * MS;
	row->habit_last = (since_ms - 1) * MS;
	row->habit_longest = 100 * MS;
	row->habit_usual = 30 * MS;
	row->habit_waker = waker + 1;
	why_waits(sleeper, KTRX_WAIT_EVENT, QUEUE, "queue", since_ms * MS);
	sleeper->habit_first = 100 * MS;
	sleeper->habit_last = (since_ms - 1) * MS;
}

/* The rings no longer contain the wakeup that was lost. */
static void threads_that_woke_each_other_are_overdue(void **state)
{
	(void)state;
	waker_sleeps(SLEEPER, 1500);
	why_is_overdue(FINDING_POSSIBLE);
	why_says("these two used to wake each other");
	why_says(
		"thread 5 (sampler): 60 such waits in a row ended, at most 200.0 ms apart; thread 6 (waker) ended "
		"the last one");
	why_says("thread 6 (waker): 50 such waits in a row ended");
}

static void threads_that_woke_each_other_may_pause(void **state)
{
	(void)state;
	waker_sleeps(SLEEPER, 6000);
	why_is_idle(FINDING_LIKELY);
}

/* Another thread has woken the waker before, and can do so again. */
static void waker_with_other_waker_is_not_stuck(void **state)
{
	(void)state;
	waker_sleeps(OTHER_ONE, 1500);
	why_is_idle(FINDING_LIKELY);
}

/* Something other than the waker has woken a sleeper of the queue before, and can do so again. */
static void threads_that_others_wake_are_not_stuck(void **state)
{
	const uint32_t wakers[] = { 0, OTHER_ONE };

	for (size_t n = 0; n < sizeof(wakers) / sizeof(wakers[0]); n++) {
		why_teardown(state);
		assert_int_equal(why_overdue_begin(state), 0);
		why_turn(wakers[n], KTRX_WAIT_EVENT, 1000000, 1100000);
		why_others_are_busy();
		waker_sleeps(SLEEPER, 1500);
		assert_int_equal(why_count(WHY_OVERDUE), 0);
	}
	/* The waker has ended. */
	why_teardown(state);
	assert_int_equal(why_overdue_begin(state), 0);
	why_turn(OTHER_ONE, KTRX_WAIT_EVENT, 1000000, 1100000);
	waker_sleeps(SLEEPER, 1500);
	why_is_overdue(FINDING_POSSIBLE);
}

/* The intervals between wakeups differ, as on a busy machine. The thread that woke the sleeper still runs. */
static void uneven_wakeups_by_thread_are_not_missed_early(void **state)
{
	(void)state;
	had_habit(60, 20, 200, WAKER);
	why_waker_lives();
	why_is_idle(FINDING_LIKELY);
}

static void uneven_wakeups_by_thread_are_missed_after_long(void **state)
{
	struct ktrx_holder *row = had_habit(60, 20, 300, WAKER);

	(void)state;
	why_waker_lives();
	why_waits(row, KTRX_WAIT_EVENT, QUEUE, "queue", 1800 * MS);
	row->habit_last = 1799 * MS;
	row->habit_first = 300 * MS;
	why_is_overdue(FINDING_POSSIBLE);
}

/* Wakeups, such as those by a keyboard, occur at irregular times. */
static void uneven_wakeups_by_interrupts_may_stop(void **state)
{
	(void)state;
	had_habit(60, 20, 100, 0);
	why_waker_lives();
	why_is_idle(FINDING_LIKELY);
}

static void wakeups_of_waiting_waker_may_stop(void **state)
{
	struct ktrx_holder *waker = why_thread_row(WAKER, "producer", KTRX_THREAD_WAITING, 0);

	(void)state;
	had_habit(60, 58, 90, WAKER);
	why_waits(waker, KTRX_WAIT_EVENT, 0x3000, "more", 5000 * MS);
	why_is_idle(FINDING_LIKELY);
}

/*
 * The waker waits without a timeout, too. But it was woken long after it woke the sleeper for the last time,
 * so it still works. For example, it now posts the wrong semaphore.
 */
static void wakeups_of_waker_that_is_woken_itself_are_missed(void **state)
{
	struct ktrx_holder *waker = why_thread_row(WAKER, "producer", KTRX_THREAD_WAITING, 0);

	(void)state;
	had_habit(60, 58, 90, WAKER);
	why_waits(waker, KTRX_WAIT_EVENT, 0x3000, "more", (END_MS - 20) * MS);
	why_is_overdue(FINDING_POSSIBLE);
}

static void periodic_wakeup_missing_from_woken_waker_is_possible(void **state)
{
	struct ktrx_holder *waker = why_thread_row(WAKER, "producer", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_sleeps(SLEEPER, "consumer", KTRX_WAIT_EVENT, why_turns(WAKER, KTRX_WAIT_EVENT, 40, 50000) + 5);
	why_waits(waker, KTRX_WAIT_EVENT, 0x3000, "more", (END_MS - 20) * MS);
	why_is_overdue(FINDING_POSSIBLE);
}

static void row_about_other_object_is_ignored(void **state)
{
	(void)state;
	had_habit(60, 58, 90, WAKER)->habit_object = 0x3000;
	why_waker_lives();
	why_is_idle(FINDING_LIKELY);
}

/* Another thread that sleeps on the same object is woken. */
static void sleeper_beside_woken_sleeper_is_healthy(void **state)
{
	struct ktrx_holder *waiter = why_thread_row(WAITER, "worker", KTRX_THREAD_WAITING, 0);

	(void)state;
	had_habit(60, 58, 90, WAKER);
	why_waits(waiter, KTRX_WAIT_EVENT, QUEUE, "queue", (END_MS - 40) * MS);
	waiter->habit_object = QUEUE;
	waiter->habit_wakes = 200;
	waiter->habit_last = (END_MS - 41) * MS;
	why_waker_lives();
	why_is_idle(FINDING_LIKELY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_overdue_begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(periodic_wakeup_missing_while_interrupt_comes_is_likely),
		TEST(wakeup_inside_handler_is_by_interrupt),
		TEST(wakeup_by_another_thread_than_the_interrupted_is_by_that_thread),
		TEST(wakeup_by_the_interrupted_thread_is_by_neither),
		TEST(event_may_be_timed_sleep_without_recorded_timeouts),
		TEST(periodic_wakeup_missing_with_its_interrupt_is_possible),
		TEST(early_wakeup_is_shown_if_periodic_wakeup_is_missing),
		TEST(periodic_wakeup_missing_from_living_waker_is_possible),
		TEST(periodic_wakeup_of_ended_waker_is_healthy),
		TEST(periodic_wakeup_that_continues_is_healthy),
		TEST(bursts_of_wakeups_may_stop),
		TEST(dense_interrupts_may_stop),
		TEST(few_wakeups_are_not_periodic),
		TEST(silent_machine_is_not_overdue),
		TEST(wakeup_that_finds_nobody_during_the_wait_is_likely_missed),
		TEST(wakeup_that_finds_nobody_may_come_too_early),
		TEST(wakeups_for_others_may_find_nobody),
		TEST(sleeper_of_a_queue_that_wakes_others_may_wait),
		TEST(row_shows_missing_periodic_wakeup),
		TEST(wakeup_by_an_idle_thread_is_one_by_an_interrupt),
		TEST(busy_machine_does_not_hide_missing_wakeup),
		TEST(series_of_wakeups_shows_missing_wakeup),
		TEST(threads_that_woke_each_other_are_overdue),
		TEST(threads_that_woke_each_other_may_pause),
		TEST(waker_with_other_waker_is_not_stuck),
		TEST(threads_that_others_wake_are_not_stuck),
		TEST(uneven_wakeups_by_thread_are_not_missed_early),
		TEST(uneven_wakeups_by_thread_are_missed_after_long),
		TEST(uneven_wakeups_by_interrupts_may_stop),
		TEST(wakeups_of_waiting_waker_may_stop),
		TEST(wakeups_of_waker_that_is_woken_itself_are_missed),
		TEST(periodic_wakeup_missing_from_woken_waker_is_possible),
		TEST(row_about_other_object_is_ignored),
		TEST(sleeper_beside_woken_sleeper_is_healthy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
