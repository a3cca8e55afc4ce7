/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The readers of both versions of traces, and what these share: dumps, stamps, and rings of each version. */
#ifndef KTREAD_VERSIONS_H
#define KTREAD_VERSIONS_H

#include <stdbool.h>
#include <string.h>

#include "ktrx/v1.h"
#include "layout.h"
#include "source.h"
#include "trace.h"

/* Finding the dumps, of either version, that follow one another in a file. */

struct ktread_dump {
	uint64_t offset;
	uint64_t length; /* as its header says; more than the file has if truncated */
	uint32_t version;
	bool truncated;
};

struct ktread_dumps {
	struct ktread_dump last; /* the last complete one, or else the last truncated one */
	uint32_t complete;
	uint64_t skipped; /* bytes between and after dumps that belong to none */
};

/* KTREAD_E_FORMAT if there is none; the text says what is wrong with the first thing that looked like one. */
int ktread_dumps_find(struct ktread_memory *memory, struct ktread_dumps *dumps);
/* Whether a dump's header stands at `offset`. */
bool ktread_dump_at(struct ktread_memory *memory, uint64_t offset, struct ktread_dump *dump);

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

/*
 * One ring of version 1. It has no write index: order is by stamp. A ring is expected to be sorted up to
 * rotation and is then read through a window that follows the stamps around; one that is not is loaded and
 * sorted. Small dumps are looked through whole to tell; in large ones a few probes are taken, and a ring that
 * turns out to be out of order later is sorted from there on.
 */

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

/*
 * One ring of version 2, read through a window. Each slot must carry the generation of its index and the
 * right check (layout.h); records must be whole. What fails is counted, slot by slot: produced =
 * overwritten + decoded + invalid.
 *
 * Items come sorted by stamp within a window of KTREAD_REORDER records, because nested interrupts stamp later
 * slots earlier. Records held back for that are carried, with their slots, from one filling to the next; long
 * records make that window shorter, so that what is carried stays small.
 */

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

/* Version 1 dumps and bare records. */

int ktread_v1_open(struct ktread *trace, const struct ktread_dump *dump);
/* Records of version 1 without a header, from all CPUs in one sequence. */
int ktread_bare_open(struct ktread *trace);

/* Version 2 as rings of a trace: from a dump or, through the same layout, from memory. */

/* The dump whose root lies at `offset` of the trace's memory. */
int ktread_v2_open_dump(struct ktread *trace, uint64_t offset);
/* Takes over the layout. */
int ktread_v2_open(struct ktread *trace, struct ktread_layout *layout);
/*
 * Steps over the extension block that an event's payload begins with, at least its head, and takes what it
 * says.
 */
void ktread_v2_take_extension(struct ktread_event *event);
/* Warns of rows of repetitions that cannot be used. */
int ktread_folds_check(struct ktread *trace);
/* Takes the names of threads as they are now. */
int ktread_v2_load_threads(struct ktread *trace);

#endif
