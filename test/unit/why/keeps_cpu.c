/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about a thread that keeps its CPU while it waits for a lock, because it yields or spins. The
 * thread that holds the lock is less urgent, so it cannot run.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define LOCK  0x1000u
#define OTHER 0x2000u
#define PLACE 0x77010u

enum { LOW = 5, HIGH = 7 };

/* Each case changes some members of `usual`. */
struct yields {
	const char *label;
	uint8_t holder, waiter; /* priorities */
	uint8_t holder_state, waiter_state;
	uint8_t kind;	/* of the wait */
	uint64_t since; /* since when the waiter waits and the holder is runnable */
	const char *stack;
	unsigned count;
	enum finding_certainty certain;
};

static const char with_place[] = "cpu 0 pc=1000 sp=1000 x29=2000 x30=0\nstack 0 5000 77010 6000\n";
static const char without_place[] = "cpu 0 pc=1000 sp=1000 x29=2000 x30=0\nstack 0 5000 6000\n";

#define USUAL(text)                                                                                         \
	.label = text, .holder = 10, .waiter = 30, .holder_state = KTRX_THREAD_RUNNABLE,                    \
	.waiter_state = KTRX_THREAD_RUNNING, .kind = KTRX_WAIT_LOCK, .since = 20 * MS, .stack = with_place, \
	.count = 1, .certain = FINDING_CERTAIN

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct yields cases[] = {
	{ USUAL("the stack contains the place where it began to wait") },
	{ USUAL("the stack contains another place"), .stack = without_place, .certain = FINDING_LIKELY },
	{ USUAL("no registers"), .stack = "", .certain = FINDING_LIKELY },
	{ USUAL("a short wait"), .since = 2100 * MS, .count = 0 },
	{ USUAL("the same priority"), .holder = 30, .count = 0 },
	{ USUAL("the holder is more urgent"), .holder = 40, .count = 0 },
	{ USUAL("the priority is unknown"), .holder = 0, .count = 0 },
	{ USUAL("the holder runs"), .holder_state = KTRX_THREAD_RUNNING, .count = 0 },
	{ USUAL("the holder sleeps"), .holder_state = KTRX_THREAD_WAITING, .count = 0 },
	{ USUAL("the waiter sleeps"), .waiter_state = KTRX_THREAD_WAITING, .count = 0 },
};
#pragma GCC diagnostic pop

static struct ktrx_holder *high; /* entry of the thread that waits */

static void stage(const struct yields *one)
{
	struct ktrx_holder *row;

	why_cpu_row(0, KTRX_MODE_KERNEL);
	row = why_thread_row(LOW, "low", one->holder_state, 0);
	row->priority = one->holder;
	row->state_stamp = one->since;
	why_holds(row, LOCK, 10 * MS);
	high = row = why_thread_row(HIGH, "high", one->waiter_state, 0);
	row->priority = one->waiter;
	why_waits(row, one->kind, LOCK, "aye", one->since);
	row->wait_pc = PLACE;
	why_cpu_beats(0, 2000, 2520 * MS);
	script_info()->machine = EM_AARCH64;
	script_info()->registers = one->stack;
	script_type(1, "mine", "other", "");
	script_event(1, 1, 0, 0);
	script_event(1, 2520 * MS, 0, HIGH);
}

static void waiter_that_keeps_the_cpu_is_reported(void **state)
{
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		why_teardown(state);
		why_setup(state);
		stage(&cases[n]);
		if (why_count(WHY_PRIORITY_INVERSION) != cases[n].count)
			fail_msg("%s: %s", cases[n].label, why_text());
		if (cases[n].count && why_judge()->base.certain != cases[n].certain)
			fail_msg("%s: %s", cases[n].label, why_text());
	}
}

static void verdict_names_lock_and_both_threads(void **state)
{
	const struct yields usual = { USUAL("usual") };

	(void)state;
	stage(&usual);
	assert_int_equal(why_judge()->verdict, WHY_PRIORITY_INVERSION);
	why_says("thread 7 (high) has waited 2.50 s for a lock, and keeps CPU 0 while it waits; "
		 "thread 5 (low) holds it, but cannot run");
	why_says("thread 7 (high), priority 30, waits for lock aye (0x1000), at 0x77010");
	why_says("thread 5 (low), priority 10, holds it and has been runnable for 2.50 s");
	why_says("thread 7 (high) does not sleep while it waits: it yields or spins");
}

/* A second thread of high priority waits for the same lock. Only the one that runs now is reported. */
static void other_waiters_are_not_reported(void **state)
{
	const struct yields usual = { USUAL("usual") };
	struct ktrx_holder *row;

	(void)state;
	stage(&usual);
	row = why_thread_row(8, "too", KTRX_THREAD_RUNNABLE, 0);
	row->priority = usual.waiter;
	why_waits(row, KTRX_WAIT_LOCK, LOCK, "aye", 20 * MS);
	assert_int_equal(why_count(WHY_PRIORITY_INVERSION), 1);
}

/* The thread that runs waits for a lock that no thread holds. */
static void another_lock_is_not_reported(void **state)
{
	const struct yields usual = { USUAL("usual") };

	(void)state;
	stage(&usual);
	why_waits(why_thread_row(HIGH, "high", KTRX_THREAD_RUNNING, 0), KTRX_WAIT_LOCK, OTHER, "bee",
		  20 * MS);
	assert_int_equal(why_count(WHY_PRIORITY_INVERSION), 0);
}

/*
 * The thread that holds the lock sleeps until it gets a second lock. The thread that holds the second lock
 * cannot run.
 */
static void chain_names_the_lock_that_each_thread_holds(void **state)
{
	const struct yields usual = { USUAL("usual") };
	struct ktrx_holder *row;

	(void)state;
	stage(&usual);
	row = why_thread_row(6, "mid", KTRX_THREAD_WAITING, 0);
	row->priority = 20;
	why_holds(row, OTHER, 10 * MS);
	why_waits(row, KTRX_WAIT_LOCK, LOCK, "aye", 20 * MS);
	why_waits(high, KTRX_WAIT_LOCK, OTHER, "bee", 20 * MS);
	assert_int_equal(why_count(WHY_PRIORITY_INVERSION), 1);
	why_says("thread 7 (high) has waited 2.50 s for a lock, and keeps CPU 0 while it waits; "
		 "thread 5 (low), on which this depends, cannot run");
	why_says("thread 7 (high), priority 30, waits for lock bee (0x2000), at 0x77010");
	why_says("thread 6 (mid) holds it, and waits for lock aye (0x1000)");
	why_says("thread 5 (low), priority 10, holds lock aye (0x1000) and has been runnable for 2.50 s");
	assert_null(strstr(why_text(), "thread 5 (low) holds it"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, why_setup, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(waiter_that_keeps_the_cpu_is_reported),
		TEST(verdict_names_lock_and_both_threads),
		TEST(other_waiters_are_not_reported),
		TEST(another_lock_is_not_reported),
		TEST(chain_names_the_lock_that_each_thread_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
