/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the alignment of two sequences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "diff/pairs.h"
#include "unit/support/random.h"

#define SMALL 24u
#define LARGE 200000u

/*
 * Fails unless the elements of each pair are equal, and the pairs are in ascending order. Returns the number
 * of pairs.
 */
static uint32_t check(const uint64_t *a, uint32_t as, const uint64_t *b, uint32_t bs, const uint32_t *pair)
{
	uint32_t count = 0, next = 0;

	for (uint32_t n = 0; n < as; n++) {
		if (pair[n] == SEQUENCE_NONE)
			continue;
		assert_true(pair[n] >= next && pair[n] < bs);
		assert_true(a[n] == b[pair[n]]);
		next = pair[n] + 1;
		count++;
	}
	return count;
}

/* Returns the length of the longest common subsequence, computed with a table of all pairs of prefixes. */
static uint32_t longest(const uint64_t *a, uint32_t as, const uint64_t *b, uint32_t bs)
{
	uint32_t table[SMALL + 1][SMALL + 1] = { { 0 } };

	for (uint32_t i = 1; i <= as; i++)
		for (uint32_t j = 1; j <= bs; j++) {
			table[i][j] = table[i - 1][j] > table[i][j - 1] ? table[i - 1][j] : table[i][j - 1];
			if (a[i - 1] == b[j - 1] && table[i - 1][j - 1] + 1 > table[i][j])
				table[i][j] = table[i - 1][j - 1] + 1;
		}
	return table[as][bs];
}

static void short_sequences_get_the_longest_common_subsequence(void **state)
{
	uint64_t a[SMALL], b[SMALL], random = 1;
	uint32_t pair[SMALL];

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		const uint32_t as = (uint32_t)(random_word(&random) % (SMALL + 1));
		const uint32_t bs = (uint32_t)(random_word(&random) % (SMALL + 1));
		const uint64_t letters = 1 + random_word(&random) % 6;

		for (uint32_t n = 0; n < SMALL; n++) {
			a[n] = random_word(&random) % letters;
			b[n] = random_word(&random) % letters;
		}
		assert_int_equal(sequence_align(a, as, b, bs, pair), 0);
		assert_int_equal(check(a, as, b, bs, pair), longest(a, as, b, bs));
	}
}

/* Compares two long sequences. On average, one of `change` elements differs. Returns the number of pairs. */
static uint32_t align_long(uint64_t letters, uint64_t change)
{
	uint64_t *a = malloc(LARGE * sizeof(*a)), *b = malloc(LARGE * sizeof(*b)), random = 7;
	uint32_t *pair = malloc(LARGE * sizeof(*pair)), found;

	assert_true(a && b && pair);
	for (uint32_t n = 0; n < LARGE; n++) {
		a[n] = random_word(&random) % letters;
		b[n] = random_word(&random) % change ? a[n] : letters + random_word(&random) % letters;
	}
	assert_int_equal(sequence_align(a, LARGE, b, LARGE, pair), 0);
	found = check(a, LARGE, b, LARGE, pair);
	free(a);
	free(b);
	free(pair);
	return found;
}

static void long_sequences_are_aligned_in_bounded_time(void **state)
{
	(void)state;
	assert_true(align_long(50, 1000) > LARGE - LARGE / 900);
	assert_true(align_long(50, 10) > LARGE * 8 / 10);
	/* All elements differ. The time must depend on the cost limit, not on the square of the length. */
	assert_int_equal(align_long(1000000, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_sequences_get_the_longest_common_subsequence),
		cmocka_unit_test(long_sequences_are_aligned_in_bounded_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
