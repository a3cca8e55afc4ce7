/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the words of the guest's RAM file that the schedule watches, and the messages about wrong words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schedule/parts.h"

#define SIZE 8192

static char path[] = "/tmp/ktrace-ram-XXXXXX";
static int file = -1;

static int make_file(void **state)
{
	(void)state;
	file = mkstemp(path);
	return file >= 0 ? ftruncate(file, SIZE) : -1;
}

static int remove_file(void **state)
{
	(void)state;
	close(file);
	return unlink(path);
}

static void check_refused(uint64_t position, const char *expected)
{
	const _Atomic uint64_t *word = NULL;
	const char *message = ram_map_word(path, position, &word);

	assert_non_null(message);
	assert_null(word);
	assert_memory_equal(message, path, strlen(path));
	assert_string_equal(message + strlen(path), expected);
}

static void word_shows_what_is_written_to_the_file(void **state)
{
	const uint64_t value = 0x1122334455667788;
	const _Atomic uint64_t *word = NULL;

	(void)state;
	assert_null(ram_map_word(path, 4096 + 16, &word));
	assert_int_equal(*word, 0);
	assert_int_equal(pwrite(file, &value, sizeof(value), 4096 + 16), sizeof(value));
	assert_int_equal(*word, value);
}

static void misaligned_offset_is_named(void **state)
{
	(void)state;
	check_refused(0x1234, ": offset 0x1234 of the watched word is not a multiple of 8");
	check_refused(UINT64_MAX, ": offset 0xffffffffffffffff of the watched word is not a multiple of 8");
}

static void offset_after_the_end_is_named(void **state)
{
	const _Atomic uint64_t *word = NULL;

	(void)state;
	assert_null(ram_map_word(path, SIZE - 8, &word));
	check_refused(SIZE, ": offset 0x2000 of the watched word is after the end of the file, "
			    "which has 0x2000 bytes");
	check_refused(UINT64_MAX - 7, ": offset 0xfffffffffffffff8 of the watched word is after the end of "
				      "the file, which has 0x2000 bytes");
}

/* QEMU may give the file its size after the plugin has started. */
static void word_of_a_file_that_is_still_empty_is_mapped(void **state)
{
	const _Atomic uint64_t *word = NULL;

	(void)state;
	assert_int_equal(ftruncate(file, 0), 0);
	assert_null(ram_map_word(path, 0x1000, &word));
	assert_int_equal(ftruncate(file, SIZE), 0);
	assert_int_equal(*word, 0);
}

static void missing_file_is_named(void **state)
{
	const _Atomic uint64_t *word = NULL;

	(void)state;
	assert_string_equal(ram_map_word("/absent/ram", 0x1000, &word),
			    "/absent/ram: cannot map the watched word at offset 0x1000: "
			    "No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(word_shows_what_is_written_to_the_file),
		cmocka_unit_test(misaligned_offset_is_named),
		cmocka_unit_test(offset_after_the_end_is_named),
		cmocka_unit_test(word_of_a_file_that_is_still_empty_is_mapped),
		cmocka_unit_test(missing_file_is_named),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
