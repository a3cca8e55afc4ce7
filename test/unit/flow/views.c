/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Checks the views: tables, folded stacks, lists, coverage, and the last branches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/views.h"
#include "unit/support/flow_support.h"

/*
 * Function `a` calls `b` twice, and the second `b` calls `c`. Then `a` calls itself. The outer call of `a`
 * has not returned when the trace ends.
 */
static const char calls[] =
	FLOW_TEST_KERNEL "cpu 0\nrun 100 a 2 call\nrun 110 b 3 return\nrun 120 a+8 2 call\nrun 130 b 2 call\n"
			 "run 140 c 5 return\nrun 150 b+8 1 return\nrun 160 a+16 1 call\nrun 170 a 1 return\n"
			 "run 180 a+20 1 jump\n";

static void expect_durations(const char *script, const char *expected)
{
	struct flow *flow = flow_test_open(script);
	struct flow_durations *durations;
	struct base_output out;

	flow_test_output(&out);
	assert_int_equal(flow_durations_new(&durations, flow), 0);
	assert_int_equal(flow_walk(flow, &flow_durations, durations), 0);
	assert_int_equal(flow_durations_write(durations, &out, 1), 0);
	flow_durations_free(durations);
	flow_test_expect(&out, expected);
	flow_close(flow);
}

static void only_whole_calls_have_durations(void **state)
{
	(void)state;
	/*
	 * The first call of function `a` has not returned. The recursive call of `a` has returned. Its
	 * duration is not added to the total time, because the first call includes it.
	 */
	expect_durations(calls,
			 "{\"function\":\"b\",\"image\":\"kernel\",\"calls\":2,\"timed\":2,\"total\":40,"
			 "\"self\":30,\"min\":10,\"p50\":10,\"p99\":30,\"max\":30}\n"
			 "{\"function\":\"c\",\"image\":\"kernel\",\"calls\":1,\"timed\":1,\"total\":10,"
			 "\"self\":10,\"min\":10,\"p50\":10,\"p99\":10,\"max\":10}\n"
			 "{\"function\":\"a\",\"image\":\"kernel\",\"calls\":2,\"timed\":1,\"total\":0,"
			 "\"self\":10,\"min\":10,\"p50\":10,\"p99\":10,\"max\":10}\n");
}

/* Function `b` is already running when the trace begins. Function `a` begins after the gap. */
static void function_already_running_is_not_counted_as_called(void **state)
{
	(void)state;
	expect_durations(FLOW_TEST_KERNEL "cpu 0\nrun 100 b+8 2 jump\ngap 105 missing\nrun 110 a 2 jump\n",
			 "{\"function\":\"a\",\"image\":\"kernel\",\"calls\":1,\"timed\":0}\n"
			 "{\"function\":\"b\",\"image\":\"kernel\",\"calls\":0,\"timed\":0}\n");
}

static void expect_folded(const char *script, enum flow_weight weight, const char *expected)
{
	struct flow *flow = flow_test_open(script);
	struct flow_folded *folded;
	struct base_output out;

	flow_test_output(&out);
	assert_int_equal(flow_folded_new(&folded, flow, weight), 0);
	assert_int_equal(flow_walk(flow, &flow_folded, folded), 0);
	assert_int_equal(flow_folded_write(folded, &out), 0);
	flow_folded_free(folded);
	flow_test_expect(&out, expected);
	flow_close(flow);
}

static void folded_stacks_count_instructions_or_time(void **state)
{
	(void)state;
	expect_folded(calls, FLOW_BY_INSTRUCTIONS, "a 6\na;a 1\na;b 6\na;b;c 5\n");
	expect_folded(calls, FLOW_BY_TIME, "a 30\na;a 10\na;b 30\na;b;c 10\n");
}

/* Time in a gap is not counted. Characters of a name that would end a field of the output are replaced. */
static void folded_time_ends_at_gaps(void **state)
{
	(void)state;
	expect_folded("frequency 1000000000\nimage kernel -\nsymbol 0x1000 0x100 a;b\ncpu 0\n"
		      "run 10 0x1000 1 run\nrun 12 0x1004 1 run\ngap 15 x\nrun 500 0x1008 1 run\nrun 501 "
		      "0x100c 1 run\n",
		      FLOW_BY_TIME, "a_b 3\n");
}

static void executed_functions_are_listed_once(void **state)
{
	struct flow *flow = flow_test_open(
		FLOW_TEST_KERNEL
		"image sh -\nsymbol 0x400000 0x1000 main\nsymbol 0x500000 0x1000 ?\ncpu 0\n"
		"run 1 d 1 jump\nrun 1 b+252 66 jump\nrun 1 0x500010 1 jump\nrun 1 main 1 jump\n"
		"run 1 0x700000 2 jump\nsample 1 e+4\nrun 1 main+8 1 jump\n");
	struct flow_executed *executed;
	struct base_output out;

	(void)state;
	flow_test_output(&out);
	assert_int_equal(flow_executed_new(&executed, flow), 0);
	assert_int_equal(flow_walk(flow, &flow_executed, executed), 0);
	assert_int_equal(flow_executed_write(executed, &out, 0), 0);
	flow_executed_free(executed);
	/*
	 * The second sequence of instructions (step HWT_RUN) begins at the end of function `b`, and goes
	 * through function `c` into function `d`.
	 */
	flow_test_expect(&out, "- [unknown]\nkernel b\nkernel c\nkernel d\nkernel e\nsh [sh]\nsh main\n");
	flow_close(flow);
}

static void expect_columns(const char *script, const char *list, int json, const char *expected)
{
	struct flow *flow = flow_test_open(script);
	struct flow_columns columns = { .flow = flow, .json = json };
	struct base_output out;

	flow_test_output(&out);
	columns.out = &out;
	assert_int_equal(flow_find_base(flow), 0);
	assert_int_equal(flow_columns_parse(&columns, list), 0);
	flow_columns_head(&columns);
	assert_int_equal(flow_walk(flow, &flow_columns, &columns), 0);
	flow_test_expect(&out, expected);
	flow_close(flow);
}

static const char hostile[] =
	"frequency 1000\nimage ker\033nel -\nsymbol 0x1000 0x100 a\"b\\\x80 dir/x\033.c:7\nthread 3 7 8 n\n"
	"run 1000 0x1004 1 conditional!\nnote 2500 \033[2J\n";

static void columns_are_selected_and_escaped(void **state)
{
	(void)state;
	expect_columns(
		hostile, "time,id,pid,tid,symbol,source,event_type,event_payload", 1,
		"{\"time\":0.000000000,\"id\":3,\"pid\":7,\"tid\":8,\"symbol\":\"a\\\"b\\\\\\\\x80+0x4\","
		"\"source\":\"dir/x\\\\x1b.c:7\",\"event_type\":\"conditional\","
		"\"event_payload\":\"1 instruction, not taken\"}\n"
		"{\"time\":1.500000000,\"id\":3,\"pid\":7,\"tid\":8,\"event_type\":\"note\","
		"\"event_payload\":\"\\\\x1b[2J\"}\n");
	expect_columns(hostile, "offset,image,event_payload", 0,
		       "offset     image          event_payload\n"
		       "0          ker\\x1bnel     1 instruction, not taken\n"
		       "1          -              \\x1b[2J\n");
}

static void unknown_columns_are_refused(void **state)
{
	static const char *const lists[] = { "", "offset,", "offset,offset", "offsets", "pc, id" };
	struct flow_columns columns = { 0 };

	(void)state;
	for (size_t n = 0; n < sizeof(lists) / sizeof(lists[0]); n++)
		assert_int_equal(flow_columns_parse(&columns, lists[n]), -1);
}

/* ---- Coverage of this program --------------------------------------------------------------------- */

/* Compilers differ in the line to which they assign this function's first instruction. */
static unsigned covered(unsigned value)
{
	return value * 3 + 1;
}
enum { COVERED_FIRST = __LINE__ - 4, COVERED_LAST = __LINE__ - 1 };

static void coverage_counts_lines_and_functions(void **state)
{
	char *script, *self = realpath("/proc/self/exe", NULL), wanted[64];
	unsigned (*volatile function)(unsigned) = covered;
	struct flow_coverage *coverage;
	struct base_output out;
	struct flow *flow;
	unsigned long at;
	unsigned hits = 0;
	Dl_info info;

	(void)state;
	assert_int_equal(function(1), 4);
	assert_true(dladdr((void *)covered, &info) != 0);
	at = (unsigned long)covered - (unsigned long)info.dli_fbase;
	assert_true(asprintf(&script,
			     "image self %s\nsymbol %#lx 0x10 covered\ncpu 0\nrun - covered 1 jump\n"
			     "run - covered 1 jump\nrun - covered 1 jump\nrun - 0x10 1 jump\n",
			     self, at) > 0);
	flow = flow_test_open(script);
	flow_test_output(&out);
	assert_int_equal(flow_coverage_new(&coverage, flow), 0);
	assert_int_equal(flow_walk(flow, &flow_coverage, coverage), 0);
	assert_int_equal(flow_coverage_write(coverage, &out, flow_test_note, NULL), 0);
	flow_coverage_free(coverage);
	*out.at = '\0';
	for (int line = COVERED_FIRST; line <= COVERED_LAST; line++) {
		snprintf(wanted, sizeof(wanted), "\nDA:%d,3\n", line);
		hits += strstr(out.buffer, wanted) != NULL;
	}
	assert_int_equal(hits, 1);
	snprintf(wanted, sizeof(wanted), "\nFN:%d,covered\n", COVERED_FIRST);
	assert_non_null(strstr(out.buffer, wanted));
	assert_non_null(strstr(out.buffer, "\nFNDA:3,covered\n"));
	snprintf(wanted, sizeof(wanted), "\nFN:%d,coverage_counts_lines_and_functions\n", COVERED_LAST + 3);
	assert_non_null(strstr(out.buffer, wanted));
	assert_non_null(strstr(out.buffer, "\nFNDA:0,coverage_counts_lines_and_functions\n"));
	assert_non_null(strstr(out.buffer, "\nFNH:1\nDA:"));
	assert_non_null(strstr(out.buffer, "/flow/views.c\n"));
	/* no code of flow/calls.c was executed, so it is not listed */
	assert_null(strstr(out.buffer, "flow/calls.c"));
	assert_non_null(strstr(out.buffer, ",0\n"));
	assert_string_equal(flow_test_noted, "runs of code in no known file, not counted: 1");
	base_output_close(&out);
	flow_close(flow);
	free(script);
	free(self);
}

/* ---- The last branches ------------------------------------------------------------------------- */

/*
 * There are 100 branches on CPU 0, with a gap among the last of them, and a few branches on CPU 1. Function
 * `d` is entered twice.
 */
static char *long_script(void)
{
	char *script = malloc(1 << 16), *at = script;

	at += sprintf(at, FLOW_TEST_KERNEL "cpu 0\n");
	for (unsigned n = 0; n < 100; n++) {
		at += sprintf(at, "run %u %s 1 jump\n", 1000 + n, n == 90 || n == 95 ? "d" : "a");
		if (n == 88)
			at += sprintf(at, "gap %u torn\n", 1000 + n);
	}
	at += sprintf(at, "cpu 1\n");
	for (unsigned n = 0; n < 5; n++)
		at += sprintf(at, "run %u b 1 jump\n", 1080 + 5 * n);
	return script;
}

static void expect_last(uint64_t count, const char *before, int found, const char *expected)
{
	struct flow_last last = { .count = count, .before = before };
	char *script = long_script();
	struct flow *flow = flow_test_open(script);
	struct flow_columns columns = { .flow = flow, .headings = 1 };
	struct base_output out;

	flow_test_output(&out);
	columns.out = &out;
	assert_int_equal(flow_columns_parse(&columns, "offset,event_type"), 0);
	assert_int_equal(flow_last_walk(&last, flow, &flow_columns, &columns), 0);
	assert_int_equal(last.found, found);
	flow_test_expect(&out, expected);
	assert_int_equal(flow->loss.gaps, 1);
	flow_close(flow);
	free(script);
}

static void last_branches_are_shown_for_each_cpu(void **state)
{
	(void)state;
	expect_last(2, NULL, 0,
		    "CPU 0\n99         jump\n100        jump\nCPU 1\n3          jump\n4          jump\n");
}

/*
 * Shows the last branches of all CPUs before the first entry of `d`. Steps between these branches are shown,
 * too.
 */
static void last_branches_before_function_entry_are_shown(void **state)
{
	(void)state;
	expect_last(3, "d", 1,
		    "CPU 1\n0          jump\n1          jump\n2          jump\n"
		    "CPU 0\n87         jump\n88         jump\n89         gap\n90         jump\n");
}

static void function_not_entered_is_reported(void **state)
{
	(void)state;
	expect_last(1, "e", 0, "CPU 0\n100        jump\nCPU 1\n4          jump\n");
}

/* ---- Selected addresses and times ---------------------------------------------------------------- */

static unsigned count_steps(const struct flow_select *select)
{
	char *script = long_script();
	struct flow *flow = flow_test_open(script);
	unsigned steps = 0;

	flow->select = *select;
	assert_int_equal(flow_walk(flow, &flow_test_counter, &steps), 0);
	flow_close(flow);
	free(script);
	return steps;
}

static void selections_limit_the_steps(void **state)
{
	static const struct flow_range range = { 0x1300, 0x1400 };
	static const uint8_t second = 2;

	(void)state;
	assert_int_equal(count_steps(&(struct flow_select){ 0 }), 106);
	assert_int_equal(count_steps(&(struct flow_select){ .cpus = &second, .cpu_count = 8 }), 5);
	assert_int_equal(count_steps(&(struct flow_select){ .from = 1090 }), 13);
	assert_int_equal(count_steps(&(struct flow_select){ .from = 1090, .to = 1094 }), 6);
	/* Gaps are counted for each selected address range. */
	assert_int_equal(count_steps(&(struct flow_select){ .range = &range, .ranges = 1 }), 3);
	assert_int_equal(count_steps(&(struct flow_select){ .one_thread = 1 }), 0);
	assert_int_equal(count_steps(&(struct flow_select){ .one_process = 1, .pid = 9 }), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_whole_calls_have_durations),
		cmocka_unit_test(function_already_running_is_not_counted_as_called),
		cmocka_unit_test(folded_stacks_count_instructions_or_time),
		cmocka_unit_test(folded_time_ends_at_gaps),
		cmocka_unit_test(executed_functions_are_listed_once),
		cmocka_unit_test(columns_are_selected_and_escaped),
		cmocka_unit_test(unknown_columns_are_refused),
		cmocka_unit_test(coverage_counts_lines_and_functions),
		cmocka_unit_test(last_branches_are_shown_for_each_cpu),
		cmocka_unit_test(last_branches_before_function_entry_are_shown),
		cmocka_unit_test(function_not_entered_is_reported),
		cmocka_unit_test(selections_limit_the_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
