/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Pseudorandom numbers for tests. The same seed gives the same sequence in each run. */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <stdint.h>

/* Returns the next number. The multiplier and the increment are those of Knuth's MMIX. */
static inline uint64_t random_word(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed ^ *seed >> 31;
}

/* Returns a number below `limit`. Requires: `limit` is from 1 to 2^31. */
static inline uint32_t random_below(uint64_t *seed, uint32_t limit)
{
	return (uint32_t)(random_word(seed) >> 33) % limit;
}

#endif
