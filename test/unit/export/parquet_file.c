/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the columns of Parquet tables: rows without a value, and words. A word is a string that a table stores
 * once, under a key of 64 bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "export/parquet_file.h"

/*
 * Keys that differ only above bit 31 belong to different words. The numbers of system calls may differ in
 * this way.
 */
static void test_keys_have_64_bits(void **state)
{
	static const uint64_t keys[] = { 1, UINT64_C(0x100000001), UINT64_MAX, UINT32_MAX };
	struct parquet_file *file = calloc(1, sizeof(*file));

	(void)state;
	assert_non_null(file);
	file->folder = -1;
	file->columns = 1;
	file->column[0].type = PARQUET_WORD;
	for (size_t n = 0; n < sizeof(keys) / sizeof(keys[0]); n++) {
		assert_false(parquet_put_word(file, 0, keys[n]));
		parquet_put_new_word(file, 0, keys[n], "word", 4);
		assert_true(parquet_put_word(file, 0, keys[n]));
	}
	assert_int_equal(file->column[0].keys, sizeof(keys) / sizeof(keys[0]));
	parquet_close(file);
	free(file);
}

/* The bit map of the rows that have a value is only made when a value follows a NULL. */
static void test_values_after_a_null_are_marked(void **state)
{
	struct parquet_file *file = calloc(1, sizeof(*file));

	(void)state;
	assert_non_null(file);
	file->folder = -1;
	file->columns = 1;
	for (int row = 0; row < 20; row++) {
		if (row != 10 && row != 12)
			parquet_put_i32(file, 0, row);
		assert_int_equal(file->column[0].marked, row > 10);
		parquet_row(file);
	}
	assert_int_equal(file->column[0].count, 18);
	assert_int_equal(file->column[0].present[0], 0xff);
	assert_int_equal(file->column[0].present[1], 0xeb);
	assert_int_equal(file->column[0].present[2], 0x0f);
	parquet_close(file);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_keys_have_64_bits),
					    cmocka_unit_test(test_values_after_a_null_are_marked) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
