/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which functions are found to be entered, and how many functions have not returned at that time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "plugin/code.h"
#include "schedule/frames.h"

#define LINK 30u /* number of the link register, as on AArch64 */

/* Addresses of the functions of a kernel. Each function has up to four blocks of 16 bytes. */
#define MAIN	UINT64_C(0x1000)
#define LEAF	UINT64_C(0x2000)
#define MIDDLE	UINT64_C(0x3000)
#define SWITCH	UINT64_C(0x4000)
#define HANDLER UINT64_C(0x5000)
#define THREAD	UINT64_C(0x6000)

static const struct frames_code outside = { .start = UINT64_MAX, .outside = true };
static const struct frames_code main_calls_middle = { MAIN, MAIN + 12, MAIN + 16, MIDDLE, END_CALL,
						      0,    false,     true,	  4 };
static const struct frames_code main_rest = { MAIN + 16, MAIN + 28, MAIN + 32, MAIN + 16, END_JUMP,
					      0,	 false,	    true,      4 };
static const struct frames_code middle_calls_leaf = { MIDDLE, MIDDLE + 12, MIDDLE + 16, LEAF, END_CALL,
						      0,      false,	   true,	4 };
static const struct frames_code middle_switches = { MIDDLE + 16, MIDDLE + 28, MIDDLE + 32, SWITCH, END_CALL,
						    0,		 false,	      true,	   4 };
static const struct frames_code middle_returns = { MIDDLE + 32, MIDDLE + 44, MIDDLE + 48, 0, END_RETURN,
						   LINK,	false,	     true,	  4 };
static const struct frames_code middle_jumps = { MIDDLE + 32, MIDDLE + 44, MIDDLE + 48, LEAF, END_JUMP,
						 0,	      false,	   true,	4 };
static const struct frames_code leaf = { LEAF, LEAF + 12, LEAF + 16, 0, END_RETURN, LINK, false, true, 4 };
static const struct frames_code switches = { SWITCH, SWITCH + 12, SWITCH + 16, 0, END_RETURN,
					     2,	     false,	  true,	       4 };
static const struct frames_code handler = { HANDLER, HANDLER + 12, HANDLER + 16, LEAF, END_CALL,
					    0,	     false,	   true,	 4 };
static const struct frames_code handler_leaves = { HANDLER + 16, HANDLER + 28, HANDLER + 32, 0, END_LEAVE,
						   LINK,	 false,	       true,	     4 };
static const struct frames_code thread = { THREAD, THREAD + 12, THREAD + 16, SWITCH, END_CALL,
					   0,	   false,	true,	     4 };

/* The functions that were entered, in the order in which they were entered. */
static struct {
	uint64_t start, caller;
	enum schedule_how how;
	uint32_t depth;
	unsigned cpu;
} entry[32];
static unsigned entries, seen;

static void enter(unsigned cpu, const struct frames_code *to, uint64_t caller, enum schedule_how how,
		  uint32_t depth)
{
	assert_true(entries < 32);
	entry[entries].start = to->start;
	entry[entries].caller = caller;
	entry[entries].how = how;
	entry[entries].depth = depth;
	entry[entries++].cpu = cpu;
}

static void begin(uint8_t link)
{
	frames_close();
	entries = seen = 0;
	assert_true(frames_open(2, link, enter));
}

/* Checks that exactly one more function was entered. */
static void entered(const struct frames_code *code, enum schedule_how how, uint32_t depth)
{
	assert_int_equal(entries, seen + 1);
	assert_int_equal(entry[seen].start, code->start);
	assert_int_equal(entry[seen].how, how);
	assert_int_equal(entry[seen].depth, depth);
	seen++;
}

static void nothing_entered(void)
{
	assert_int_equal(entries, seen);
}

/* CPU 0 runs `middle`, which has saved its return address at `slot`, and has called `leaf` once. */
static void reach_middle(uint64_t slot)
{
	begin(LINK);
	frames_begin(0, &main_calls_middle);
	entered(&main_calls_middle, SCHEDULE_OTHER, 0);
	frames_begin(0, &middle_calls_leaf);
	entered(&middle_calls_leaf, SCHEDULE_CALL, 1);
	frames_saved(0, slot);
	frames_begin(0, &leaf);
	entered(&leaf, SCHEDULE_CALL, 2);
	frames_begin(0, &middle_switches);
	nothing_entered();
}

static void call_enters_function(void **state)
{
	(void)state;
	reach_middle(0x8000);
	assert_int_equal(entry[1].caller, MAIN + 12);
	assert_int_equal(entry[2].caller, MIDDLE + 12);
}

static void return_ends_function(void **state)
{
	(void)state;
	reach_middle(0x8000);
	frames_begin(0, &middle_returns);
	frames_loaded(0, LINK, 0x8000);
	frames_begin(0, &main_rest);
	frames_begin(0, &handler);
	entered(&handler, SCHEDULE_INTERRUPT, 1); /* only one function, `main`, has not returned */
}

static void tail_call_enters_no_function(void **state)
{
	(void)state;
	reach_middle(0x8000);
	frames_loaded(0, LINK, 0x8000);
	frames_begin(0, &middle_jumps);
	frames_begin(0, &leaf);
	nothing_entered();
	frames_begin(0, &main_rest);
	frames_begin(0, &handler);
	entered(&handler, SCHEDULE_INTERRUPT, 1);
}

static void interrupt_nests_and_ends(void **state)
{
	(void)state;
	reach_middle(0x8000);
	frames_begin(0, &handler);
	entered(&handler, SCHEDULE_INTERRUPT, 2);
	frames_begin(0, &leaf);
	entered(&leaf, SCHEDULE_CALL, 3);
	frames_begin(0, &handler_leaves);
	frames_begin(0, &switches); /* now the interrupted call continues */
	entered(&switches, SCHEDULE_CALL, 2);
}

static void interrupt_before_call_repeats_block(void **state)
{
	static const struct frames_code rest = { MIDDLE + 28, MIDDLE + 28, MIDDLE + 32, SWITCH, END_CALL,
						 0,	      false,	   true,	1 };

	(void)state;
	reach_middle(0x8000);
	frames_begin(0, &handler);
	entered(&handler, SCHEDULE_INTERRUPT, 2);
	frames_begin(0, &leaf);
	entered(&leaf, SCHEDULE_CALL, 3);
	frames_begin(0, &handler_leaves);
	frames_begin(0, &rest);
	nothing_entered();
	frames_begin(0, &switches);
	entered(&switches, SCHEDULE_CALL, 2);
}

/* The CPU switches from the thread to a new thread, and back. */
static void switch_finds_stack_of_thread(void **state)
{
	(void)state;
	reach_middle(0x8000);
	frames_begin(0, &switches);
	entered(&switches, SCHEDULE_CALL, 2);
	frames_saved(0, 0x7000);
	frames_loaded(0, 2, 0x9000); /* no return address was saved there: the thread is new */
	frames_begin(0, &thread);
	entered(&thread, SCHEDULE_OTHER, 0);
	frames_begin(0, &switches);
	entered(&switches, SCHEDULE_CALL, 1);
	frames_saved(0, 0x9100);
	frames_loaded(0, 2, 0x7000);
	frames_begin(0, &middle_returns);
	frames_loaded(0, LINK, 0x8000);
	frames_begin(0, &main_rest);
	frames_begin(0, &handler);
	entered(&handler, SCHEDULE_INTERRUPT, 1);
}

static void thread_continues_on_other_cpu(void **state)
{
	(void)state;
	reach_middle(0x8000);
	frames_begin(0, &switches);
	entered(&switches, SCHEDULE_CALL, 2);
	frames_saved(0, 0x7000);
	frames_begin(1, &thread);
	entered(&thread, SCHEDULE_OTHER, 0);
	frames_begin(1, &switches);
	entered(&switches, SCHEDULE_CALL, 1);
	frames_saved(1, 0x9100);
	frames_loaded(1, 2, 0x7000);
	frames_begin(1, &middle_returns);
	frames_loaded(1, LINK, 0x8000);
	frames_begin(1, &main_rest);
	frames_begin(1, &handler);
	entered(&handler, SCHEDULE_INTERRUPT, 1);
	assert_int_equal(entry[seen - 1].cpu, 1);
}

/* A function also stores copies of its return address elsewhere, but does not load the copies. */
static void copies_of_return_address_do_no_harm(void **state)
{
	(void)state;
	reach_middle(0x8000);
	for (uint64_t copy = 0xa000; copy < 0xa100; copy += 8)
		frames_saved(0, copy);
	frames_begin(0, &middle_returns);
	frames_loaded(0, LINK, 0x8000);
	frames_begin(0, &main_rest);
	frames_begin(0, &handler);
	entered(&handler, SCHEDULE_INTERRUPT, 1);
}

static void system_call_begins_at_depth_0_again(void **state)
{
	(void)state;
	begin(LINK);
	frames_begin(0, &outside);
	for (unsigned n = 0; n < 3; n++) {
		frames_begin(0, &handler);
		entered(&handler, SCHEDULE_OTHER, 0);
		frames_begin(0, &leaf);
		entered(&leaf, SCHEDULE_CALL, 1);
		frames_begin(0, &handler_leaves);
		frames_begin(0, &outside);
		nothing_entered();
	}
}

/* Code outside of the kernel, such as firmware, handles an interrupt. */
static void code_outside_the_kernel_is_ignored(void **state)
{
	(void)state;
	reach_middle(0x8000);
	frames_begin(0, &outside);
	frames_begin(0, &switches);
	entered(&switches, SCHEDULE_CALL, 2);
}

static void pushed_addresses_identify_frames(void **state)
{
	static const struct frames_code returns = { LEAF,	 LEAF + 12, LEAF + 16, 0, END_RETURN,
						    FRAMES_LINK, false,	    true,      4 };

	(void)state;
	begin(FRAMES_LINK);
	frames_begin(0, &main_calls_middle);
	entered(&main_calls_middle, SCHEDULE_OTHER, 0);
	frames_pushed(0, 0x8000);
	frames_begin(0, &middle_calls_leaf);
	entered(&middle_calls_leaf, SCHEDULE_CALL, 1);
	frames_pushed(0, 0x7ff0);
	frames_begin(0, &returns);
	entered(&returns, SCHEDULE_CALL, 2);
	frames_loaded(0, FRAMES_LINK, 0x8000); /* returns past the caller, as longjmp() does */
	frames_begin(0, &main_rest);
	frames_begin(0, &handler);
	entered(&handler, SCHEDULE_INTERRUPT, 1);
}

static void endless_recursion_is_limited(void **state)
{
	static const struct frames_code again = { LEAF, LEAF + 12, LEAF + 16, LEAF, END_CALL,
						  0,	false,	   true,      4 };

	(void)state;
	begin(LINK);
	assert_int_equal(frames_forgotten(), 0);
	frames_begin(0, &again);
	for (unsigned n = 0; n < 100000; n++) {
		entries = seen = 0;
		frames_saved(0, 0x100000 - 16 * n);
		frames_begin(0, &again);
	}
	assert_true(frames_forgotten() > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call_enters_function),
		cmocka_unit_test(return_ends_function),
		cmocka_unit_test(tail_call_enters_no_function),
		cmocka_unit_test(interrupt_nests_and_ends),
		cmocka_unit_test(interrupt_before_call_repeats_block),
		cmocka_unit_test(switch_finds_stack_of_thread),
		cmocka_unit_test(thread_continues_on_other_cpu),
		cmocka_unit_test(copies_of_return_address_do_no_harm),
		cmocka_unit_test(system_call_begins_at_depth_0_again),
		cmocka_unit_test(code_outside_the_kernel_is_ignored),
		cmocka_unit_test(pushed_addresses_identify_frames),
		cmocka_unit_test(endless_recursion_is_limited),
	};

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	frames_close();
	return failed;
}
