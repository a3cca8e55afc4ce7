/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A device that answers late once, while threads that only sleep for a time wake in time, or late as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/script.h"
#include "unit/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE	 1u
#define READER	 5u
#define SLEEPER	 6u /* and on */
#define SLEEPERS 3u
#define DISK	 0x3000u
#define END_MS	 2000u

enum { OTHER = 1, BLOCK, WAKE };

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread,u8 kind");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_thread(IDLE, "idle");
	script_thread(READER, "reader");
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		why_cpu_row(cpu, KTRX_MODE_IDLE);
		script_cpu(cpu)->heartbeats = 1000;
		script_cpu(cpu)->heartbeat_stamp = END_MS * MS;
		script_cpu(cpu)->now = END_MS * MS;
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

/* Twenty answers after 5 ms, then one after 700 ms. Others sleep for 5 ms all the time, then once for `slept_ms`. */
static void late_answer(uint64_t slept_ms)
{
	const uint64_t asked = 201;

	for (uint64_t ms = 1; ms < asked; ms += 10) {
		waits_for(READER, DISK, KTRX_WAIT_DEVICE, ms, ms + 5);
		for (uint32_t n = 0; n < SLEEPERS; n++)
			waits_for(SLEEPER + n, 0, KTRX_WAIT_TIME, ms + 1, ms + 6);
	}
	waits_for(READER, DISK, KTRX_WAIT_DEVICE, asked, asked + 700);
	for (uint32_t n = 0; n < SLEEPERS; n++)
		waits_for(SLEEPER + n, 0, KTRX_WAIT_TIME, asked + 1, asked + 1 + slept_ms);
}

static void while_others_are_in_time_it_is_likely_slow(void **state)
{
	(void)state;
	late_answer(5);
	assert_int_equal(why_judge()->verdict, WHY_SLOW);
	assert_int_equal(why_judge()->sure, WHY_LIKELY);
	why_says("thread 5 (reader) waited 700.0 ms");
}

static void is_possible(void)
{
	assert_int_not_equal(why_judge()->verdict, WHY_SLOW);
	assert_int_equal(why_count(WHY_SLOW), 1);
	why_says("slow (possible)");
	why_says("3 of 3 waits for a time that overlap it ended late as well: all of the machine was slow");
}

static void while_others_are_late_it_is_possibly_slow(void **state)
{
	(void)state;
	late_answer(400);
	is_possible();
}

static void those_that_wake_after_the_answer_count(void **state)
{
	(void)state;
	late_answer(900);
	is_possible();
}

/* One that was late is not all of the machine: the others were in time. */
static void one_that_is_late_is_not_all(void **state)
{
	(void)state;
	late_answer(5);
	waits_for(SLEEPER, 0, KTRX_WAIT_TIME, 300, 700);
	assert_int_equal(why_judge()->verdict, WHY_SLOW);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(while_others_are_in_time_it_is_likely_slow),
		TEST(while_others_are_late_it_is_possibly_slow),
		TEST(those_that_wake_after_the_answer_count),
		TEST(one_that_is_late_is_not_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
