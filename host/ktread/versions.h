/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The readers of both versions of traces, and code that they share: dumps, timestamps and rings. */
#ifndef KTREAD_VERSIONS_H
#define KTREAD_VERSIONS_H

#include <stdbool.h>
#include <string.h>

#include "ktrx/v1.h"
#include "layout.h"
#include "source.h"
#include "trace.h"

/* Finds the dumps, of either version, in a file. */

struct ktread_dump {
	uint64_t offset;
	/* length that the dump's header states; a truncated dump has fewer bytes in the file */
	uint64_t length;
	uint32_t version;
	bool truncated;
};

struct ktread_dumps {
	struct ktread_dump last; /* the last complete dump; if there is none, the last truncated one */
	uint32_t complete;
	uint64_t skipped; /* bytes between and after dumps that do not belong to a dump */
};

/*
 * Finds the dumps. Returns 0, or KTREAD_E_FORMAT if there is none; the message then describes the first place
 * that looked like one.
 */
int ktread_dumps_find(struct ktread_memory *memory, struct ktread_dumps *dumps);
/* Reads the dump's header at `offset`. Returns false if there is none. */
bool ktread_dump_at(struct ktread_memory *memory, uint64_t offset, struct ktread_dump *dump);

/* Computes whole timestamps from the 36 bits in slots, and the anchors that they are counted from. */

/* Returns the whole timestamp nearest to `reference` that ends in these bits. */
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

/* Returns true if an anchor's timestamp agrees with the timestamp bits in its slot. */
static inline int ktread_anchor_agrees(const uint64_t *slot)
{
	return ktread_anchor_of(slot).stamp << (64 - KTRX_STAMP_BITS) == KTRX_W0_STAMP(slot[0])
										 << (64 - KTRX_STAMP_BITS);
}

/*
 * Returns the reference for the timestamps after an anchor. An anchor that contradicts itself leaves
 * `reference` unchanged.
 */
static inline uint64_t ktread_stamp_of_anchor(const uint64_t *slot, uint64_t reference)
{
	return ktread_anchor_agrees(slot) ? ktread_anchor_of(slot).stamp : reference;
}

/* Start of the timestamps of a ring. */
struct ktread_stamp_start {
	uint64_t reference; /* reference for the first slot's timestamp */
	/* index of the newest missing anchor; UINT64_MAX: no anchor is missing */
	uint64_t missing_index;
	uint64_t missing_stamp; /* the missing anchor's timestamp, which the next anchor contains */
	bool broken;		/* some timestamps may be wrong: the nearest possible ones are used */
};

/* Follows a ring's anchors back from the newest to slot `begin`, and sets *start. Returns 0 or an error. */
int ktread_stamp_find_start(const struct ktread_layout *layout, uint32_t ring, uint64_t begin, uint64_t head,
			    struct ktread_stamp_start *start);

/*
 * One ring of version 1. It has no write index, so timestamps give the order. A ring is expected to be sorted
 * except that it wraps around at some slot; it is then read through a window, in the order of timestamps. A
 * ring that is not sorted is loaded and sorted as a whole. To find out whether a ring is sorted, all records
 * of small dumps are looked at, and a few records of large ones. If a ring turns out to be out of order
 * later, the rest of it is sorted from there on.
 */

struct ktread_v1_ring {
	struct ktread_memory *memory;
	uint64_t position; /* position of slot 0 */
	uint64_t slots;	   /* slots that can be read */
	uint64_t start;	   /* slot of the oldest record */
	uint64_t taken;	   /* slots read so far, from `start` on */
	uint64_t stamp;	   /* timestamp of the last record read */
	struct ktrx1_record *window;
	uint32_t window_slots;
	bool unsorted;
	struct ktrx1_record *sorted; /* all remaining records, sorted; NULL if that was not needed */
};

/* Finds the oldest record, and sets ring->unsorted. `thorough`: reads all slots. Returns 0 or an error. */
int ktread_v1_ring_survey(struct ktread_v1_ring *ring, bool thorough);
/*
 * Reads up to window_slots further records, without empty slots. Returns how many, 0 at the end, or an error.
 */
int ktread_v1_ring_read(struct ktread_v1_ring *ring);
/*
 * Loads and sorts the remaining records: the `held` records in the window, and all slots that were not read
 * yet. Returns how many records are in `sorted`, or an error.
 */
int64_t ktread_v1_ring_sort(struct ktread_v1_ring *ring, uint32_t held);

/*
 * One ring of version 2, read through a window. Each slot must have the generation of its index and the right
 * check (layout.h), and records must be whole. Other slots are counted as invalid: produced = overwritten +
 * decoded + invalid.
 *
 * Items are sorted by timestamp within KTREAD_REORDER records, because a nested interrupt gives a later slot
 * an earlier timestamp. For that, the last records are held back: they and their slots are carried from one
 * filling of the window to the next. If records are long, fewer records are held back, so that few slots are
 * carried.
 */

#define KTREAD_REORDER	      64u	       /* records */
#define KTREAD_CARRY(records) (2u * (records)) /* most slots that are carried for this number of records */

struct ktread_v2_item {
	uint64_t stamp; /* whole, corrected */
	uint64_t index;
	uint64_t lost; /* slots lost right before it */
	uint32_t slot; /* index of its first slot in the buffer */
	uint32_t slots;
};

struct ktread_v2_ring {
	const struct ktread *trace; /* for its clocks */
	const struct ktread_layout *layout;
	const struct ktread_ring_place *place;
	uint32_t ring;
	uint64_t begin, head; /* indices of the slots to be read */
	uint64_t index;	      /* next slot */
	uint64_t reference;   /* reference for the next timestamp */
	struct ktread_stamp_start start;
	uint64_t lost;		/* slots lost since the last record */
	uint64_t rejected_lost; /* slots lost before events that the filter rejected */
	uint64_t last_stamp;	/* timestamp of the last item that was handed out */
	uint64_t decoded, invalid;
	uint64_t disordered;   /* records out of order by more than the window can correct */
	uint32_t window;       /* slots */
	uint32_t reorder;      /* most records that are held back */
	uint64_t (*buffer)[4]; /* carried slots, then the window */
	struct ktread_v2_item *item;
	/* `items`: number of all items; `ready`: number of items that can be handed out now */
	uint32_t items, ready;
	unsigned char gathered[KTRX_RECORD_MAX_PAYLOAD];
};

int ktread_v2_ring_init(struct ktread_v2_ring *ring, uint32_t rings);
/* Returns how much of the host's memory the ring needs. */
size_t ktread_v2_ring_bytes(const struct ktread_v2_ring *ring);
void ktread_v2_ring_free(struct ktread_v2_ring *ring);
void ktread_v2_ring_restart(struct ktread_v2_ring *ring);
/*
 * Fills item[0 .. ready). Returns 1, 0 at the end, or an error. Items that were handed out before become
 * invalid.
 */
int ktread_v2_ring_fill(struct ktread_v2_ring *ring);
/* Copies the payload of a record of several slots to ring->gathered. */
void ktread_v2_ring_gather(struct ktread_v2_ring *ring, const struct ktread_v2_item *item);

/*
 * Returns the payload of a record, of *size bytes, in one piece. It is valid until the next call or filling.
 */
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
 * Sets *stamp to the whole, corrected timestamp of a record. Returns false for an anchor, which only sets
 * the reference for later records.
 */
bool ktread_v2_ring_stamp(struct ktread_v2_ring *ring, const uint64_t *slot, uint64_t *stamp);

/*
 * Reads `count` slots from `index` on, which may wrap around. In a running guest they may be overwritten
 * while being read: the caller must read the head again afterwards.
 */
int ktread_slots_read(const struct ktread_ring_place *place, uint64_t index, uint64_t (*slot)[4],
		      uint64_t count);

/* Version 1 dumps and bare records. */

int ktread_v1_open(struct ktread *trace, const struct ktread_dump *dump);
/* Records of version 1 without a header, from all CPUs in one sequence. */
int ktread_bare_open(struct ktread *trace);

/* Reads version 2 as rings of a trace: from a dump or, through the same layout, from memory. */

/* Opens the dump whose root is at `offset` of the trace's memory. Returns 0 or an error. */
int ktread_v2_open_dump(struct ktread *trace, uint64_t offset);
/* Reads the rings of `layout`, and stores it in trace->layout, also if this fails. Returns 0 or an error. */
int ktread_v2_open(struct ktread *trace, struct ktread_layout *layout);
/*
 * Decodes the extension block at the start of an event's payload, and moves the payload after it. Requires:
 * the payload has at least the block's head.
 */
void ktread_v2_take_extension(struct ktread_event *event);
/* Warns about rows of repetitions that cannot be used. Returns 0 or an error. */
int ktread_folds_check(struct ktread *trace);
/* Loads the current names of threads. Returns 0 or an error. */
int ktread_v2_load_threads(struct ktread *trace);

#endif
