/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests bounds of the differences between clocks: bounds that contradict each other, and bounds that
 * contradict the limits of a clock's error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/align.h"

/* Contradictory bounds are ignored. All other bounds still hold. */
static void contradictory_bounds_are_ignored(void **state)
{
	struct bounds bounds;
	int64_t forward[3];

	(void)state;
	assert_int_equal(bounds_init(&bounds, 3), 0);
	bounds_add(&bounds, 0, 1, -100);
	bounds_add(&bounds, 1, 0, 130);
	assert_int_equal(bounds_solve(&bounds, 5, forward), 0);
	assert_in_range(forward[1], 105, 125);
	assert_true(forward[2] == BOUNDS_NONE);
	bounds_add(&bounds, 1, 0, 60); /* 60 and -100 are contradictory: their sum is less than 0 */
	assert_int_equal(bounds_solve(&bounds, 5, forward), 1);
	bounds_free(&bounds);
}

/* A cycle of three bounds, no two of which contradict each other. */
static void cycles_of_three_are_found(void **state)
{
	struct bounds bounds;
	int64_t forward[3];

	(void)state;
	assert_int_equal(bounds_init(&bounds, 3), 0);
	bounds_add(&bounds, 0, 1, 40);
	bounds_add(&bounds, 1, 2, 40);
	bounds_add(&bounds, 2, 0, -70);
	assert_int_equal(bounds_solve(&bounds, 5, forward), 0);
	assert_int_equal(forward[0], 0);
	assert_true(forward[2] - forward[0] <= -70 - 3 && forward[1] - forward[2] <= 40 - 3);
	bounds_add(&bounds, 2, 0, -90);
	assert_int_equal(bounds_solve(&bounds, 5, forward), 1);
	bounds_free(&bounds);
}

/* If a bound contradicts a limit, the bound is ignored and the limit still holds. */
static void limits_are_kept(void **state)
{
	struct bounds bounds;
	int64_t forward[3];

	(void)state;
	assert_int_equal(bounds_init(&bounds, 3), 0);
	bounds_limit(&bounds, 1, 20, 10);
	bounds_limit(&bounds, 2, 20, 10);
	bounds_add(&bounds, 0, 1, -8);
	bounds_add(&bounds, 1, 2, 14);
	assert_int_equal(bounds_solve(&bounds, 5, forward), 0);
	assert_in_range(forward[1], 9, 10);
	assert_true(forward[2] >= -4 && forward[2] <= 10);
	bounds_add(&bounds, 0, 2, -30);
	assert_int_equal(bounds_solve(&bounds, 5, forward), 1);
	assert_in_range(forward[1], 9, 10);
	bounds_add(&bounds, 1, 0, -30);
	assert_int_equal(bounds_solve(&bounds, 5, forward), 1);
	assert_in_range(forward[1], 9, 10);
	bounds_clear(&bounds);
	bounds_add(&bounds, 0, 1, -30);
	assert_int_equal(bounds_solve(&bounds, 5, forward), 0);
	assert_in_range(forward[1], 31, 35);
	bounds_free(&bounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contradictory_bounds_are_ignored),
		cmocka_unit_test(cycles_of_three_are_found),
		cmocka_unit_test(limits_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
