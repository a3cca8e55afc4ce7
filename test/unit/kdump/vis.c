/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests that every byte becomes visible as in vis(3), and that text is truncated to the given length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "kdump/context.h"

static const char *vis_of(uint8_t byte, uint8_t next)
{
	static char text[KDUMP_VIS_GROWTH + 1];

	*kdump_vis_byte(text, byte, next) = '\0';
	return text;
}

static void single_bytes_become_visible(void **state)
{
	static const struct {
		uint8_t byte;
		const char *text;
	} known[] = {
		{ 'a', "a" },	    { '~', "~" },      { ' ', " " },	  { '"', "\"" },
		{ '\\', "\\\\" },   { '\n', "\n" },    { '\t', "\t" },	  { '\r', "\\r" },
		{ '\a', "\\a" },    { '\b', "\\b" },   { '\v', "\\v" },	  { '\f', "\\f" },
		{ 0, "\\0" },	    { 0x1b, "\\^[" },  { 0x7f, "\\^?" },  { 0x01, "\\^A" },
		{ 0xe1, "\\M-a" },  { 0x9b, "\\M^[" }, { 0xff, "\\M^?" }, { 0x80, "\\M^@" },
		{ 0xdc, "\\M-\\" }, { 0xa0, "\\240" },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(known) / sizeof(known[0]); n++)
		assert_string_equal(vis_of(known[n].byte, 0), known[n].text);
	/*
	 * If an octal digit follows, the short escape \0 is not used, because the digit would be read as part
	 * of it.
	 */
	assert_string_equal(vis_of(0, '7'), "\\000");
	assert_string_equal(vis_of(0, '8'), "\\0");
}

/* The output contains no control character, and different bytes give different output. */
static void all_bytes_have_distinct_printable_forms(void **state)
{
	char seen[256][KDUMP_VIS_GROWTH + 1];

	(void)state;
	for (unsigned byte = 0; byte < 256; byte++) {
		strcpy(seen[byte], vis_of((uint8_t)byte, 0));
		for (const char *at = seen[byte]; *at; at++)
			assert_true((*at >= ' ' && *at <= '~') || *at == '\n' || *at == '\t');
		for (unsigned other = 0; other < byte; other++)
			assert_string_not_equal(seen[byte], seen[other]);
	}
}

static const char *text_of(const char *bytes, size_t length, size_t limit, bool quoted)
{
	static char text[64];

	memset(text, '#', sizeof(text));
	*kdump_vis_text(text, bytes, length, limit, quoted) = '\0';
	return text;
}

static void texts_become_visible(void **state)
{
	(void)state;
	assert_string_equal(text_of("a\tb\n", 4, 60, false), "a\\tb\\n");
	assert_string_equal(text_of("say \"no\"", 8, 60, false), "say \"no\"");
	assert_string_equal(text_of("say \"no\"", 8, 60, true), "say \\\"no\\\"");
	assert_string_equal(text_of("\0001\0", 3, 60, false), "\\0001\\0");
	assert_string_equal(text_of("", 0, 60, false), "");
}

/* The number of bytes that need no escape is counted up to the first byte that needs one, at any position. */
static void plain_beginning_ends_at_special_byte(void **state)
{
	uint8_t bytes[24];

	(void)state;
	for (unsigned byte = 0; byte < 256; byte++) {
		bool plain = byte >= ' ' && byte < 0x7f && byte != '\\' && byte != '"';

		for (size_t place = 0; place < sizeof(bytes); place++) {
			memset(bytes, '~', sizeof(bytes));
			bytes[place] = (uint8_t)byte;
			assert_int_equal(kdump_vis_plain(bytes, sizeof(bytes)),
					 plain ? sizeof(bytes) : place);
			assert_int_equal(kdump_vis_plain(bytes, place), place);
		}
	}
	assert_int_equal(kdump_vis_plain(bytes, 0), 0);
}

static void text_is_cut_between_sequences(void **state)
{
	char whole[64];

	(void)state;
	strcpy(whole, text_of("ab\x1b"
			      "c\xff\"d",
			      7, 60, true));
	assert_string_equal(whole, "ab\\^[c\\M^?\\\"d");
	for (size_t limit = 0; limit <= strlen(whole); limit++) {
		const char *part = text_of("ab\x1b"
					   "c\xff\"d",
					   7, limit, true);

		assert_true(strlen(part) <= limit);
		assert_memory_equal(part, whole, strlen(part));
		/* Checks that a truncated text never ends with a part of an escape. */
		assert_true(limit - strlen(part) < KDUMP_VIS_GROWTH);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_bytes_become_visible),
		cmocka_unit_test(all_bytes_have_distinct_printable_forms),
		cmocka_unit_test(texts_become_visible),
		cmocka_unit_test(plain_beginning_ends_at_special_byte),
		cmocka_unit_test(text_is_cut_between_sequences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
