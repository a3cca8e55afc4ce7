/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A tournament tree over the next stamp of each ring. Replacing the winner costs one comparison a level and
 * no branch that depends on the data. Equal stamps: the lower ring wins.
 */
#ifndef KTREAD_MERGE_H
#define KTREAD_MERGE_H

#include <stdint.h>

#define KTREAD_MERGE_END UINT64_MAX /* key of a ring that has no more */

struct ktread_match {
	uint64_t key;
	uint64_t ring;
};

struct ktread_merge {
	struct ktread_match *tree; /* [1] is the winner, [leaves + n] ring n */
	uint32_t leaves;	   /* a power of two */
};

int ktread_merge_init(struct ktread_merge *merge, uint32_t rings);
void ktread_merge_free(struct ktread_merge *merge);

/* Key of a stamp: the end mark is not a stamp. */
static inline uint64_t ktread_merge_key(uint64_t stamp)
{
	return stamp - (stamp == KTREAD_MERGE_END);
}

static inline void ktread_merge_set(struct ktread_merge *merge, uint32_t ring, uint64_t key)
{
	struct ktread_match *tree = merge->tree;
	struct ktread_match winner = { key, ring };
	uint32_t node = merge->leaves + ring;

	tree[node] = winner;
	while (node > 1) {
		struct ktread_match rival = tree[node ^ 1];
		/* An odd node's rival is the left one and wins a draw. */
		uint64_t lost = -(uint64_t)((rival.key < winner.key) | ((rival.key == winner.key) & node));

		winner.key ^= (winner.key ^ rival.key) & lost;
		winner.ring ^= (winner.ring ^ rival.ring) & lost;
		node >>= 1;
		tree[node] = winner;
	}
}

#endif
