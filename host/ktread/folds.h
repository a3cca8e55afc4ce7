/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Records that stand for many, and stamps that are not all there. */
#ifndef KTREAD_FOLDS_H
#define KTREAD_FOLDS_H

#include <string.h>

#include "layout.h"

/* Whole stamps from the 36 bits that slots carry, and the anchors they are counted from. */

/* The whole stamp nearest to `reference` that ends in these bits. */
static inline uint64_t ktread_stamp_extend(uint64_t reference, uint64_t bits)
{
	uint64_t ahead = (bits - reference) << (64 - KTRX_STAMP_BITS);

	return reference + (uint64_t)((int64_t)ahead >> (64 - KTRX_STAMP_BITS));
}

static inline struct ktrx_anchor ktread_anchor_of(const uint64_t *slot)
{
	struct ktrx_anchor anchor;

	memcpy(&anchor, (const unsigned char *)slot + KTRX_FIRST_OFFSET, sizeof(anchor));
	return anchor;
}

/* Whether an anchor's stamp agrees with the bits in its slot. */
static inline int ktread_anchor_agrees(const uint64_t *slot)
{
	return ktread_anchor_of(slot).stamp << (64 - KTRX_STAMP_BITS) == KTRX_W0_STAMP(slot[0])
										 << (64 - KTRX_STAMP_BITS);
}

/* What an anchor met on the way makes of the reference; one that contradicts itself changes nothing. */
static inline uint64_t ktread_stamp_of_anchor(const uint64_t *slot, uint64_t reference)
{
	return ktread_anchor_agrees(slot) ? ktread_anchor_of(slot).stamp : reference;
}

/* Where the stamps of a ring's window are counted from. */
struct ktread_stamp_start {
	uint64_t reference;	/* whole stamp that the first slot's is nearest to */
	uint64_t missing_index; /* slot of the newest anchor that is not there any more, UINT64_MAX if none …
				 */
	uint64_t missing_stamp; /* … and its stamp, which the anchor after it names */
	bool broken;		/* nearest extensions have to do somewhere */
};

/* Walks a ring's anchors back from the newest to slot `begin`. */
int ktread_stamp_find_start(const struct ktread_layout *layout, uint32_t ring, uint64_t begin, uint64_t head,
			    struct ktread_stamp_start *start);

#endif
