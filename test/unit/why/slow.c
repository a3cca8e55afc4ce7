/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about a device that answers late, once or several times. While a thread waits for the first
 * late answer, timed sleeps of other threads end on time, or late as well.
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

#define IDLE	  1u
#define READER	  5u
#define SLEEPER	  6u /* id of the first sleeper; the other sleepers have the next ids */
#define SLEEPERS  3u
#define DISK	  0x3000u
#define END_MS	  4000u
#define ANSWER_MS 700u

#define TIMER 30u

enum { OTHER = 1, BLOCK, WAKE, ENTER, SEND };

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread,u8 kind");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(ENTER, "irq", "enter", "u32 irq");
	script_type(SEND, "ipi", "send", "u32 cpu,u32 what");
	script_thread(IDLE, "idle");
	script_thread(READER, "reader");
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		why_cpu_row(cpu, KTRX_MODE_IDLE);
		why_cpu_beats(cpu, 1000, END_MS * MS);
		script_cpu(cpu)->thread = IDLE;
		script_event(OTHER, END_MS * MS, cpu, IDLE);
	}
	return error;
}

static void waits_for(uint32_t thread, uint64_t queue, uint8_t kind, uint64_t from_ms, uint64_t to_ms)
{
	script_event(BLOCK, from_ms * MS, 0, thread, V(queue), V(thread), V(kind));
	script_event(WAKE, to_ms * MS, 0, IDLE, V(thread))->context = KTRX_CONTEXT_INTERRUPT;
}

static uint32_t later = 2; /* number of further late answers of the device */

/* The device gives further late answers, one after the other, from `from` ms on. */
static void late_again(uint64_t from)
{
	for (uint32_t n = 0; n < later; n++)
		waits_for(READER, DISK, KTRX_WAIT_DEVICE, from + n * ANSWER_MS,
			  from + (n + 1) * ANSWER_MS - 1);
}

/*
 * The device answers twenty times after 5 ms, then once after 700 ms. Before the late answer, other threads
 * sleep for 5 ms each time; during the wait for it, they sleep for `slept_ms`.
 */
static void late_answer(uint64_t slept_ms)
{
	const uint64_t asked = 201;

	for (uint64_t ms = 1; ms < asked; ms += 10) {
		waits_for(READER, DISK, KTRX_WAIT_DEVICE, ms, ms + 5);
		for (uint32_t n = 0; n < SLEEPERS; n++)
			waits_for(SLEEPER + n, 0, KTRX_WAIT_TIME, ms + 1, ms + 6);
	}
	waits_for(READER, DISK, KTRX_WAIT_DEVICE, asked, asked + ANSWER_MS);
	late_again(asked + ANSWER_MS + 1000);
	for (uint64_t ms = asked + 1; ms == asked + 1 || ms + 2 * slept_ms < asked + ANSWER_MS;
	     ms += 2 * slept_ms)
		for (uint32_t n = 0; n < SLEEPERS; n++)
			waits_for(SLEEPER + n, 0, KTRX_WAIT_TIME, ms, ms + slept_ms);
}

/*
 * The device answers twenty times after 5 ms, then once after 700 ms. There are no timed sleeps. From
 * `from_ms` on, CPU 1 has an event of `thread` every 10 ms.
 */
static void lonely_answer(uint32_t thread, uint64_t from_ms)
{
	for (uint64_t ms = 1; ms < 201; ms += 10)
		waits_for(READER, DISK, KTRX_WAIT_DEVICE, ms, ms + 5);
	waits_for(READER, DISK, KTRX_WAIT_DEVICE, 201, 201 + ANSWER_MS);
	late_again(201 + ANSWER_MS + 1000);
	script_event(OTHER, MS, 1, thread);
	for (uint64_t ms = from_ms; ms < 201 + ANSWER_MS; ms += 10)
		script_event(OTHER, ms * MS, 1, thread);
}

static void tick_before(void)
{
	for (uint64_t ms = 2; ms < 200; ms += 10)
		script_event(ENTER, ms * MS, 0, IDLE, V(TIMER))->context = KTRX_CONTEXT_INTERRUPT;
}

static void tick_on_cpu_0(void)
{
	for (uint64_t ms = 205; ms < 201 + ANSWER_MS; ms += 10)
		script_event(OTHER, ms * MS, 0, IDLE)->context = KTRX_CONTEXT_INTERRUPT;
}

static void late_answers_with_punctual_sleeps_are_likely_slow(void **state)
{
	(void)state;
	late_answer(5);
	assert_int_equal(why_judge()->verdict, WHY_SLOW);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 5 (reader) waited 700.0 ms");
}

/* A single late answer may be an exception, so it does not show that the device is slow. */
static void one_late_answer_is_possibly_slow(void **state)
{
	(void)state;
	later = 0;
	late_answer(5);
	later = 2;
	assert_true(why_verdict_is_healthy(why_judge()->verdict));
	assert_int_equal(why_count(WHY_SLOW), 1);
	why_says("slow (possible)");
}

/* What a device answered before, and its late answers: how many of them, how long, and how far apart. */
struct answers {
	uint32_t soon, late;
	uint64_t soon_ms, late_ms, every_ms; /* `every_ms` 0: all late answers come at the same time */
	int found;			     /* -1: no finding; otherwise its certainty */
};

static const struct answers answers[] = {
	{ 40, 3, 5, 120, 200, FINDING_LIKELY },
	{ 40, 2, 5, 120, 200, -1 },
	{ 40, 1, 5, 114, 0, -1 },
	/* the machine paused for a moment, and three threads waited for the device */
	{ 40, 3, 5, 120, 0, -1 },
	{ 40, 3, 5, 600, 0, FINDING_POSSIBLE },
	{ 40, 1, 5, 600, 0, FINDING_POSSIBLE },
	/* a device that is slow, or whose answers take very different times */
	{ 6, 6, 5, 150, 200, -1 },
	{ 40, 3, 30, 120, 200, -1 },
	{ 40, 1, 70, 520, 0, -1 },
};

static void only_the_history_of_a_device_shows_that_it_is_slow(void **state)
{
	for (size_t n = 0; n < sizeof(answers) / sizeof(answers[0]); n++) {
		const struct answers *one = &answers[n];
		uint64_t ms = 1;

		why_teardown(state);
		begin(state);
		/* another device answers much sooner */
		for (uint64_t k = 1; k < 500; k++)
			waits_for(SLEEPER, DISK + 0x1000, KTRX_WAIT_DEVICE, k * 7, k * 7 + 1);
		for (uint32_t k = 0; k < one->soon; k++, ms += one->soon_ms + 2)
			waits_for(READER, DISK, KTRX_WAIT_DEVICE, ms, ms + one->soon_ms);
		for (uint32_t k = 0; k < one->late; k++, ms += one->every_ms)
			waits_for(READER + 10 * k, DISK, KTRX_WAIT_DEVICE, ms, ms + one->late_ms);
		script_sort();
		if (why_count(WHY_SLOW) != (one->found != -1))
			fail_msg("case %zu: %s", n, why_text());
		if (one->found == FINDING_LIKELY)
			assert_int_equal(why_judge()->verdict, WHY_SLOW);
		else
			assert_true(why_verdict_is_healthy(why_judge()->verdict));
	}
}

/* Each request has an object of its own, and all have the device's name. The far sectors are always late. */
static void requests_to_one_device_are_compared(void **state)
{
	(void)state;
	why_waits(why_thread_row(READER, "near", KTRX_THREAD_WAITING, 0), KTRX_WAIT_DEVICE, DISK, "disk",
		  3990 * MS);
	why_waits(why_thread_row(READER + 1, "far", KTRX_THREAD_WAITING, 0), KTRX_WAIT_DEVICE, DISK + 8,
		  "disk", 3990 * MS);
	for (uint64_t ms = 1; ms < 401; ms += 10)
		waits_for(READER, DISK, KTRX_WAIT_DEVICE, ms, ms + 5);
	for (uint64_t ms = 401; ms < 2801; ms += 800)
		waits_for(READER + 1, DISK + 8, KTRX_WAIT_DEVICE, ms, ms + ANSWER_MS);
	assert_int_equal(why_judge()->verdict, WHY_SLOW);
	why_says("this device answered 43 times, 3 of them after 100 ms or more; the others took 5.0 ms on "
		 "average");
}

/*
 * The same thread waits for the device, sleeps for a time, and waits for input. Its kernel names no object of
 * these waits.
 */
static void other_waits_of_a_reader_are_no_answers(void **state)
{
	(void)state;
	for (uint64_t ms = 1; ms < 3000; ms += 400) {
		for (uint64_t n = 0; n < 8; n++)
			waits_for(READER, 0, KTRX_WAIT_DEVICE, ms + 6 * n, ms + 6 * n + 5);
		waits_for(READER, 0, ms % 800 == 1 ? KTRX_WAIT_TIME : KTRX_WAIT_EVENT, ms + 50, ms + 350);
	}
	assert_int_equal(why_count(WHY_SLOW), 0);
}

/*
 * Checks that there is no finding "slow". The verdict must be a healthy one, and must explain why the device
 * may not be slow.
 */
static void is_explained(void)
{
	assert_true(why_verdict_is_healthy(why_judge()->verdict));
	assert_int_equal(why_count(WHY_SLOW), 0);
	why_says("thread 5 (reader) waited 700.0 ms");
	why_says("but the device may not be the cause");
}

static void all_was_slow(void)
{
	is_explained();
	why_says("3 of 3 timed sleeps in that time ended late as well: the whole machine was slow");
}

static void late_answer_with_late_sleeps_is_slow_machine(void **state)
{
	(void)state;
	late_answer(400);
	all_was_slow();
}

/* If a problem is certain, a delay that the host may have caused is not reported. */
static void slow_host_is_left_out_beside_deadlock(void **state)
{
	struct ktrx_holder *one = why_thread_row(SLEEPER + SLEEPERS, "one", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *two = why_thread_row(SLEEPER + SLEEPERS + 1, "two", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_holds(one, 0xa000, 10 * MS);
	why_waits(one, KTRX_WAIT_LOCK, 0xb000, "bee", 20 * MS);
	why_holds(two, 0xb000, 11 * MS);
	why_waits(two, KTRX_WAIT_LOCK, 0xa000, "aye", 21 * MS);
	late_answer(400);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	assert_int_equal(why_count(WHY_SLOW), 0);
}

static void sleeps_that_end_after_answer_count(void **state)
{
	(void)state;
	late_answer(900);
	all_was_slow();
}

/* One late sleep does not mean that the whole machine was slow, because the other sleeps ended on time. */
static void one_late_sleep_is_not_slow_machine(void **state)
{
	(void)state;
	late_answer(5);
	waits_for(SLEEPER, 0, KTRX_WAIT_TIME, 300, 700);
	assert_int_equal(why_judge()->verdict, WHY_SLOW);
}

/*
 * Before the wait, the CPU had all its timer ticks. During the wait it had none, so the host may have stopped
 * the CPU.
 */
static void silent_cpu_with_regular_ticks_blames_host(void **state)
{
	(void)state;
	tick_before();
	lonely_answer(IDLE, 10);
	is_explained();
	why_says("CPU 0 recorded nothing for 700.0 ms of that: the host may not have run it");
}

static void running_cpu_blames_device(void **state)
{
	(void)state;
	lonely_answer(IDLE, 10);
	tick_on_cpu_0();
	assert_int_equal(why_judge()->verdict, WHY_SLOW);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
}

static void silent_busy_cpu_blames_host(void **state)
{
	(void)state;
	lonely_answer(SLEEPER, 890);
	tick_on_cpu_0();
	is_explained();
	why_says("CPU 1 recorded nothing for 689.0 ms of that: the host may not have run it");
}

static void silent_idle_cpu_blames_device(void **state)
{
	(void)state;
	lonely_answer(IDLE, 890);
	tick_on_cpu_0();
	assert_int_equal(why_judge()->verdict, WHY_SLOW);
}

/*
 * CPU 1 gets interrupts of the device and wakes the reader. If `cut` is true, the ring of CPU 1 begins later
 * than the ring of CPU 0. Then older wakeups on CPU 1 may be missing, so it is unknown when the first waits
 * of the reader ended: the first recorded wakeup may have ended a later wait.
 */
static void waits_that_end_unseen(bool cut)
{
	for (uint64_t ms = 1; ms < 200; ms += 10)
		waits_for(READER, DISK, KTRX_WAIT_DEVICE, ms, ms + 5);
	for (uint64_t ms = 201; ms < 1001; ms += 200)
		waits_for(READER, DISK, KTRX_WAIT_DEVICE, ms, ms + 150);
	script_event(OTHER, 1100 * MS, 1, IDLE);
	script_event(BLOCK, 1101 * MS, 0, READER, V(DISK), V(READER), V(KTRX_WAIT_DEVICE));
	script_event(WAKE, 1106 * MS, 1, IDLE, V(READER))->context = KTRX_CONTEXT_INTERRUPT;
	script_ring(1)->overwritten = cut ? 1000 : 0;
}

static void wait_whose_end_is_lost_is_not_slow(void **state)
{
	(void)state;
	waits_that_end_unseen(true);
	assert_int_equal(why_count(WHY_SLOW), 0);
}

static void waits_that_all_rings_cover_are_slow(void **state)
{
	(void)state;
	waits_that_end_unseen(false);
	assert_int_equal(why_judge()->verdict, WHY_SLOW);
}

/* CPU 0 sends IPIs to the silent CPU, which does not handle them. So the silent CPU does not run. */
static void silent_idle_cpu_that_takes_no_ipi_blames_host(void **state)
{
	(void)state;
	lonely_answer(IDLE, 890);
	for (uint64_t ms = 210; ms < 890; ms += 10)
		script_event(SEND, ms * MS, 0, IDLE, V(1), V(0));
	is_explained();
	why_says("CPU 1 recorded nothing for 689.0 ms of that: the host may not have run it");
}

/* The device answers other threads all the time, on a CPU that idles between the answers. */
static void answers_to_others_blame_device(void **state)
{
	(void)state;
	tick_before();
	lonely_answer(IDLE, 10);
	for (uint64_t ms = 205; ms < 200 + ANSWER_MS; ms += 50) {
		script_event(BLOCK, ms * MS, 1, SLEEPER, V(DISK), V(SLEEPER), V(KTRX_WAIT_DEVICE));
		script_event(WAKE, (ms + 5) * MS, 1, IDLE, V(SLEEPER))->context = KTRX_CONTEXT_INTERRUPT;
	}
	assert_int_equal(why_judge()->verdict, WHY_SLOW);
	why_says("14 others ended during that wait");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(late_answers_with_punctual_sleeps_are_likely_slow),
		TEST(one_late_answer_is_possibly_slow),
		TEST(requests_to_one_device_are_compared),
		TEST(other_waits_of_a_reader_are_no_answers),
		TEST(only_the_history_of_a_device_shows_that_it_is_slow),
		TEST(late_answer_with_late_sleeps_is_slow_machine),
		TEST(slow_host_is_left_out_beside_deadlock),
		TEST(sleeps_that_end_after_answer_count),
		TEST(one_late_sleep_is_not_slow_machine),
		TEST(silent_cpu_with_regular_ticks_blames_host),
		TEST(running_cpu_blames_device),
		TEST(silent_busy_cpu_blames_host),
		TEST(silent_idle_cpu_blames_device),
		TEST(silent_idle_cpu_that_takes_no_ipi_blames_host),
		TEST(answers_to_others_blame_device),
		TEST(wait_whose_end_is_lost_is_not_slow),
		TEST(waits_that_all_rings_cover_are_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
