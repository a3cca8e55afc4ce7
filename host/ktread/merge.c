/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Merges rings by timestamp. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"
#include "message.h"

#define NO_MORE UINT64_MAX

int ktread_merge_init(struct ktread_merge *merge, uint32_t rings)
{
	merge->leaves = 1;
	merge->ring_bits = 0;
	while (merge->leaves < rings) {
		merge->leaves *= 2;
		merge->ring_bits++;
	}
	merge->tree = malloc(2 * (size_t)merge->leaves * sizeof(*merge->tree));
	merge->lane = calloc(merge->leaves, sizeof(*merge->lane));
	if (!merge->tree || !merge->lane)
		return ktread_fail_memory();
	ktread_merge_reset(merge, 0);
	return 0;
}

void ktread_merge_free(struct ktread_merge *merge)
{
	free(merge->tree);
	free(merge->lane);
	merge->tree = NULL;
	merge->lane = NULL;
}

void ktread_merge_reset(struct ktread_merge *merge, uint64_t base)
{
	memset(merge->tree, 0xff, 2 * (size_t)merge->leaves * sizeof(*merge->tree));
	memset(merge->lane, 0, merge->leaves * sizeof(*merge->lane));
	merge->base = base;
	merge->next = merge->ordered = 0;
	merge->starved = KTREAD_MERGE_NONE;
}

/* Returns the tournament tree's word for the next item of a ring. The word is less than NO_MORE. */
static inline uint64_t node_word(uint64_t base, uint32_t ring_bits, const unsigned char *item, uint64_t ring)
{
	uint64_t farthest = (NO_MORE >> ring_bits) - 1;
	uint64_t stamp, since;

	memcpy(&stamp, item, sizeof(stamp));
	since = stamp < base ? 0 : stamp - base;
	return (since > farthest ? farthest : since) << ring_bits | ring;
}

/*
 * Replaces a leaf of the tournament tree, and updates the nodes from this leaf to the root. Returns the word
 * at the root, which belongs to the earliest item.
 */
static inline uint64_t replay(uint64_t *tree, uint32_t node, uint64_t word)
{
	tree[node] = word;
	while (node > 1) {
		uint64_t rival = tree[node ^ 1];

		word = rival < word ? rival : word;
		node >>= 1;
		tree[node] = word;
	}
	return word;
}

/* Computes the word of the item after `lane->item` in advance, before the merge needs it. */
static inline void look_ahead(const struct ktread_merge *merge, struct ktread_lane *lane, uint32_t ring)
{
	if (lane->end - lane->item > (ptrdiff_t)KTREAD_ITEM_SIZE)
		lane->ahead = node_word(merge->base, merge->ring_bits, lane->item + KTREAD_ITEM_SIZE, ring);
}

void ktread_merge_feed(struct ktread_merge *merge, uint32_t ring, const unsigned char *item,
		       const unsigned char *end)
{
	merge->lane[ring] = (struct ktread_lane){ item, end, NO_MORE };
	look_ahead(merge, &merge->lane[ring], ring);
	replay(merge->tree, merge->leaves + ring,
	       item == end ? NO_MORE : node_word(merge->base, merge->ring_bits, item, ring));
}

void ktread_merge_run(struct ktread_merge *merge)
{
	const uint32_t leaves = merge->leaves;
	const uint64_t ring_mask = (UINT64_C(1) << merge->ring_bits) - 1;
	uint64_t *tree = merge->tree, winner = tree[1];
	uint32_t count = 0;

	while (count < KTREAD_MERGE_AHEAD && winner != NO_MORE) {
		uint32_t ring = (uint32_t)(winner & ring_mask);
		struct ktread_lane *lane = &merge->lane[ring];

		merge->order[count++] = ring;
		lane->item += KTREAD_ITEM_SIZE;
		if (lane->item == lane->end) {
			merge->starved = ring;
			break;
		}
		winner = replay(tree, leaves + ring, lane->ahead);
		look_ahead(merge, lane, ring);
	}
	merge->next = 0;
	merge->ordered = count;
}
