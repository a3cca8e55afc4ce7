/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Binary search in an array of structures that are sorted by a number:
 *
 *	n = base_count_up_to(all->function, all->functions, sizeof(*all->function),
 *			     offsetof(struct function, address), address);
 *	function = n ? &all->function[n - 1] : NULL;	the last function at or before `address`
 */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the number of elements whose number is below `key`. `array`: `count` elements of `size` bytes; NULL
 * is allowed if `count` is 0. The number of an element is the uint64_t at `offset` in the element. Requires:
 * the numbers are in ascending order.
 */
static inline size_t base_count_below(const void *array, size_t count, size_t size, size_t offset,
				      uint64_t key)
{
	const unsigned char *number = (const unsigned char *)array + (count ? offset : 0);
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (*(const uint64_t *)(const void *)(number + middle * size) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Returns the number of elements whose number is at most `key`. The parameters are the same as for
 * base_count_below().
 */
static inline size_t base_count_up_to(const void *array, size_t count, size_t size, size_t offset,
				      uint64_t key)
{
	return key == UINT64_MAX ? count : base_count_below(array, count, size, offset, key + 1);
}

#endif
