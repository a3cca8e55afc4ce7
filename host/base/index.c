/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/index.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FEWEST_BITS 4u /* log2 of the number of slots of the smallest index */

uint64_t base_hash_secret[2] = { UINT64_C(0xbf58476d1ce4e5b9), UINT64_C(0x94d049bb133111eb) };

__attribute__((constructor)) static void draw_secret(void)
{
	uint64_t drawn[2];

	if (getentropy(drawn, sizeof(drawn)) != 0)
		return;
	base_hash_secret[0] = drawn[0] | 1;
	base_hash_secret[1] = drawn[1] | 1;
}

uint64_t base_hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
	const char *from = bytes;
	uint64_t word;

	hash = base_hash(hash, length);
	for (size_t left = length; left; left -= left < sizeof(word) ? left : sizeof(word)) {
		word = 0;
		memcpy(&word, from + length - left, left < sizeof(word) ? left : sizeof(word));
		hash = base_hash(hash, word);
	}
	return hash;
}

uint64_t base_hash_text(uint64_t hash, const char *text)
{
	return text ? base_hash_bytes(hash, text, strlen(text)) : base_hash(hash, UINT64_MAX);
}

/*
 * Stores `content` in the first empty slot that a lookup of its hash would reach. Requires: at least one slot
 * is empty.
 */
static void put(struct base_index *index, struct base_index_slot content)
{
	uint32_t at = content.hash >> index->shift;

	while (index->slot[at].row != 0)
		at = (at + 1) & UINT32_MAX >> index->shift;
	index->slot[at] = content;
}

static int grow(struct base_index *index)
{
	const size_t slots = index->slot ? (size_t)1 << (32 - index->shift) : 0;
	struct base_index larger = { .count = index->count,
				     .shift = slots ? index->shift - 1 : 32 - FEWEST_BITS };

	if (slots && index->shift == 0)
		return -1;
	larger.slot = calloc((size_t)1 << (32 - larger.shift), sizeof(*larger.slot));
	if (!larger.slot)
		return -1;
	for (size_t n = 0; n < slots; n++)
		if (index->slot[n].row != 0)
			put(&larger, index->slot[n]);
	free(index->slot);
	*index = larger;
	return 0;
}

int base_index_add(struct base_index *index, uint64_t hash, uint32_t row)
{
	if ((!index->slot || index->count > UINT32_MAX >> index->shift >> 1) && grow(index) != 0)
		return -1;
	put(index, (struct base_index_slot){ (uint32_t)(hash >> 32), row + 1 });
	index->count++;
	return 0;
}

/*
 * Removes and inserts again all rows up to the next empty slot. A lookup stops at the first empty slot, so it
 * would not find rows beyond the slot that is now empty.
 */
void base_index_remove(struct base_index *index, uint64_t hash, uint32_t row)
{
	const uint32_t mask = UINT32_MAX >> index->shift;
	uint32_t at = (uint32_t)(hash >> 32) >> index->shift;

	while (index->slot[at].row != row + 1)
		at = (at + 1) & mask;
	index->slot[at].row = 0;
	index->count--;
	for (at = (at + 1) & mask; index->slot[at].row != 0; at = (at + 1) & mask) {
		const struct base_index_slot moved = index->slot[at];

		index->slot[at].row = 0;
		put(index, moved);
	}
}

void base_index_free(struct base_index *index)
{
	free(index->slot);
	*index = (struct base_index){ .slot = NULL };
}
