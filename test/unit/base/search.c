/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests binary search in sorted arrays. It returns the number of elements below a key, and the number of
 * elements up to and including the key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/index.h"

struct row {
	uint32_t other;
	uint64_t number;
};

static void rows_are_counted_below_and_up_to_a_key(void **state)
{
	static const struct row row[] = { { 9, 2 }, { 8, 4 }, { 7, 4 }, { 6, UINT64_MAX } };
	static const struct {
		uint64_t key;
		size_t below, up_to;
	} expected[] = {
		{ 0, 0, 0 }, { 2, 0, 1 }, { 3, 1, 1 }, { 4, 1, 3 }, { 5, 3, 3 }, { UINT64_MAX, 3, 4 }
	};

	(void)state;
	for (size_t n = 0; n < sizeof(expected) / sizeof(expected[0]); n++) {
		assert_int_equal(
			base_count_below(row, 4, sizeof(*row), offsetof(struct row, number), expected[n].key),
			expected[n].below);
		assert_int_equal(
			base_count_up_to(row, 4, sizeof(*row), offsetof(struct row, number), expected[n].key),
			expected[n].up_to);
	}
}

static void empty_array_has_count_0(void **state)
{
	(void)state;
	assert_int_equal(base_count_below(NULL, 0, sizeof(struct row), offsetof(struct row, number), 1), 0);
	assert_int_equal(base_count_up_to(NULL, 0, sizeof(struct row), offsetof(struct row, number), 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_counted_below_and_up_to_a_key),
		cmocka_unit_test(empty_array_has_count_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
