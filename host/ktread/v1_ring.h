/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * One ring of version 1. It has no write index: order is by stamp. A ring is expected to be sorted up to
 * rotation and is then read through a window that follows the stamps around; one that is not is loaded and
 * sorted. Small dumps are looked through whole to tell; in large ones a few probes are taken, and a ring that
 * turns out to be out of order later is sorted from there on.
 */
#ifndef KTREAD_V1_RING_H
#define KTREAD_V1_RING_H

#include "ktrx/v1.h"
#include "trace.h"

struct ktread_v1_ring {
	struct ktread_memory *memory;
	uint64_t position; /* of slot 0 */
	uint64_t slots;	   /* that can be read */
	uint64_t start;	   /* slot of the oldest record */
	uint64_t taken;	   /* slots read so far, from `start` on */
	uint64_t stamp;	   /* of the last record read */
	struct ktrx1_record *window;
	uint32_t window_slots;
	bool unsorted;
	struct ktrx1_record *sorted; /* all that is left, once it had to be sorted */
};

/* Finds the oldest record. `thorough`: reads all slots. Sets ring->unsorted. 0 or an error. */
int ktread_v1_ring_survey(struct ktread_v1_ring *ring, bool thorough);
/* Reads up to window_slots further records, empty slots left out: count, 0 at the end, or an error. */
int ktread_v1_ring_read(struct ktread_v1_ring *ring);
/*
 * Loads and sorts what is left: the `held` records in the window and all slots not yet taken. Returns the
 * records in `sorted`.
 */
int64_t ktread_v1_ring_sort(struct ktread_v1_ring *ring, uint32_t held);

#endif
