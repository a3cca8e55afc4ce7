/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests escaping of hostile bytes for terminals and for JSON. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

static void assert_json(const char *expected, const char *bytes, size_t length)
{
	char buffer[256];
	char *end = base_escape_json(buffer, bytes, length);

	assert_true((size_t)(end - buffer) <= BASE_ESCAPE_JSON_GROWTH * length);
	*end = '\0';
	assert_string_equal(expected, buffer);
}

static void json_escapes_what_it_must(void **state)
{
	(void)state;
	assert_json("plain text", "plain text", 10);
	assert_json("\\\"\\\\/", "\"\\/", 3);
	assert_json("a\\u0000\\u000a\\u001b\\u007f", "a\0\n\033\177", 5);
}

static void json_keeps_valid_utf8_only(void **state)
{
	(void)state;
	assert_json("\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9e", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9e", 9);
	assert_json("\\u00c3", "\xc3", 1);				    /* cut */
	assert_json("\\u00e2\\u0082", "\xe2\x82", 2);			    /* cut */
	assert_json("\\u00c0\\u00af", "\xc0\xaf", 2);			    /* overlong encoding */
	assert_json("\\u00e0\\u0080\\u00af", "\xe0\x80\xaf", 3);	    /* overlong encoding */
	assert_json("\\u00ed\\u00a0\\u0080", "\xed\xa0\x80", 3);	    /* surrogate */
	assert_json("\\u00f4\\u0090\\u0080\\u0080", "\xf4\x90\x80\x80", 4); /* greater than U+10FFFF */
	assert_json("\\u00ff\\u0080", "\xff\x80", 2);
}

static void json_escapes_harmful_characters(void **state)
{
	(void)state;
	assert_json("\\u009b\\u0085", "\xc2\x9b\xc2\x85", 4);
	assert_json("\\u009b", "\x9b", 1);
	assert_json("\\u061c\\u200e\\u202e\\u2066\\ufeff\\u2028",
		    "\xd8\x9c\xe2\x80\x8e\xe2\x80\xae\xe2\x81\xa6\xef\xbb\xbf\xe2\x80\xa8", 17);
	assert_json("\\udb40\\udc01\\ud83f\\udffe", "\xf3\xa0\x80\x81\xf0\x9f\xbf\xbe", 8);
}

static void viewers_get_harmless_utf8_only(void **state)
{
	char buffer[64];

	(void)state;
	*base_escape_utf8(buffer, "\xc3\xa9\xc2\x9b\xe2\x80\xae\xff\n~", 10, sizeof(buffer)) = '\0';
	assert_string_equal(buffer, "\xc3\xa9\\xc2\\x9b\\xe2\\x80\\xae\\xff\\x0a~");
	*base_escape_utf8(buffer, "ab\xc3\xa9", 4, 3) = '\0';
	assert_string_equal(buffer, "ab");
	*base_escape_utf8(buffer, "ab\x1b", 3, 5) = '\0';
	assert_string_equal(buffer, "ab");
}

static void assert_terminal(const char *expected, const char *bytes, size_t length, size_t limit)
{
	char buffer[256];
	char *end = base_escape_text(buffer, bytes, length, limit);

	*end = '\0';
	assert_string_equal(expected, buffer);
}

static void terminals_get_printable_ascii_only(void **state)
{
	(void)state;
	assert_terminal("worker/3", "worker/3", 8, 100);
	assert_terminal("\\x1b[2J\\x00\\xff\\", "\033[2J\0\xff\\", 7, 100);
}

static void no_escape_is_cut(void **state)
{
	(void)state;
	assert_terminal("abc", "abcdef", 6, 3);
	assert_terminal("ab", "ab\033cd", 5, 5);
	assert_terminal("", "\n", 1, 3);
}

static void documents_keep_their_syntax_and_lose_harmful_characters(void **state)
{
	char *text = base_escape_json_document("{\"a\\n\": [\"\303\244\342\200\256\302\233\177\", 1]}");

	(void)state;
	assert_string_equal(text, "{\"a\\n\": [\"\303\244\\u202e\\u009b\\u007f\", 1]}");
	free(text);
	assert_null(base_escape_json_document(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_escapes_what_it_must),
		cmocka_unit_test(json_keeps_valid_utf8_only),
		cmocka_unit_test(json_escapes_harmful_characters),
		cmocka_unit_test(viewers_get_harmless_utf8_only),
		cmocka_unit_test(terminals_get_printable_ascii_only),
		cmocka_unit_test(no_escape_is_cut),
		cmocka_unit_test(documents_keep_their_syntax_and_lose_harmful_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
