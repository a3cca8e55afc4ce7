/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Compares the value of a given rank in a histogram with the value of this rank in a sorted list. If a
 * histogram has more values than it can store exactly, the two values may differ by the promised error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analyze/histogram.h"
#include "unit/support/random.h"

#define MANY 50000u

static uint64_t seed = 1;

/* Returns a random number with a random number of bits, so that all magnitudes occur. */
static uint64_t next_random(void)
{
	return random_word(&seed) >> random_below(&seed, 63);
}

static int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void ranks_match_a_sorted_list(void **state)
{
	(void)state;
	assert_int_equal(histogram_rank(1, 50, 100), 1);
	assert_int_equal(histogram_rank(2, 50, 100), 1);
	assert_int_equal(histogram_rank(3, 50, 100), 2);
	assert_int_equal(histogram_rank(100, 99, 100), 99);
	assert_int_equal(histogram_rank(101, 99, 100), 100);
	assert_int_equal(histogram_rank(10, 0, 100), 1);
	assert_true(histogram_rank(UINT64_MAX, 100, 100) == UINT64_MAX);
}

/*
 * If there are few values, the value of each rank is exact. The order in which values are added does not
 * matter.
 */
static void few_values_are_exact(void **state)
{
	struct histogram histogram = { 0 };
	uint64_t value[HISTOGRAM_EXACT];

	(void)state;
	for (uint32_t n = 0; n < HISTOGRAM_EXACT; n++) {
		value[n] = next_random();
		assert_int_equal(histogram_add(&histogram, value[n]), 0);
	}
	qsort(value, HISTOGRAM_EXACT, sizeof(value[0]), by_value);
	assert_false(histogram.counted);
	for (uint32_t n = 0; n < HISTOGRAM_EXACT; n++)
		assert_true(histogram_nth(&histogram, n + 1) == value[n]);
	assert_true(histogram.least == value[0] && histogram.greatest == value[HISTOGRAM_EXACT - 1]);
	assert_int_equal(histogram_below(&histogram, value[HISTOGRAM_EXACT - 1]), HISTOGRAM_EXACT - 1);
	histogram_free(&histogram);
}

/*
 * If there are many values, the returned value is never too small, and is too large by at most the promised
 * fraction.
 */
static void many_values_are_within_the_error(void **state)
{
	struct histogram histogram = { 0 };
	uint64_t *value = malloc(MANY * sizeof(*value));
	double sum = 0;

	(void)state;
	for (uint32_t n = 0; n < MANY; n++) {
		value[n] = next_random();
		sum += (double)value[n];
		assert_int_equal(histogram_add(&histogram, value[n]), 0);
	}
	qsort(value, MANY, sizeof(value[0]), by_value);
	assert_true(histogram.counted && histogram.value == NULL);
	for (uint32_t n = 0; n < MANY; n++) {
		uint64_t got = histogram_nth(&histogram, n + 1);

		assert_true(got >= value[n]);
		assert_true(got - value[n] <= value[n] / HISTOGRAM_STEPS);
	}
	assert_int_equal(histogram.count, MANY);
	assert_true(histogram.sum == sum);
	assert_true(histogram_nth(&histogram, MANY) == value[MANY - 1]);
	histogram_free(&histogram);
	free(value);
}

/* Adds only the smallest and the largest possible value, 0 and UINT64_MAX. */
static void extreme_values_are_counted(void **state)
{
	struct histogram histogram = { 0 };

	(void)state;
	for (uint32_t n = 0; n <= HISTOGRAM_EXACT; n++) {
		assert_int_equal(histogram_add(&histogram, 0), 0);
		assert_int_equal(histogram_add(&histogram, UINT64_MAX), 0);
	}
	assert_int_equal(histogram_nth(&histogram, HISTOGRAM_EXACT + 1), 0);
	assert_true(histogram_nth(&histogram, HISTOGRAM_EXACT + 2) == UINT64_MAX);
	assert_int_equal(histogram_below(&histogram, 1), HISTOGRAM_EXACT + 1);
	histogram_free(&histogram);
}

/*
 * Memory is bounded: values are not stored in a list. Only counters are allocated, one page for each power of
 * two that occurs.
 */
static void memory_is_bounded(void **state)
{
	struct histogram histogram = { 0 };
	unsigned octaves = 0;

	(void)state;
	for (uint32_t n = 0; n < MANY; n++)
		assert_int_equal(histogram_add(&histogram, 1000 + n % 1000), 0);
	for (unsigned n = 0; n <= HISTOGRAM_OCTAVES; n++)
		octaves += histogram.octave[n] != NULL;
	assert_in_range(octaves, 1, 2);
	histogram_free(&histogram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_match_a_sorted_list),
		cmocka_unit_test(few_values_are_exact),
		cmocka_unit_test(many_values_are_within_the_error),
		cmocka_unit_test(extreme_values_are_counted),
		cmocka_unit_test(memory_is_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
