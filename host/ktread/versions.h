/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The readers of version 1 and version 2 traces, and the code that both share: for dumps, timestamps and
 * rings.
 */
#ifndef KTREAD_VERSIONS_H
#define KTREAD_VERSIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ktread/ktread.h"
#include "ktread/proc.h"
#include "ktrx/slot.h"
#include "ktrx/v1.h"
#include "layout.h"
#include "source.h"
#include "trace.h"

/* ---- Finding a time window in a ring (seek.c) ---- */

/*
 * Finds the part of a ring that can contain the events of a time window, without reading the whole ring.
 *
 * A ring is nearly in the order of timestamps. The search reads samples at equal distances: first samples of
 * the whole ring, then samples of the part that contains the time window, at smaller distances. If a sample
 * of the whole ring has an earlier timestamp than the sample before it, the clock went back or the ring is
 * damaged, and the whole ring is read. If samples of a part are not in order, the search does not make this
 * part smaller. Each record is expected near its place in the order of timestamps: at most
 * KTREAD_SEEK_DISORDER times the last distance away. So the search examines the slots up to this distance
 * around the time window one by one.
 */

#define KTREAD_SEEK_DISORDER 4u
/*
 * minimum distance between two samples in slots; with it, records up to 8192 slots away from their place in
 * the order are always found
 */
#define KTREAD_SEEK_SPACING 2048u
#define KTREAD_SEEK_CHUNK   1024u      /* maximum number of slots for which one call of `stamps` is made */
#define KTREAD_SEEK_NONE    UINT64_MAX /* value of a timestamp for a slot in which no record begins */

/* A ring as the search sees it: slots are numbered from 0, in the order in which they were written. */
struct ktread_seek {
	uint64_t slots;
	uint64_t spacing; /* minimum distance between samples; 0: KTREAD_SEEK_SPACING */
	/*
	 * Sets timestamp[n] to the timestamp of the record that begins in slot at + n, or to
	 * KTREAD_SEEK_NONE. Returns 0 or an error.
	 */
	int (*stamps)(void *context, uint64_t at, uint64_t *stamp, uint32_t count);
	/*
	 * Sets *from and *to to the slots between which all records of the time window begin. Returns false
	 * if these slots are unknown, so that samples must be read. If this pointer is NULL, these slots are
	 * always unknown.
	 */
	bool (*part)(void *context, uint64_t since, uint64_t until, uint64_t *from, uint64_t *to);
	void *context;
	/* the time window of the last search, in the ring's own timestamps */
	uint64_t since, until;
	/*
	 * the result of the last search: the slots from `first` up to, not including, `end` contain all
	 * events of the time window
	 */
	uint64_t first, end;
	bool searched;
	bool found; /* true if the search has found the slots; false: the whole ring must be read */
};

/*
 * Searches for the time window from `since` to `until`. Does not search again if the last search had the same
 * time window. Returns 1 and sets `first` and `end`. Unless `first` is 0, a record that is earlier than the
 * time window begins in slot `first`. Unless `end` is `slots`, the slots before `end` contain a record that
 * is later than the time window. Returns 0 if the whole ring must be read, or an error.
 */
int ktread_seek_run(struct ktread_seek *seek, uint64_t since, uint64_t until);

/* ---- Finding the dumps, of either version, in a file (find.c) ---- */

struct ktread_dump {
	uint64_t offset;
	/* length according to the dump's header; the file contains fewer bytes if the dump is truncated */
	uint64_t length;
	uint32_t version;
	bool truncated;
};

struct ktread_dumps {
	/* the last complete dump in the file or, if no dump is complete, the last truncated dump */
	struct ktread_dump last;
	uint32_t complete;
	/* number of bytes of the file outside dumps, without ranges that contain only zeros */
	uint64_t skipped;
};

/*
 * Finds the dumps in a file. Returns 0. If there is none, returns KTREAD_E_FORMAT, with a message about the
 * first place that looked like a dump.
 */
int ktread_dumps_find(struct ktread_memory *memory, struct ktread_dumps *dumps);
/* Reads the header of a dump at `offset`. Returns false if there is none. */
bool ktread_dump_at(struct ktread_memory *memory, uint64_t offset, struct ktread_dump *dump);

/* ---- Timestamps ---- */

/*
 * Computes whole timestamps. A slot contains only the low 36 bits of its timestamp. Anchors contain whole
 * timestamps: references from which the other timestamps are counted.
 */

/* Returns the whole timestamp that has these low bits and is nearest to `reference`. */
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

/* Returns true if the timestamp in an anchor agrees with the timestamp bits in its slot. */
static inline int ktread_anchor_agrees(const uint64_t *slot)
{
	return ktread_anchor_of(slot).stamp << (64 - KTRX_STAMP_BITS) == KTRX_W0_STAMP(slot[0])
										 << (64 - KTRX_STAMP_BITS);
}

/*
 * Returns the reference for the timestamps after an anchor. If the timestamp in the anchor contradicts the
 * timestamp bits in its slot, returns `reference` unchanged.
 */
static inline uint64_t ktread_stamp_of_anchor(const uint64_t *slot, uint64_t reference)
{
	return ktread_anchor_agrees(slot) ? ktread_anchor_of(slot).stamp : reference;
}

/* The start of a ring's timestamps, from which all later timestamps are computed. */
struct ktread_stamp_start {
	/* reference for the first slot: the whole timestamp from which its timestamp is counted */
	uint64_t reference;
	/* index of the newest missing anchor; UINT64_MAX: no anchor is missing */
	uint64_t missing_index;
	/* timestamp of the missing anchor, as the next anchor states it */
	uint64_t missing_stamp;
	/*
	 * true if some timestamps may be wrong, because each timestamp was assumed to be the possible
	 * timestamp nearest to the previous one
	 */
	bool broken;
};

/*
 * Follows the anchors of a ring back from the newest one to slot `begin`, and sets *start. Returns 0 or an
 * error.
 */
int ktread_stamp_find_start(const struct ktread_layout *layout, uint32_t ring, uint64_t begin, uint64_t head,
			    struct ktread_stamp_start *start);

/* An anchor. `stamp` is needed to compute the whole timestamps of the anchor's slot and of later slots. */
struct ktread_stamp_anchor {
	uint64_t index, stamp;
};
/*
 * Lists the anchors from slot `begin` on, in the order of their indices. Sets *anchor, which the caller
 * frees, and *count. Returns 1 on success, 0 if the list would be incomplete, or an error.
 */
int ktread_stamp_list_anchors(const struct ktread_layout *layout, uint32_t ring, uint64_t begin,
			      uint64_t head, struct ktread_stamp_anchor **anchor, uint32_t *count);

/* ---- Rings of version 1 ---- */

/*
 * One ring of version 1. It has no write index, so only the timestamps show the order of records.
 *
 * A ring is expected to be sorted, except that it wraps around at some slot. A sorted ring is read through a
 * window (a buffer), in the order of timestamps. A ring that is not sorted is loaded and sorted as a whole.
 * To find out whether a ring is sorted, all records of a small dump are examined, but only a few records of a
 * large one. If a ring is found to be unsorted later, its remaining records are sorted then.
 */

struct ktread_v1_ring {
	struct ktread_memory *memory;
	uint64_t position; /* position of slot 0 in the memory's source of bytes */
	uint64_t slots;	   /* number of slots that can be read */
	uint64_t start;	   /* number of the slot that contains the oldest record */
	uint64_t taken;	   /* number of slots read so far, counted from slot `start` on */
	/* value of `taken` at which reading ends: `slots`, or less if only a time window is read */
	uint64_t end;
	uint64_t stamp; /* timestamp of the last record read */
	struct ktrx1_record *window;
	uint32_t window_slots;
	bool unsorted;
	bool sort_first; /* true if the records must be sorted before the first of them is returned */
	struct ktread_seek seek;
	struct ktrx1_record *sorted; /* all remaining records, sorted; NULL if no sorting was needed */
	/*
	 * Places of the records in `sorted` or, if it is NULL, in `window`. A place is the number of a slot,
	 * counted from slot `start` on. If this pointer is NULL, the places are consecutive numbers from
	 * `origin` on.
	 */
	uint64_t *place;
	uint64_t origin;
	const struct ktrx1_record *handed; /* the first of the records that were returned last */
};

/* Returns the place of record `n` of the records that were returned last. */
static inline uint64_t ktread_v1_ring_place(const struct ktread_v1_ring *ring, uint64_t n)
{
	return ring->place ? ring->place[n] : ring->origin + n;
}

/*
 * Finds the oldest record, and sets ring->unsorted. If `thorough` is set, reads all slots for this. Returns 0
 * or an error.
 */
int ktread_v1_ring_survey(struct ktread_v1_ring *ring, bool thorough);
/*
 * Reads at most window_slots more slots into the window, and removes the empty slots. Returns the number of
 * records, 0 at the end, or an error.
 */
int ktread_v1_ring_read(struct ktread_v1_ring *ring);
/*
 * Loads and sorts the remaining records: the `held` unused records of the window, and the records in all
 * slots that were not read yet. Returns the number of records in `sorted`, or an error.
 */
int64_t ktread_v1_ring_sort(struct ktread_v1_ring *ring, uint32_t held);
/* Frees what ktread_v1_ring_read() and ktread_v1_ring_sort() have made, except the window. */
void ktread_v1_ring_forget(struct ktread_v1_ring *ring);

/*
 * Limits the reading to the part of the ring that can contain records from `since` to `until`. `spacing` as
 * in struct ktread_seek. Requires: no slot was read since the ring was rewound. Returns 0 or an error.
 */
int ktread_v1_ring_seek(struct ktread_v1_ring *ring, uint64_t since, uint64_t until, uint64_t spacing);

/* ---- Rings of version 2 ---- */

/*
 * One ring of version 2, which is read through a window. A slot must have the generation that its index
 * requires and the right checksum (layout.h), and its record must be complete. Other slots are counted as
 * invalid, so that produced = overwritten + decoded + invalid.
 *
 * Because of nested interrupts, a later slot may have an earlier timestamp, so items are sorted by timestamp
 * within KTREAD_REORDER records. In a ring that CPUs share, the clocks of the CPUs may differ by more time
 * than these records span, so the records of different CPUs are sorted in the whole ring if it fits into the
 * window. To make sorting possible, the last records are held back when the window is filled again: their
 * slots are copied to the front of the buffer. If records are long, fewer records are held back, so that few
 * slots are copied.
 */

#define KTREAD_REORDER 64u /* maximum number of records that are held back */
/* maximum number of slots that are held back, if there are not more than `records` records in them */
#define KTREAD_CARRY(records) (2u * (records))

struct ktread_v2_item {
	uint64_t stamp; /* whole, corrected timestamp of the item */
	uint64_t index;
	uint64_t lost; /* number of slots that were lost directly before the item */
	uint32_t slot; /* index of the item's first slot in the buffer */
	uint32_t slots;
};

struct ktread_v2_ring {
	const struct ktread *trace; /* the trace, whose clocks correct the timestamps */
	const struct ktread_layout *layout;
	const struct ktread_ring_place *place;
	uint32_t ring;
	uint64_t begin, head; /* index of the first slot to be read, and index after the last one */
	uint64_t index;	      /* index of the next slot to read */
	/* index of the slot at which reading ends: `head`, or less if only a time window is read */
	uint64_t stop;
	/* reference for the next slot: the whole timestamp from which its timestamp is counted */
	uint64_t reference;
	struct ktread_stamp_start start;
	uint64_t lost; /* number of slots lost since the last record that was decoded */
	/* number of slots that were lost directly before events that the filter has rejected */
	uint64_t rejected_lost;
	uint64_t outside;    /* same meaning as in struct ktread_ring */
	bool passed;	     /* true if an event was later than the time window of the filter */
	uint64_t last_stamp; /* timestamp of the last item that was returned */
	uint64_t decoded, invalid;
	/* number of records that came too late to be sorted into the window */
	uint64_t disordered;
	uint32_t window;       /* size of the window in slots */
	uint32_t reorder;      /* maximum number of records that are held back */
	bool whole;	       /* true if records of different CPUs are sorted in the whole ring */
	uint64_t (*buffer)[4]; /* slots of the records that were held back, then the slots of the window */
	struct ktread_v2_item *item;
	/* `items`: number of items; `ready`: number of items that can be returned now */
	uint32_t items, ready;
	/* the anchors of the ring, in the order of their indices; NULL: they have not been needed yet */
	struct ktread_stamp_anchor *anchor;
	uint32_t anchors;
	struct ktread_seek seek;
	unsigned char gathered[KTRX_RECORD_MAX_PAYLOAD];
};

int ktread_v2_ring_init(struct ktread_v2_ring *ring, uint32_t rings);
/* Returns how many bytes of the host's memory the ring needs. */
size_t ktread_v2_ring_bytes(const struct ktread_v2_ring *ring);
void ktread_v2_ring_free(struct ktread_v2_ring *ring);
void ktread_v2_ring_restart(struct ktread_v2_ring *ring);
/*
 * Limits the reading to the part of the ring that can contain records from `since` to `until`, in corrected
 * timestamps. `spacing` is as in struct ktread_seek. Requires: the ring was restarted and no slot was read
 * since. Returns 0 or an error.
 */
int ktread_v2_ring_seek(struct ktread_v2_ring *ring, uint64_t since, uint64_t until, uint64_t spacing);
/*
 * Fills in item[0] to item[ready - 1]. Items that were returned before become invalid. Returns 1 on success,
 * 0 at the end, or an error.
 */
int ktread_v2_ring_fill(struct ktread_v2_ring *ring);
/* Copies the payload of a record of several slots to ring->gathered. */
void ktread_v2_ring_gather(struct ktread_v2_ring *ring, const struct ktread_v2_item *item);

/*
 * Returns the payload of a record as contiguous bytes, and sets *size to its size. The payload is valid until
 * the next call of this function or of ktread_v2_ring_fill().
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
 * Sets *timestamp to the whole, corrected timestamp of a record, and returns true. For an anchor, only sets
 * the reference for later records, and returns false.
 */
bool ktread_v2_ring_stamp(struct ktread_v2_ring *ring, const uint64_t *slot, uint64_t *stamp);

/*
 * Reads `count` slots from `index` on. These slots may wrap around in the ring. A running guest may overwrite
 * them while they are read, so the caller must read the head again afterwards.
 */
int ktread_slots_read(const struct ktread_ring_place *place, uint64_t index, uint64_t (*slot)[4],
		      uint64_t count);

/* ---- Version 1 dumps, and records without a header ---- */

int ktread_v1_open(struct ktread *trace, const struct ktread_dump *dump);
/* Opens version 1 records that have no header: the records of all CPUs are one sequence. */
int ktread_bare_open(struct ktread *trace);

/* ---- Version 2 traces: a dump and a memory are read in the same way, through the layout ---- */

/* Opens the dump that has its root at `offset` of the trace's memory. Returns 0 or an error. */
int ktread_v2_open_dump(struct ktread *trace, uint64_t offset);
/* Makes rings of `layout`. Stores the layout in trace->layout, even if this fails. Returns 0 or an error. */
int ktread_v2_open(struct ktread *trace, struct ktread_layout *layout);
/*
 * Decodes the extension block at the start of an event's payload, and moves event->payload to the byte after
 * the block. Requires: the payload contains at least the head of the block.
 */
void ktread_v2_take_extension(struct ktread_event *event);
/* Warns about rows of the table of repetitions that cannot be used. Returns 0 or an error. */
int ktread_folds_check(struct ktread *trace);
/* Loads the current names of threads. Returns 0 or an error. */
int ktread_v2_load_threads(struct ktread *trace);

/*
 * Makes a process trace (ktread/proc.h) look like a ring of events, so that all code that reads traces can
 * read process traces: alone, or beside the trace of the kernel that ran the processes.
 *
 * The system calls become events syscall.enter and syscall.exit. If the process trace is shown beside a trace
 * that has such events of its own, they become proc.call and proc.return. All other records become events of
 * the group "proc".
 */

/* Returns true if the file begins with the magic of our own format for process traces. */
bool ktread_processes_is(struct ktread_memory *memory);

/* Opens the file at `path` as a trace of its own. Returns 0 or an error. */
int ktread_processes_open(struct ktread *trace, const char *path);

/*
 * Events that are made from the records of a process trace: their types, and their payloads, which are
 * encoded as in rings.
 */

#define KTREAD_PROCESSES_PAYLOAD 256u

struct ktread_processes_event {
	uint32_t type; /* number of the event type, less than ktread_processes_types */
	uint32_t cpu, thread;
	uint32_t size;
	uint64_t lost;
	unsigned char payload[KTREAD_PROCESSES_PAYLOAD];
};

extern const uint32_t ktread_processes_types;
/*
 * Returns event type `n`. `beside`: the events are shown beside another trace. In this case, the event types
 * for the beginning and the return of a system call have other names and fields.
 */
const struct ktread_type *ktread_processes_type(uint32_t n, bool beside);

/*
 * Event types 0 and 1, the beginning and the return of a system call, with the name of the call as a further
 * field. ktread_processes_add_call() adds this field to an event.
 */
#define KTREAD_PROCESSES_CALLS 2u
extern const struct ktread_type ktread_processes_called[KTREAD_PROCESSES_CALLS];
void ktread_processes_add_call(struct ktread_processes_event *event, const struct ktread_names *calls);

/*
 * Returns the thread of a record. For a record about a whole process, returns the process's first thread.
 */
static inline uint32_t ktread_processes_thread(const struct ktread_proc_record *record)
{
	return (record->tid ? record->tid : record->pid) & KTRX_THREAD_MAX;
}

/*
 * Makes an event from a record. Returns false if no event is made from records of this type (names, tables).
 * A string that is too long is truncated, and marked as truncated. `calls` are the names of system calls if
 * the process trace is shown beside another trace, otherwise NULL. `abi` is the ABI of the call, as for
 * KTREAD_PROC_CALL().
 */
bool ktread_processes_make(struct ktread_processes_event *event, const struct ktread_proc_record *record,
			   uint32_t abi, const struct ktread_names *calls);

#endif
