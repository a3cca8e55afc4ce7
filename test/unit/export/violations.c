/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the findings of `ktrace check` as JSON: the certainty of each finding, and the text of events without
 * a format text.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/views.h"
#include "unit/support/script.h"

static char text[8192];

static void ignore(void *context, const struct check_violation *violation)
{
	(void)context;
	(void)violation;
}

/*
 * Checks the script against rules. If `unread` is true, the check acts as if the trace could not be read to
 * its end.
 */
static void check(const char *words, bool unread)
{
	struct check_result results[RULES_MAX];
	struct violations found = {
		.trace = script_trace(), .result = results, .path = "a.rules", .unread = unread
	};
	struct rules_error error;
	struct base_output out;
	struct rules *rules;
	FILE *file = tmpfile();
	size_t length;

	memset(results, 0, sizeof(results));
	assert_non_null(file);
	assert_int_equal(rules_parse(&rules, words, strlen(words), &error), 0);
	assert_int_equal(rules_bind(rules, script_trace(), &error), 0);
	assert_int_equal(ktread_rewind(script_trace()), 0);
	assert_int_equal(check_read(rules, script_trace(), 0, results, ignore, NULL), 0);
	found.rules = rules;
	assert_int_equal(base_output_open(&out, fileno(file)), 0);
	assert_int_equal(violations_write_json(&out, &found), 0);
	assert_int_equal(base_output_close(&out), 0);
	free(rules);
	rewind(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
}

static void has(const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' is not in:\n%s", words, text);
}

static int begin(void **state)
{
	(void)state;
	script_begin(2);
	script_type(1, "user", "tick", "");
	script_type(2, "user", "tock", "u32 value");
	script_event(1, 1000, 0, 5);
	script_event(2, 2000, 0, 5, (uint64_t)7);
	return 0;
}

static int end(void **state)
{
	(void)state;
	script_end();
	return 0;
}

static void text_of_an_event_without_fields_is_empty(void **state)
{
	(void)state;
	check("a: never user.tock", false);
	has("\"event\":\"user.tick\",\"text\":\"\"}");
}

static void violation_by_one_event_is_certain(void **state)
{
	(void)state;
	check("a: never user.tock", false);
	has("{\"mark\":\"wrong\",\"kind\":\"a\",\"certain\":\"certain\",\"what\":\"VIOLATED 1 time, ");
}

static void kept_rule_is_ok_only_if_the_trace_was_read(void **state)
{
	(void)state;
	check("a: always user.tock has (value == 7)", false);
	has("{\"mark\":\"ok\",\"kind\":\"a\",\"certain\":\"certain\",\"what\":\"holds, 1 time\"");
	has("\"evidence\":[],\"advice\":null,\"where\":null,\"partial\":false,");
	check("a: always user.tock has (value == 7)", true);
	has("{\"mark\":\"note\",\"kind\":\"a\",\"certain\":\"possible\","
	    "\"what\":\"holds in the part that was read, 1 time\",\"evidence\":["
	    "\"incomplete: the end of the trace is missing or cannot be read, and was not checked\"],"
	    "\"advice\":null,\"where\":null,\"partial\":true,");
}

static void each_rule_reports_an_incomplete_trace(void **state)
{
	(void)state;
	check("a: never user.tock\noptional\nb: never user.tick (missing == 1)", true);
	has("\"certain\":\"certain\",\"what\":\"VIOLATED 1 time, ");
	has("\"evidence\":[\"incomplete: the end of the trace is missing or cannot be read, and was not "
	    "checked\"],\"advice\":null,\"where\":\"");
	has("\"what\":\"not checked: user.tick has no field 'missing'\",\"evidence\":[\"incomplete: ");
}

static void event_that_was_switched_off_is_named(void **state)
{
	(void)state;
	script_type(3, "ktrace", "switched", "u16 first,u16 last,u8 state");
	script_event(3, 2100, 0, 0, (uint64_t)2, (uint64_t)2, (uint64_t)0);
	script_event(1, 2200, 0, 5);
	script_event(1, 2300, 0, 5);
	check("a: never user.tick after user.tick unless user.tock by @cpu", false);
	has("\"what\":\"holds, 2 times\",\"evidence\":[\"not decided: 1 time because user.tock was off\"]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(text_of_an_event_without_fields_is_empty, begin, end),
		cmocka_unit_test_setup_teardown(violation_by_one_event_is_certain, begin, end),
		cmocka_unit_test_setup_teardown(kept_rule_is_ok_only_if_the_trace_was_read, begin, end),
		cmocka_unit_test_setup_teardown(each_rule_reports_an_incomplete_trace, begin, end),
		cmocka_unit_test_setup_teardown(event_that_was_switched_off_is_named, begin, end),
	};

	return cmocka_run_group_tests_name("violations", tests, NULL, NULL);
}
