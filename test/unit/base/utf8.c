/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the functions of base/escape.h with all code points, and with all types of invalid UTF-8. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/escape.h"

#define REPLACEMENT 0xfffdu /* the character that replaces invalid bytes */
#define MOST	    4	    /* maximum length of a character, in bytes */

static size_t encode(char to[MOST], uint32_t code)
{
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t size;

	if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		code = REPLACEMENT;
	size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = size - 1; i > 0; i--, code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)(size == 1 ? code : first[size] | code);
	return size;
}

static void every_character_is_decoded_as_it_was_encoded(void **state)
{
	(void)state;
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		char bytes[MOST];
		size_t size = encode(bytes, code);
		uint32_t back = 0;

		assert_int_equal(base_utf8_decode(bytes, size, &back), size);
		assert_int_equal(back, code >= 0xd800 && code <= 0xdfff ? REPLACEMENT : code);
		for (size_t cut = 0; cut < size; cut++)
			assert_int_equal(base_utf8_decode(bytes, cut, &back), 0);
	}
}

static void invalid_sequences_are_not_decoded(void **state)
{
	static const char *const bad[] = {
		"\x80",		    /* invalid: begins with a continuation byte */
		"\xc0\xaf",	    /* overlong encoding */
		"\xc1\xbf",	    /* overlong encoding */
		"\xe0\x80\xaf",	    /* overlong encoding */
		"\xe0\x9f\xbf",	    /* overlong encoding */
		"\xf0\x80\x80\xaf", /* overlong encoding */
		"\xf0\x8f\xbf\xbf", /* overlong encoding */
		"\xed\xa0\x80",	    /* high surrogate */
		"\xed\xbf\xbf",	    /* low surrogate */
		"\xf4\x90\x80\x80", /* greater than U+10FFFF */
		"\xf5\x80\x80\x80", /* greater than U+10FFFF */
		"\xff",
		"\xc3(",
		"\xe2\x82(",
	};
	uint32_t code;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(base_utf8_decode(bad[i], strlen(bad[i]), &code), 0);
}

static void control_and_format_characters_are_harmful(void **state)
{
	static const uint32_t harmful[] = { 0,	     '\t',    '\n',    0x1b,	 0x7f,	  0x80,
					    0x85,    0x9b,    0x9f,    0x61c,	 0x200b,  0x200e,
					    0x200f,  0x2028,  0x2029,  0x202a,	 0x202e,  0x2066,
					    0x2069,  0xfeff,  0xd800,  0xdfff,	 0xfffe,  0xffff,
					    0x1fffe, 0xe0001, 0xe007f, 0x10ffff, 0x110000 };
	static const uint32_t harmless[] = { ' ',   'a',    '~',    0xa0,   0xe9,   0x3a9,
					     0x627, 0x20ac, 0x4e00, 0xfffd, 0x1f41e };

	(void)state;
	for (size_t i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++)
		assert_false(base_utf8_is_harmless(harmful[i]));
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		assert_true(base_utf8_is_harmless(harmless[i]));
}

static void no_character_is_cut(void **state)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9ez";
	static const size_t kept[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11 };

	(void)state;
	for (size_t most = 0; most < sizeof(kept) / sizeof(kept[0]); most++)
		assert_int_equal(base_utf8_cut(text, strlen(text), most), kept[most]);
	assert_int_equal(base_utf8_cut(text, 3, 100), 3);
	/* a text of bytes that are not UTF-8 may be truncated after any byte */
	assert_int_equal(base_utf8_cut("\x80\x80\x80\x80\x80", 5, 4), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_character_is_decoded_as_it_was_encoded),
		cmocka_unit_test(invalid_sequences_are_not_decoded),
		cmocka_unit_test(control_and_format_characters_are_harmful),
		cmocka_unit_test(no_character_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
