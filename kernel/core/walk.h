/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Walks the records of one ring from the kernel's own side, oldest or newest first, while writers may go on.
 * Only whole records are returned: what is empty, in flight, torn, or overwritten since the head was taken is
 * passed over.
 */
#ifndef KTRACE_CORE_WALK_H
#define KTRACE_CORE_WALK_H

#include <stdbool.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"

struct ktrace_walk {
	const struct ktrx_ring *ring;
	uint64_t index, head; /* what is left: from index up to, but without, head */
	uint64_t reference;   /* whole stamp of the anchor that the next record's stamp is counted from */
	/* newest first only: slots that were reserved again before they could be read … */
	uint64_t overwritten;
	uint64_t unreadable; /* … and slots that hold no part of a whole record */
};

struct ktrace_walk_record {
	const struct ktrx_ring *ring;
	uint64_t index;	    /* of its first slot */
	uint64_t stamp;	    /* whole */
	uint64_t caller[2]; /* 0: not recorded */
	uint32_t event;
	uint32_t thread;
	uint32_t cpu;	/* KTRX_NO_CPU if unknown */
	uint32_t bytes; /* of payload that are here; those behind the last field mean nothing */
	uint8_t payload[KTRX_RECORD_MAX_PAYLOAD];
};

/* From the oldest slot that counts up to `head`, an index got from the ring before. */
void ktrace_walk_start(struct ktrace_walk *walk, const struct ktrx_ring *ring, uint64_t head);

/* The next record, anchors excepted; false at the end. */
bool ktrace_walk_next(struct ktrace_walk *walk, struct ktrace_walk_record *record);

/* From the newest slot, as the ring is now, back to the oldest that counts. */
void ktrace_walk_start_newest(struct ktrace_walk *walk, const struct ktrx_ring *ring);

/* The record before, anchors excepted; false at the end, or where the ring has been overwritten. */
bool ktrace_walk_previous(struct ktrace_walk *walk, struct ktrace_walk_record *record);

#endif
