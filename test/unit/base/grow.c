/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests base_grow(): it keeps the elements, sets new elements to zero, and changes nothing if an allocation
 * fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/grow.h"

static void growing_keeps_the_elements(void **state)
{
	uint32_t room = 0, *array = NULL;

	(void)state;
	for (uint32_t n = 0; n < 1000; n++) {
		array = base_grow(array, &room, n + 1, sizeof(*array));
		assert_non_null(array);
		assert_true(room > n);
		assert_int_equal(array[n], 0);
		array[n] = n + 1;
	}
	for (uint32_t n = 0; n < 1000; n++)
		assert_int_equal(array[n], n + 1);
	assert_true(room < 2 * 1024);
	free(array);
}

static void large_growth_is_done_at_once(void **state)
{
	uint32_t room = 0;
	uint64_t *array = base_grow(NULL, &room, 100000, sizeof(*array)), *same;

	(void)state;
	assert_non_null(array);
	assert_true(room >= 100000);
	for (uint32_t n = 0; n < room; n++)
		assert_int_equal(array[n], 0);
	same = base_grow(array, &room, 5, sizeof(*array));
	assert_ptr_equal(same, array);
	free(array);
}

static void failed_growth_changes_nothing(void **state)
{
	uint32_t room = 0;
	char *array = base_grow(NULL, &room, 1, 1);
	const uint32_t before = room;

	(void)state;
	assert_non_null(array);
	assert_null(base_grow(array, &room, (size_t)UINT32_MAX + 1, 1));
	assert_null(base_grow(array, &room, 1000, SIZE_MAX / 500));
	assert_int_equal(room, before);
	array[before - 1] = 1;
	free(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growing_keeps_the_elements),
		cmocka_unit_test(large_growth_is_done_at_once),
		cmocka_unit_test(failed_growth_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
