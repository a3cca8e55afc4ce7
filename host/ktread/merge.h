/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Merging rings by stamp: a tournament tree over the next stamp of each ring. Nodes are single words, the
 * stamp since `base` above and the ring below, so that a round is a load, a comparison and a conditional
 * move, and a draw goes to the lower ring. Many rounds are played ahead of the reader in one tight loop, up
 * to the first ring whose items run out.
 *
 * Stamps farther from `base` than a node has room for count as equal to the farthest.
 */
#ifndef KTREAD_MERGE_H
#define KTREAD_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#define KTREAD_ITEM_SIZE   32u /* items are led by their stamp */
#define KTREAD_MERGE_AHEAD 512u

/* What is left to merge of one ring. */
struct ktread_lane {
	const unsigned char *item; /* the one that stands in the tree */
	const unsigned char *end;
	uint64_t ahead; /* word of the item behind it, so that no round waits for memory */
};

struct ktread_merge {
	uint64_t *tree;	 /* [1] is the winner, [leaves + n] ring n */
	uint32_t leaves; /* a power of two */
	uint32_t ring_bits;
	uint64_t base;
	struct ktread_lane *lane;
	uint32_t order[KTREAD_MERGE_AHEAD]; /* rings, in the order their next items come */
	uint32_t next, ordered;
	uint32_t starved; /* ring whose items ran out; KTREAD_MERGE_NONE */
};
#define KTREAD_MERGE_NONE UINT32_MAX

int ktread_merge_init(struct ktread_merge *merge, uint32_t rings);
void ktread_merge_free(struct ktread_merge *merge);
/* Forgets all items. `base`: least stamp to come. */
void ktread_merge_reset(struct ktread_merge *merge, uint64_t base);
/* Gives a ring its next items; none: the ring is at its end. */
void ktread_merge_feed(struct ktread_merge *merge, uint32_t ring, const unsigned char *item,
		       const unsigned char *end);
/* Plays on, when order[] has been used up and no ring is starved. Sets `starved` when a ring runs out. */
void ktread_merge_run(struct ktread_merge *merge);

#endif
