/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests how stacks are reconstructed from steps. Checks the tree of calls that is written from the stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/views.h"
#include "unit/support/flow_support.h"

static struct flow_doubts doubts; /* numbers of doubtful places that were found in the last script, by type */

/* Reconstructs the stacks from `steps` in a small kernel, and compares the tree with `expected`. */
static void expect(const char *steps, const char *expected)
{
	char *script = NULL;
	struct flow_tree *tree;
	struct base_output out;
	struct flow *flow;

	assert_true(asprintf(&script, FLOW_TEST_KERNEL "%s", steps) > 0);
	flow = flow_test_open(script);
	flow_test_output(&out);
	assert_int_equal(flow_tree_new(&tree, flow, &out, 0), 0);
	assert_int_equal(flow_walk(flow, &flow_tree, tree), 0);
	doubts = *flow_tree_doubts(tree);
	flow_tree_free(tree);
	flow_test_expect(&out, expected);
	flow_close(flow);
	free(script);
}

/*
 * Lines of the tree. LINE has a time, a duration and a text; OPEN has no duration. Times are in nanoseconds.
 */
#define LINE(time, took, text) "[    0.0000000" time "]         0.0" took " us " text "\n"
#define OPEN(time, text)       "[    0.0000000" time "]                  " text "\n"

static void calls_and_returns_are_nested(void **state)
{
	(void)state;
	expect("cpu 0\n"
	       "run 10 a 2 call\n" /* returns to a+8 */
	       "run 20 b 4 call\n" /* returns to b+16 */
	       "run 25 c 4 return\n"
	       "run 30 b+16 2 return\n"
	       "run 40 a+8 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") OPEN("20", "  b {") LINE("25", "05", "    c")
		       LINE("40", "20", "  } b"));
}

static void branch_not_taken_leaves_the_stack_alone(void **state)
{
	(void)state;
	expect("cpu 0\nrun 10 a 2 conditional!\nrun 11 a+8 2 call\nrun 12 b 1 return\nrun 13 a+16 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") LINE("12", "01", "  b"));
}

static void tail_call_replaces_the_frame(void **state)
{
	(void)state;
	expect("cpu 0\nrun 10 a 2 call\nrun 12 b 2 jump\nrun 15 c 2 return\nrun 19 a+8 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") LINE("12", "03", "  b") LINE("15", "04", "  -> c"));
}

/*
 * A retpoline: function `b` calls an address within `b`. The code at this address returns to function `c`
 * instead of `b`. This return counts as a jump.
 */
static void return_of_a_call_into_the_same_function_is_a_jump(void **state)
{
	(void)state;
	expect("cpu 0\nrun 10 a 2 call\nrun 12 b 2 call\nrun 13 b+16 2 return\nrun 15 c 2 return\nrun 19 a+8 "
	       "1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") LINE("12", "03", "  b") LINE("15", "04", "  -> c"));
	assert_int_equal(doubts.resyncs, 0);
	/* Code within function `b` jumps to function `d`, which only returns. */
	expect("cpu 0\nrun 10 a 2 call\nrun 12 b 2 call\nrun 13 b+16 2 jump\nrun 14 d 1 return\nrun 15 c 2 "
	       "return\n"
	       "run 19 a+8 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") LINE("12", "02", "  b") LINE("14", "01", "  -> d")
		       LINE("15", "04", "  -> c"));
	assert_int_equal(doubts.resyncs, 0);
	/* To read the program counter, function `b` calls the address directly after the call instruction. */
	expect("cpu 0\nrun 10 a 2 call\nrun 12 b 2 call\nrun 13 b+8 2 return\nrun 19 a+8 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") LINE("12", "07", "  b"));
	assert_int_equal(doubts.resyncs, 0);
}

static void interrupt_is_a_frame(void **state)
{
	(void)state;
	expect("cpu 0\nrun 10 a 2 call\nrun 12 b 2 run\nasync 13 b+8 irq\nrun 13 irq 3 leave_kernel\n"
	       "run 18 b+8 2 return\nrun 20 a+8 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") OPEN("12", "  b {") LINE("13", "05", "    !! irq")
		       LINE("20", "08", "  } b"));
}

/* An interrupt occurs after a call instruction, before the first instruction of the called function. */
static void interrupt_before_first_instruction_is_in_the_callee(void **state)
{
	(void)state;
	expect("cpu 0\nrun 10 a 2 call\nasync 13 b irq\nrun 13 irq 3 leave_kernel\n"
	       "run 18 b 2 return\nrun 20 a+8 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") OPEN("13", "  b {") LINE("13", "05", "    !! irq")
		       LINE("20", "07", "  } b"));
}

static void exception_return_without_exception_is_no_restart(void **state)
{
	(void)state;
	expect("cpu 0\nrun 10 a 2 call\nrun 12 b 2 leave_kernel\nrun 15 b+8 1 return\nrun 19 a+8 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") LINE("12", "07", "  b"));
	assert_int_equal(doubts.resyncs, 0);
}

static void system_call_is_a_frame(void **state)
{
	(void)state;
	expect("cpu 0\nrun 10 a 2 enter_kernel\nrun 12 irq 2 leave_kernel\nrun 15 a+8 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") LINE("12", "03", "  => irq"));
}

/*
 * Function `a` has called `b`, and `b` has called `c`. An indirect jump leads from `c` into the middle of
 * `a`.
 */
static void longjmp_removes_the_frames_between(void **state)
{
	(void)state;
	expect("cpu 0\nrun 10 a 2 call\nrun 12 b 2 call\nrun 15 c 2 indirect\nrun 19 a+32 1 call\nrun 20 d 1 "
	       "jump\n",
	       "CPU 0\n" OPEN("10", "a {") OPEN("12", "  b {") LINE("15", "04", "    c")
		       LINE("19", "07", "  } b") OPEN("20", "  d {"));
	assert_int_equal(doubts.resyncs, 0);
}

/*
 * A return leads to an address that no call on the stack has stored, as after a thread switch that is not in
 * the trace. No frames are guessed.
 */
static void unexpected_return_restarts_the_stack(void **state)
{
	(void)state;
	expect("cpu 0\nrun 10 a 2 call\nrun 12 b 2 call\nrun 15 c 2 return\nrun 20 e+16 1 return\nrun 21 d+8 "
	       "1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") OPEN("12", "  b {")
		       OPEN("15", "    c") "--- stack restarted ---\n" OPEN("20", "e") OPEN("21", "d {"));
	assert_int_equal(doubts.resyncs, 1);
}

/*
 * No duration includes a gap. Function `b` returns after the gap, but it may have been called again in the
 * gap.
 */
static void gaps_and_overflows_end_all_frames(void **state)
{
	(void)state;
	expect("cpu 0\nrun 10 a 2 call\nrun 12 b 2 call\noverflow 15\nrun 20 b+8 1 return\nrun 22 a+8 1 "
	       "call\n"
	       "run 23 c 1 run\ngap 25 torn\x1b packet\nrun 30 c+4 1 return\nrun 31 a+12 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") OPEN("12", "  b {") "--- overflow ---\n" OPEN("20", "b")
		       OPEN("22", "a {") OPEN("23", "  c {") "--- gap: torn\\x1b packet ---\n" OPEN("30", "c")
			       OPEN("31", "a {"));
}

static void each_thread_has_its_own_stack(void **state)
{
	(void)state;
	expect("cpu 0\nspace 10 0x5000 7\nrun 10 a 2 call\nrun 12 d 2 run\nspace 15 0x6000 8\nrun 15 d+8 1 "
	       "return\n"
	       "run 16 e+8 1 call\nrun 17 d 2 run\nspace 20 0x5000 7\nrun 20 d+8 1 return\nrun 22 a+8 1 "
	       "jump\n",
	       "CPU 0\n" OPEN("10", "a {") OPEN("12", "  d {") "--- thread: 8 ---\n" OPEN("15", "d")
		       OPEN("16", "e {") OPEN("17", "  d {") "--- thread: 7 ---\n" LINE("22", "10", "  } d"));
}

/*
 * On a machine with one CPU, the thread cannot have run on another CPU in between. Here the machine has two
 * CPUs, so the duration is unknown.
 */
static void duration_is_unknown_if_thread_may_have_run_elsewhere(void **state)
{
	(void)state;
	expect("cpu 0\nspace 10 0x5000 7\nrun 10 a 2 call\nrun 12 d 2 run\nspace 15 0x6000 8\nspace 20 "
	       "0x5000 7\n"
	       "run 20 d+8 1 return\nrun 22 a+8 1 jump\ncpu 1\n",
	       "CPU 0\n" OPEN("10", "a {")
		       OPEN("12", "  d {") "--- thread: 8 ---\n"
					   "--- thread: 7 ---\n" OPEN("22", "  } d") "CPU 1\n");
}

/*
 * A filter traces only function `b`. Tracing stops when `b` calls another function, and begins again when
 * that function returns to `b`.
 */
static void filtered_functions_are_entered_and_left(void **state)
{
	(void)state;
	expect("thread 0 7 7 sh\non 10 b\nrun 10 b 2 call\noff 11 c\non 15 b+8\nrun 15 b+8 1 return\noff 16 "
	       "a+8\n"
	       "on 20 b\nrun 20 b 2 return\noff 21\n",
	       "thread 0 of process 7: sh\n" LINE("10", "06", "b") LINE("20", "01", "b"));
}

/*
 * A filter traces only function `b`, which ends with a jump to function `c`. When `b` begins again, it was
 * not called by `c`.
 */
static void filtered_functions_are_left_by_tail_calls(void **state)
{
	(void)state;
	expect("cpu 0\non 10 b\nrun 10 b 2 jump\nasync 12 c\noff 12\non 15 b\nrun 15 b 2 jump\nasync 17 "
	       "c\noff 17\n",
	       "CPU 0\n" LINE("10", "02", "b") OPEN("12", "-> c") LINE("15", "02", "b") OPEN("17", "-> c {"));
}

/*
 * The kernel is not traced. A thread's system calls, page faults and signals are gaps between "off" and "on".
 */
static void untraced_kernels_leave_the_stack_alone(void **state)
{
	(void)state;
	expect("thread 0 7 7 sh\non 10 a+4\nrun 10 a+4 2 call\nrun 12 b 1 enter_kernel\noff 13\non 20 b+4\n"
	       "run 20 b+4 1 run\noff 21 b+8\non 30 b+8\nrun 30 b+8 1 run\noff 31 b+12\non 32 e\nrun 32 e 2 "
	       "enter_kernel\n"
	       "off 33\non 34 b+12\nrun 34 b+12 1 return\nrun 35 a+12 1 jump\n",
	       "thread 0 of process 7: sh\n" OPEN("10", "a {") OPEN("12", "  b {") LINE("32", "02", "    e")
		       LINE("35", "23", "  } b"));
}

/* User code is not traced. A return to user code ends all frames of the kernel. */
static void untraced_users_leave_an_empty_stack(void **state)
{
	(void)state;
	expect("cpu 0\non 10 irq\nrun 10 irq 2 call\nrun 12 b 2 return\nrun 14 irq+8 1 jump\nrun 15 c 2 "
	       "leave_kernel\n"
	       "off 16\non 20 irq\nrun 20 irq 2 call\nrun 22 b 2 jump\nrun 25 c 2 leave_kernel\noff 29\n"
	       "on 30 irq\nrun 30 irq 2 jump\n",
	       "CPU 0\n" OPEN("10", "irq {") LINE("12", "02", "  b") LINE("15", "05", "} irq")
		       LINE("15", "01", "-> c") OPEN("20", "irq {") LINE("22", "03", "  b")
			       LINE("25", "04", "  -> c") LINE("29", "09", "} irq") OPEN("30", "irq {"));
}

/*
 * An exception return leads to function `b`, where the next interrupt occurs immediately. The trace reports
 * this interrupt as if it had occurred before the return.
 */
static void consecutive_interrupts_do_not_accumulate_frames(void **state)
{
	(void)state;
	expect("cpu 0\nrun 10 a 2 call\nrun 11 b 2 run\nasync 12 b+8 irq\nrun 12 irq 3 leave_kernel\nrun 15 "
	       "b+8 1 run\n"
	       "async 16 b+12 irq\nrun 16 irq 2 run\nasync 18 irq+8 irq\nrun 18 irq 3 leave_kernel\nrun 20 "
	       "b+12 1 return\n"
	       "run 22 a+8 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") OPEN("11", "  b {") LINE("12", "03", "    !! irq")
		       LINE("16", "02", "    !! irq") LINE("18", "02", "    !! irq")
			       LINE("22", "11", "  } b"));
}

/* Code of interrupt vectors continues from one symbol to the next without a branch. */
static void run_may_pass_through_functions(void **state)
{
	(void)state;
	expect("cpu 0\nrun 10 a 2 call\nrun 12 b+252 66 return\nrun 13 a+8 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") OPEN("12", "  b") OPEN("12", "  -> c") LINE("12", "01", "  -> d"));
}

/*
 * The compiler has moved the rarely executed part of function `b` to a different address, with a symbol of
 * its own.
 */
static void cold_part_belongs_to_its_function(void **state)
{
	(void)state;
	expect("symbol 0x9000 0x100 b.cold\ncpu 0\nrun 10 a 2 call\nrun 12 b 2 jump\nrun 13 b.cold+8 2 call\n"
	       "run 14 c 1 return\nrun 15 b.cold+16 1 jump\nrun 16 b+8 1 return\nrun 17 a+8 1 jump\n",
	       "CPU 0\n" OPEN("10", "a {") OPEN("12", "  b {") LINE("14", "01", "    c")
		       LINE("17", "05", "  } b"));
}

/*
 * The same address is looked up several times. The result of an earlier look-up must not be used after it has
 * become invalid.
 */
static void function_at_an_address_depends_on_the_time(void **state)
{
	static const struct {
		uint64_t stamp;
		const char *name;
	} asked[] = { { 150, "old" }, { 199, "old" }, { 200, "new" }, { 299, "new" }, { 300, NULL },
		      { 250, "new" }, { 0, NULL },    { 400, NULL },  { 199, "old" }, { 1, "old" } };
	struct flow *flow = flow_test_open("image one -\nsymbol 0x1000 0x100 old\nsince 200\nimage two -\n"
					   "symbol 0x1000 0x100 new\nsince 300\n");
	struct flow_spot spot;

	(void)state;
	for (size_t n = 0; n < sizeof(asked) / sizeof(asked[0]); n++) {
		assert_int_equal(flow_functions_at(flow->functions, 0, asked[n].stamp, 0x1010, &spot), 0);
		if (asked[n].name)
			assert_string_equal(spot.function->name, asked[n].name);
		else
			assert_null(spot.function->name);
	}
	assert_int_equal(flow_functions_count(flow->functions), 3);
	flow_close(flow);
}

static void depth_is_bounded(void **state)
{
	static char steps[200 * (FLOW_DEPTH_MOST + 10)];
	struct flow_tree *tree;
	struct base_output out;
	struct flow *flow;
	char *at = steps;

	(void)state;
	at += sprintf(at, FLOW_TEST_KERNEL "cpu 0\n");
	for (unsigned n = 0; n < FLOW_DEPTH_MOST + 9; n++)
		at += sprintf(at, "run 10 a 2 call\n");
	at += sprintf(at, "run 11 a 1 return\n");
	for (unsigned n = 0; n < FLOW_DEPTH_MOST + 8; n++)
		at += sprintf(at, "run 12 a+8 1 return\n");
	sprintf(at, "run 13 a+8 1 call\nrun 14 b 1 jump\n");
	flow = flow_test_open(steps);
	flow_test_output(&out);
	assert_int_equal(flow_tree_new(&tree, flow, &out, 0), 0);
	assert_int_equal(flow_walk(flow, &flow_tree, tree), 0);
	assert_int_equal(flow_tree_doubts(tree)->deeper, 10);
	assert_int_equal(flow_tree_doubts(tree)->resyncs, 0);
	flow_tree_free(tree);
	assert_non_null(strstr(out.buffer, "\n[    0.000000014]                    b {\n"));
	base_output_close(&out);
	flow_close(flow);
}

static void stacks_are_bounded(void **state)
{
	static char script[100 * (FLOW_STACKS_MOST + 10)];
	struct flow_tree *tree;
	struct base_output out;
	struct flow *flow;
	char *at = script;

	(void)state;
	at += sprintf(at, FLOW_TEST_KERNEL "cpu 0\n");
	for (unsigned n = 0; n < FLOW_STACKS_MOST + 5; n++)
		at += sprintf(at, "space 10 0x1000 %u\nrun 10 a 2 call\nrun 11 b 1 run\n", n + 1);
	flow = flow_test_open(script);
	flow_test_output(&out);
	assert_int_equal(flow_tree_new(&tree, flow, &out, 0), 0);
	assert_int_equal(flow_walk(flow, &flow_tree, tree), 0);
	assert_int_equal(flow_tree_doubts(tree)->stacks, 5);
	flow_tree_free(tree);
	base_output_close(&out);
	flow_close(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_and_returns_are_nested),
		cmocka_unit_test(branch_not_taken_leaves_the_stack_alone),
		cmocka_unit_test(tail_call_replaces_the_frame),
		cmocka_unit_test(return_of_a_call_into_the_same_function_is_a_jump),
		cmocka_unit_test(interrupt_is_a_frame),
		cmocka_unit_test(interrupt_before_first_instruction_is_in_the_callee),
		cmocka_unit_test(exception_return_without_exception_is_no_restart),
		cmocka_unit_test(system_call_is_a_frame),
		cmocka_unit_test(longjmp_removes_the_frames_between),
		cmocka_unit_test(unexpected_return_restarts_the_stack),
		cmocka_unit_test(gaps_and_overflows_end_all_frames),
		cmocka_unit_test(each_thread_has_its_own_stack),
		cmocka_unit_test(duration_is_unknown_if_thread_may_have_run_elsewhere),
		cmocka_unit_test(filtered_functions_are_entered_and_left),
		cmocka_unit_test(filtered_functions_are_left_by_tail_calls),
		cmocka_unit_test(untraced_kernels_leave_the_stack_alone),
		cmocka_unit_test(untraced_users_leave_an_empty_stack),
		cmocka_unit_test(consecutive_interrupts_do_not_accumulate_frames),
		cmocka_unit_test(run_may_pass_through_functions),
		cmocka_unit_test(cold_part_belongs_to_its_function),
		cmocka_unit_test(function_at_an_address_depends_on_the_time),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(stacks_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
