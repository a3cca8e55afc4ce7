/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * One ring of version 2, read through a window. Each slot must carry the generation of its index and the
 * right check (slot.h); records must be whole. What fails is counted, slot by slot: produced = overwritten +
 * decoded + invalid.
 *
 * Items come sorted by stamp within a window of KTREAD_REORDER records, because nested interrupts stamp later
 * slots earlier. Records held back for that are carried, with their slots, from one filling to the next; long
 * records make that window shorter, so that what is carried stays small.
 */
#ifndef KTREAD_V2_RING_H
#define KTREAD_V2_RING_H

#include "layout.h"
#include "folds.h"
#include "trace.h"

#define KTREAD_REORDER	      64u	       /* records */
#define KTREAD_CARRY(records) (2u * (records)) /* slots carried for so many */

struct ktread_v2_item {
	uint64_t stamp; /* whole, corrected */
	uint64_t index;
	uint64_t lost; /* slots lost right before it */
	uint32_t slot; /* where in the buffer its first slot lies */
	uint32_t slots;
};

struct ktread_v2_ring {
	const struct ktread *trace; /* for its clocks */
	const struct ktread_layout *layout;
	const struct ktread_ring_place *place;
	uint32_t ring;
	uint64_t begin, head; /* indices of the slots to be read */
	uint64_t index;	      /* next slot */
	uint64_t reference;   /* whole stamp that the next one is nearest to */
	struct ktread_stamp_start start;
	uint64_t lost;	     /* slots since the last record */
	uint64_t unsaid;     /* slots lost before events that the filter kept back */
	uint64_t last_stamp; /* handed out */
	uint64_t decoded, invalid;
	uint64_t disordered;   /* records that came later than the window could mend */
	uint32_t window;       /* slots */
	uint32_t reorder;      /* records held back */
	uint64_t (*buffer)[4]; /* carried slots, then the window */
	struct ktread_v2_item *item;
	uint32_t items, ready; /* filled; of these to be handed out */
	unsigned char gathered[KTRX_RECORD_MAX_PAYLOAD];
};

int ktread_v2_ring_init(struct ktread_v2_ring *ring, uint32_t rings);
/* What the ring takes of the host's memory. */
size_t ktread_v2_ring_bytes(const struct ktread_v2_ring *ring);
void ktread_v2_ring_free(struct ktread_v2_ring *ring);
void ktread_v2_ring_restart(struct ktread_v2_ring *ring);
/* Fills item[0 .. ready). 1, 0 at the end, or an error. The items handed out before are gone. */
int ktread_v2_ring_fill(struct ktread_v2_ring *ring);
/* Puts the payload of a record of several slots into ring->gathered. */
void ktread_v2_ring_gather(struct ktread_v2_ring *ring, const struct ktread_v2_item *item);

/* Payload of a record, of *size bytes, in one piece; valid until the next call or filling. */
static inline const unsigned char *ktread_v2_ring_payload(struct ktread_v2_ring *ring,
							  const struct ktread_v2_item *item, uint32_t *size)
{
	*size = KTRX_FIRST_PAYLOAD + (item->slots - 1) * KTRX_MORE_PAYLOAD;
	if (item->slots == 1)
		return (const unsigned char *)ring->buffer[item->slot] + KTRX_FIRST_OFFSET;
	ktread_v2_ring_gather(ring, item);
	return ring->gathered;
}

/*
 * Whole stamp of a record, CPU offset applied. False: it is an anchor, which only moves what the next are
 * counted from.
 */
bool ktread_v2_ring_stamp(struct ktread_v2_ring *ring, const uint64_t *slot, uint64_t *stamp);

/*
 * Reads `count` slots from `index` on, which may wrap around. Whoever reads a running guest must look at the
 * head after that: slots may have been overwritten.
 */
int ktread_slots_read(const struct ktread_ring_place *place, uint64_t index, uint64_t (*slot)[4],
		      uint64_t count);

#endif
