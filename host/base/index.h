/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds rows in arrays: by a hash table of row numbers, or by binary search.
 *
 * With the hash table, the index, the caller has the rows and their keys in an array. The index finds the
 * numbers of rows that may have a given key, and the caller compares the keys:
 *
 *	uint64_t hash = base_hash(0, number);
 *
 *	for (uint32_t probe = 0, row; base_index_next(&index, hash, &probe, &row);)
 *		if (array[row].number == number)
 *			return &array[row];
 *
 * Open addressing with linear probing; at most half of the slots are in use. Nothing may depend on the
 * order of slots: each execution of the program computes different hashes.
 */
#ifndef BASE_INDEX_H
#define BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Hashes ---- */

/*
 * Random numbers, chosen once when the program starts. The author of a hostile trace does not know these
 * numbers, and so cannot choose keys with equal hashes, which would make each lookup as slow as a search of
 * all rows. If the system provides no random numbers, these numbers are constants; lookups in a hostile trace
 * may then be slow.
 */
extern uint64_t base_hash_secret[2];

/*
 * Returns the hash of a key. For a key of several 64-bit words: base_hash(base_hash(0, first), second).
 * Different keys of one word always have different hashes. The last multiplication, by a random odd number,
 * limits collisions: for any two keys of one word, the probability that their hashes have the same first n
 * bits is at most 2 / 2^n. The earlier steps spread keys that have equal distances from each other, such as
 * addresses in an array.
 */
static inline uint64_t base_hash(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * base_hash_secret[0];
	hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return (hash ^ hash >> 32) * base_hash_secret[1];
}

/*
 * Returns a hash of a number of 32 bits in fewer steps, for tables that are searched at each event. The
 * probability of collisions is the same as for base_hash(). Hashes of different numbers differ in their upper
 * halves, so a row that base_index_next() finds is always the row of that number.
 */
static inline uint64_t base_hash_id(uint32_t id)
{
	id *= (uint32_t)base_hash_secret[0];
	return (uint64_t)((id ^ id >> 16) * (uint32_t)base_hash_secret[1]) << 32;
}

/* Continues a hash with bytes of the key, and with their number. */
uint64_t base_hash_bytes(uint64_t hash, const void *bytes, size_t length);
/* Continues a hash with the bytes of a string. NULL and "" have different hashes. */
uint64_t base_hash_text(uint64_t hash, const char *text);

/* ---- The index: a hash table of row numbers ---- */

struct base_index_slot {
	uint32_t hash;
	uint32_t row; /* number of the row, plus 1; 0: the slot is empty */
};

/*
 * An index. A zero-initialised index is empty and ready for use. The caller owns it and frees it with
 * base_index_free().
 */
struct base_index {
	struct base_index_slot *slot;
	uint32_t count; /* number of rows in the index */
	uint32_t shift; /* the index has 2^(32 - shift) slots */
};

/*
 * Sets *row to the next row whose hash has the same upper half as `hash`. `*probe` must be 0 before the first
 * call. Returns false if there are no more. Between calls with the same `*probe`, rows must not be added or
 * removed.
 */
static inline bool base_index_next(const struct base_index *index, uint64_t hash, uint32_t *probe,
				   uint32_t *row)
{
	const uint32_t kept = (uint32_t)(hash >> 32);

	while (index->slot) {
		const uint32_t at = ((kept >> index->shift) + (*probe)++) & UINT32_MAX >> index->shift;
		const struct base_index_slot *slot = &index->slot[at];

		if (slot->row == 0)
			break;
		*row = slot->row - 1;
		if (slot->hash == kept)
			return true;
	}
	return false;
}

/*
 * Adds `row`, a number of at most UINT32_MAX - 1. Requires: the row is not in the index. Returns 0, or -1 if
 * out of memory or if the index contains 2^31 rows; the index is then unchanged. A call directly after
 * base_index_remove() does not fail.
 */
int base_index_add(struct base_index *index, uint64_t hash, uint32_t row);
/* Removes a row. Requires: the row was added with this hash, and is in the index. */
void base_index_remove(struct base_index *index, uint64_t hash, uint32_t row);
/* Frees the memory of the index, and makes it empty. */
void base_index_free(struct base_index *index);

/* ---- Binary search ---- */

/*
 * Binary search in an array of structures that are sorted by a number:
 *
 *	n = base_count_up_to(all->function, all->functions, sizeof(*all->function),
 *			     offsetof(struct function, address), address);
 *	function = n ? &all->function[n - 1] : NULL;	the last function at or before `address`
 */

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
