/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the protobuf writer. It writes bytes as the format defines, and no byte after the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "export/perfetto.h"

static unsigned char buffer[40000];
static struct protobuf pb;

static int begin(void **state)
{
	(void)state;
	memset(buffer, 0xee, sizeof(buffer));
	pb = (struct protobuf){ .at = buffer, .limit = buffer + sizeof(buffer) };
	return 0;
}

static void expect(const char *bytes, size_t length)
{
	assert_int_equal(pb.at - buffer, length);
	assert_memory_equal(buffer, bytes, length);
	assert_false(pb.overflow);
}

static void numbers_are_encoded(void **state)
{
	(void)state;
	protobuf_uint(&pb, 1, 0);
	protobuf_uint(&pb, 15, 127);
	protobuf_uint(&pb, 16, 128);
	protobuf_uint(&pb, 122, 300);
	protobuf_int(&pb, 2, -1);
	expect("\x08\x00"
	       "\x78\x7f"
	       "\x80\x01\x80\x01"
	       "\xd0\x07\xac\x02"
	       "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	       23);
}

static void nested_messages_are_encoded(void **state)
{
	unsigned char *outer, *inner;

	(void)state;
	outer = protobuf_begin(&pb, 1);
	inner = protobuf_begin(&pb, 2);
	protobuf_uint(&pb, 3, 5);
	protobuf_end(&pb, inner);
	inner = protobuf_begin(&pb, 4);
	protobuf_end(&pb, inner);
	protobuf_end(&pb, outer);
	expect("\x0a\x06\x12\x02\x18\x05\x22\x00", 8);
}

/*
 * The length before a message's content takes one, two or three bytes. The writer moves the content when its
 * length is known.
 */
static void long_messages_are_encoded(void **state)
{
	static const struct {
		size_t bytes;
		const char *head;
		size_t head_size;
	} cases[] = {
		{ 127, "\x0a\x7f", 2 },
		{ 128, "\x0a\x80\x01", 3 },
		{ 16383, "\x0a\xff\x7f", 3 },
		{ 16384, "\x0a\x80\x80\x01", 4 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char *message;

		begin(state);
		message = protobuf_begin(&pb, 1);
		for (size_t n = 0; n < cases[i].bytes; n++)
			*pb.at++ = (unsigned char)n;
		protobuf_end(&pb, message);
		assert_memory_equal(buffer, cases[i].head, cases[i].head_size);
		assert_int_equal(pb.at - buffer, cases[i].bytes + cases[i].head_size);
		for (size_t n = 0; n < cases[i].bytes; n++)
			assert_int_equal(buffer[cases[i].head_size + n], (unsigned char)n);
	}
}

static void expect_text(const char *from, size_t length, size_t most, const char *wanted)
{
	begin(NULL);
	protobuf_text(&pb, 1, from, length, most);
	assert_int_equal(buffer[1], strlen(wanted));
	assert_memory_equal(buffer + 2, wanted, strlen(wanted));
	assert_int_equal(pb.at - buffer, strlen(wanted) + 2);
}

static void texts_are_utf8(void **state)
{
	(void)state;
	expect_text("plain", 5, 100, "plain");
	expect_text("plain", 5, 3, "pla");
	expect_text("", 0, 100, "");
	expect_text("a\0b", 3, 100, "a\\x00b");
	expect_text("\n\x1b\x7f", 3, 100, "\\x0a\\x1b\\x7f");
	expect_text("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 11, 100,
		    "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	expect_text("\xc3", 1, 100, "\\xc3"); /* an incomplete character */
	/* a character that does not fit as a whole is left out */
	expect_text("\xc3\xa9", 2, 1, "");
	/* invalid: continuation byte without a start byte */
	expect_text("\x80", 1, 100, "\\x80");
	expect_text("\xc0\x80", 2, 100, "\\xc0\\x80");		/* overlong encoding */
	expect_text("\xe0\x80\x80", 3, 100, "\\xe0\\x80\\x80"); /* overlong encoding */
	/* invalid: half of a surrogate pair */
	expect_text("\xed\xa0\x80", 3, 100, "\\xed\\xa0\\x80");
	/* greater than the greatest code of Unicode */
	expect_text("\xf4\x90\x80\x80", 4, 100, "\\xf4\\x90\\x80\\x80");
	expect_text("\xc2\x9b", 2, 100, "\\xc2\\x9b"); /* valid, but a control character of a terminal */
	expect_text("\xff", 1, 100, "\\xff");
}

/*
 * A message is written to buffers of many sizes. If it does not fit, the writer reports this, and writes no
 * byte after the limit.
 */
static void no_byte_beyond_the_limit_is_written(void **state)
{
	(void)state;
	for (size_t room = 0; room < 400; room++) {
		unsigned char *outer, *inner;

		begin(state);
		pb.limit = buffer + room;
		outer = protobuf_begin(&pb, 1);
		protobuf_uint(&pb, 100, UINT64_MAX);
		inner = protobuf_begin(&pb, 2);
		for (unsigned i = 0; i < 20; i++)
			protobuf_text(&pb, 3, "\xff\xff\xff", 3, 3);
		protobuf_bytes(&pb, 4, "some bytes", 10);
		protobuf_end(&pb, inner);
		protobuf_end(&pb, outer);
		assert_true(pb.overflow || pb.at <= pb.limit);
		for (size_t n = room; n < 400; n++)
			assert_int_equal(buffer[n], 0xee);
		if (room == 399)
			assert_false(pb.overflow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(numbers_are_encoded, begin),
		cmocka_unit_test_setup(nested_messages_are_encoded, begin),
		cmocka_unit_test_setup(long_messages_are_encoded, begin),
		cmocka_unit_test_setup(texts_are_utf8, begin),
		cmocka_unit_test_setup(no_byte_beyond_the_limit_is_written, begin),
	};

	return cmocka_run_group_tests_name("perfetto_protobuf", tests, NULL, NULL);
}
