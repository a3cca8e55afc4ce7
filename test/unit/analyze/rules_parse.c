/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the language of rules: invalid rules and the position of each error, numbers, and names that are in
 * no trace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support/checking.h"
#include "unit/support/random.h"
#include "unit/support/script.h"

static void invalid_rules_are_refused(void **state)
{
	static const struct {
		const char *text, *why;
		uint32_t line, column;
	} bad[] = {
		{ "a: nevr sched.switch",
		  "expected 'never', 'every', 'always' or 'at most' instead of 'nevr'; did you mean never?",
		  1, 4 },
		{ "# x\n\n  a: never b", "'a' is outside of a rule: a rule begins in the first column", 3,
		  3 },
		{ "a: never", "expected an event, but the rule ends", 1, 9 },
		{ "a never b", "expected ':' instead of 'never'", 1, 3 },
		{ "a: never b\na: never c", "the name 'a' is already used in line 1", 2, 1 },
		{ "a: never b while", "expected a field that holds a thread, or a depth, but the rule ends",
		  1, 17 },
		{ "a: never broken switch-lockd",
		  "expected what can be broken instead of 'switch-lockd'; did you mean switch-locked?", 1,
		  17 },
		{ "depth irqs: up b, down c\na: never b while irq > 0",
		  "no depth 'irq' is defined above; did you mean irqs?", 2, 18 },
		{ "a: never b while next is sleping",
		  "expected a state of a thread instead of 'sleping'; did you mean sleeping?", 1, 26 },
		{ "a: every b then c", "expected 'within', but the rule ends", 1, 18 },
		{ "a: every b then c within 50",
		  "expected a time with its unit (such as 50ms) instead of '50'", 1, 26 },
		{ "a: every b then c within nan",
		  "expected a time with its unit (such as 50ms) instead of 'nan'", 1, 26 },
		{ "a: at most -1 b", "expected a number instead of '-1'", 1, 12 },
		{ "a: always b has (c = 1)", "invalid character", 1, 20 },
		{ "a: always b has (c < \"x\")", "strings are compared by == and != only", 1, 22 },
		{ "a: always b has (c == \"x)", "a string without an end", 1, 23 },
		{ "a: never b after c by d/e/f", "more names than the rule has events", 1, 27 },
		{ "a: never b after c or d by e/f", "2 names for 3 events: give one for all, or one for each",
		  1, 31 },
		{ "a: never b in user", "expected a context (thread, irq, nmi, early) instead of 'user'", 1,
		  15 },
		{ "a: never b after c by d, e, f, g, h", "more than 4 fields after 'by'", 1, 35 },
		{ "a: never b extra", "expected the end of the rule instead of 'extra'", 1, 12 },
		{ "a: never b after c or c or c or c or c or c or c or c", "more than 8 events in one rule",
		  1, 53 },
		{ "a: never \001", "invalid character", 1, 10 },
		{ ":", "expected the name of a rule instead of ':'", 1, 1 },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		assert_int_equal(checking_parse(bad[n].text), KTREAD_E_FORMAT);
		assert_string_equal(checking_error.text, bad[n].why);
		assert_int_equal(checking_error.line, bad[n].line);
		if (checking_error.column != bad[n].column)
			print_message("%s: column %u\n", bad[n].text, checking_error.column);
		assert_int_equal(checking_error.column, bad[n].column);
	}
}

/*
 * Arbitrary bytes either are valid rules or are refused with an error. The sanitizer checks that no byte
 * after the end is read.
 */
static void any_bytes_give_rules_or_an_error(void **state)
{
	static const char good[] =
		"depth d: up a or b, down c, none e by @cpu\nr: never x (y & 0x10, z != \"s\") in irq"
		" while d > 1 by @cpu needs q\nw: every a then b within 1.5ms unless c by e/f/g\n";
	uint64_t seed = 1;
	uint32_t random = 0;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		size_t length = sizeof(good) - 1;
		char *text = malloc(length);

		memcpy(text, good, length);
		for (unsigned n = 0; n < 1 + round % 4; n++) {
			random = (uint32_t)(random_word(&seed) >> 32);
			text[(random >> 8) % length] =
				good[(random >> 3) % length] ^ (char)(round % 7 ? 0 : random >> 24);
		}
		length -= (random >> 12) % 40;
		text = realloc(text, length);
		free(checking_rules);
		rules_parse(&checking_rules, text, length, &checking_error);
		assert_true(checking_rules->count <= RULES_MAX);
		free(text);
	}
	char many[RULES_MAX * 16 + 64], *at = many;
	for (unsigned n = 0; n <= RULES_MAX; n++)
		at += sprintf(at, "r%u: never x\n", n);
	assert_int_equal(checking_parse(many), KTREAD_E_FORMAT);
	assert_string_equal(checking_error.text, "more than 128 rules");
}

static void unknown_names_get_suggestions(void **state)
{
	(void)state;
	assert_int_equal(checking_parse("a: never sched.swtich"), 0);
	assert_int_equal(rules_bind(checking_rules, script_trace(), &checking_error), KTREAD_E_FORMAT);
	assert_int_equal(checking_error.column, 10);
	assert_non_null(
		strstr(checking_error.text, "there is no event 'sched.swtich'; did you mean sched.switch?"));
	assert_int_equal(checking_parse("a: never sched.switch (nxt == 1)"), 0);
	assert_int_equal(rules_bind(checking_rules, script_trace(), &checking_error), KTREAD_E_FORMAT);
	assert_non_null(strstr(checking_error.text, "sched.switch has no field 'nxt'; did you mean next?"));
	checking_run("optional\na: never sched.swtich\nb: never sched.switch");
	assert_false(checking_rules->rule[0].checked);
	assert_true(checking_rules->rule[1].checked);
}

/* A number with a leading zero is a decimal number. */
static void numbers_are_parsed(void **state)
{
	static const struct {
		const char *text;
		uint64_t number;
	} good[] = { { "a: at most 10 b", 10 },
		     { "a: at most 010 b", 10 },
		     { "a: at most 08 b", 8 },
		     { "a: at most 0x10 b", 16 },
		     { "a: at most 0 b", 0 } };

	(void)state;
	for (size_t n = 0; n < sizeof(good) / sizeof(good[0]); n++) {
		assert_int_equal(checking_parse(good[n].text), 0);
		assert_int_equal(checking_rules->rule[0].limit, good[n].number);
	}
	assert_int_equal(checking_parse("a: at most 0x b"), KTREAD_E_FORMAT);
	assert_int_equal(checking_parse("a: at most 18446744073709551616 b"), KTREAD_E_FORMAT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, checking_begin, checking_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(invalid_rules_are_refused),
		TEST(any_bytes_give_rules_or_an_error),
		TEST(unknown_names_get_suggestions),
		TEST(numbers_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
