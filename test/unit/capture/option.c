/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the grammar of a QEMU command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "capture/qemu_line.h"

static void options_take_their_values(void **state)
{
	char *const words[] = {
		"qemu-system-x86_64", "disk.img", "-nographic", "--append", "-m 5", "-", "-m", NULL
	};
	struct capture_qemu_option option;
	size_t at = 1;

	(void)state;
	assert_true(capture_qemu_option_next(words, &at, &option));
	assert_string_equal(option.name, "");
	assert_true(capture_qemu_option_next(words, &at, &option));
	assert_true(capture_qemu_option_is(&option, "nographic"));
	assert_null(option.value);
	assert_true(capture_qemu_option_next(words, &at, &option));
	assert_true(capture_qemu_option_is(&option, "append"));
	assert_string_equal(option.value, "-m 5");
	assert_int_equal(option.index, 3);
	assert_true(capture_qemu_option_next(words, &at, &option));
	assert_string_equal(option.name, "");
	assert_true(capture_qemu_option_next(words, &at, &option));
	assert_true(capture_qemu_option_is(&option, "m"));
	assert_null(option.value);
	assert_false(capture_qemu_option_next(words, &at, &option));
}

static void properties_are_found(void **state)
{
	char value[16];

	(void)state;
	assert_true(capture_qemu_property("1G,slots=2", "size", "size", value, sizeof(value)));
	assert_string_equal(value, "1G");
	assert_true(capture_qemu_property("slots=2,size=1G", "size", "size", value, sizeof(value)));
	assert_string_equal(value, "1G");
	assert_true(capture_qemu_property("file,path=a,,b,id=x", "type", "path", value, sizeof(value)));
	assert_string_equal(value, "a,b");
	assert_true(capture_qemu_property("a=1,a=2", NULL, "a", value, sizeof(value)));
	assert_string_equal(value, "2");
	assert_true(capture_qemu_property("a=0123456789abcdefgh", NULL, "a", value, sizeof(value)));
	assert_string_equal(value, "0123456789abcde");
	assert_false(capture_qemu_property("virt,highmem=off", "type", "high", value, sizeof(value)));
	assert_false(capture_qemu_property("x,y", NULL, "x", value, sizeof(value)));
	assert_false(capture_qemu_property("", "type", "type", value, sizeof(value)));
	assert_false(capture_qemu_property(",", NULL, "a", value, sizeof(value)));
}

static void sizes_are_read(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} sizes[] = {
		{ "128", 128ull << 20 }, { "64M", 64ull << 20 }, { "1G", 1ull << 30 }, { "1.5g", 3ull << 29 },
		{ "0x40", 64ull << 20 }, { "4096B", 4096 },	 { "2k", 2048 },       { "1T", 1ull << 40 },
	};
	static const char *const wrong[] = { "", "G", "1GG", "1 G", "-1", "nan", "inf", "99999E", "1X" };
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(capture_qemu_size(sizes[i].text, 1 << 20, &bytes), 0);
		assert_int_equal(bytes, sizes[i].bytes);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_true(capture_qemu_size(wrong[i], 1 << 20, &bytes) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_take_their_values),
		cmocka_unit_test(properties_are_found),
		cmocka_unit_test(sizes_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
