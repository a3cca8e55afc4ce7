/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests writing JSON documents member by member: commas, unknown values, strings. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/json.h"

static struct base_output out;

static int begin(void **state)
{
	(void)state;
	return base_output_open(&out, -1);
}

static int end(void **state)
{
	(void)state;
	out.at = out.buffer; /* empties the buffer, so that closing the output writes nothing to a file */
	base_output_close(&out);
	return 0;
}

static void expect(const char *text)
{
	assert_int_equal(out.at - out.buffer, strlen(text));
	assert_memory_equal(out.buffer, text, strlen(text));
}

static void members_are_separated_at_every_depth(void **state)
{
	(void)state;
	base_json_begin(&out, NULL, '{');
	base_json_put_number(&out, "a", UINT64_MAX);
	base_json_begin(&out, "b", '[');
	base_json_put_number(&out, NULL, 1);
	base_json_begin(&out, NULL, '{');
	base_json_put_bool(&out, "c", true);
	base_json_put_format(&out, "d", "%.2f", 0.5);
	base_output_text(&out, "}]");
	base_json_put_bool(&out, "e", false);
	base_output_text(&out, "}");
	expect("{\"a\":18446744073709551615,\"b\":[1,{\"c\":true,\"d\":0.50}],\"e\":false}");
}

static void elements_may_be_lines(void **state)
{
	(void)state;
	base_json_begin(&out, NULL, '[');
	for (uint32_t n = 0; n < 2; n++) {
		base_output_text(&out, n ? ",\n" : "\n");
		base_json_put_number(&out, NULL, n);
	}
	expect("[\n0,\n1");
}

static void unknown_values_are_null(void **state)
{
	(void)state;
	base_json_begin(&out, NULL, '{');
	base_json_put_known(&out, "a", true, 7);
	base_json_put_known(&out, "b", false, 7);
	base_json_put(&out, "c", "");
	base_json_put_text(&out, "d", "");
	expect("{\"a\":7,\"b\":null,\"c\":null,\"d\":\"\"");
}

static void strings_are_escaped_and_cut(void **state)
{
	static char longer[BASE_JSON_TEXT + 10];

	(void)state;
	base_json_begin(&out, NULL, '{');
	base_json_put_bytes(&out, "a", "{\"\n[", 4);
	base_json_put_text(&out, "b", "[");
	expect("{\"a\":\"{\\\"\\u000a[\",\"b\":\"[\"");
	memset(longer, 'x', sizeof(longer) - 1);
	out.at = out.buffer;
	base_json_put_text(&out, "c", longer);
	assert_int_equal(out.at - out.buffer, strlen("\"c\":\"\"") + BASE_JSON_TEXT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(members_are_separated_at_every_depth, begin, end),
		cmocka_unit_test_setup_teardown(elements_may_be_lines, begin, end),
		cmocka_unit_test_setup_teardown(unknown_values_are_null, begin, end),
		cmocka_unit_test_setup_teardown(strings_are_escaped_and_cut, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
