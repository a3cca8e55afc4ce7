/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that --expect finds a text if the output arrives in pieces that split the text at any byte, also
 * after partial matches and between arbitrary bytes. If the output does not contain the text, --expect must
 * not find it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "capture/run_state.h"

static bool found(const char *text, const char *bytes, size_t length, size_t piece)
{
	struct capture_expect expect;

	assert_int_equal(capture_expect_set(&expect, text), 0);
	for (size_t at = 0; at < length; at += piece)
		capture_expect_feed(&expect, bytes + at, length - at < piece ? length - at : piece);
	return expect.seen;
}

static void text_is_found_across_pieces(void **state)
{
	static const char bytes[] = "\0\xff aababaabab\r\nc\r\x80";
	const size_t length = sizeof(bytes) - 1;

	(void)state;
	for (size_t piece = 1; piece <= length; piece++) {
		assert_true(found("aabab\nc", bytes, length, piece));
		assert_true(found("abab\r\nc\x80", bytes, length, piece));
		assert_true(found("\xff a", bytes, length, piece));
		assert_false(found("aababb", bytes, length, piece));
		assert_false(found("aabab\nc\x80z", bytes, length, piece));
	}
}

static void empty_and_long_texts_are_refused(void **state)
{
	struct capture_expect expect;
	char text[CAPTURE_EXPECT_MAX + 2];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[CAPTURE_EXPECT_MAX + 1] = '\0';
	assert_true(capture_expect_set(&expect, text) < 0);
	text[CAPTURE_EXPECT_MAX] = '\0';
	assert_int_equal(capture_expect_set(&expect, text), 0);
	assert_true(capture_expect_set(&expect, "") < 0);
	assert_true(capture_expect_set(&expect, "\r") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_found_across_pieces),
		cmocka_unit_test(empty_and_long_texts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
