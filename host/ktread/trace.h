/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A trace that is being read: clocks, names, merging of rings, and cursors. */
#ifndef KTREAD_TRACE_H
#define KTREAD_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "source.h"
#include "types.h"

/*
 * Corrected clocks: for each CPU a piecewise linear function from its timestamps to corrected timestamps,
 * through measured or computed points. The function never decreases, whatever the points are.
 */

struct ktread_clock_piece {
	/* timestamp at which the piece begins; the first piece also covers earlier timestamps */
	uint64_t from;
	int64_t offset; /* ticks to add at `from` */
	int64_t slope;	/* further ticks to add for each tick after `from`, in 2^-32 */
};

struct ktread_clock {
	struct ktread_clock_piece *piece;
	uint32_t pieces; /* number of pieces; 0: timestamps are not corrected */
	/* index of the piece that was used last; the next timestamp usually needs it again */
	uint32_t at;
};

/* The clocks of a trace. `clock` has `cpus` entries; timestamps of other CPUs are not corrected. */
struct ktread_clocks {
	struct ktread_clock *clock;
	uint32_t cpus;
};

/*
 * Replaces a clock's pieces by pieces through `count` points, in order of their timestamps. A point is left
 * out if it contradicts the previous point: it is not later, or the offset has changed by half of the time
 * between the two points, or more. `slopes` is the drift before the first and after the last point, in 2^-32.
 * Returns 0 or KTREAD_E_MEMORY.
 */
int ktread_clock_set(struct ktread_clock *clock, const struct ktread_clock_point *point, uint32_t count,
		     const int64_t slopes[2]);
int ktread_clocks_init(struct ktread_clocks *clocks, uint32_t cpus);
void ktread_clocks_free(struct ktread_clocks *clocks);

/*
 * Loads the guest's clock measurements from the sections of a version 2 trace, and describes them in
 * trace->info. Returns 0 or an error.
 */
int ktread_clock_load(struct ktread *trace);

/* Returns the corrected timestamp. Requires: the clock has pieces. */
uint64_t ktread_clock_apply(struct ktread_clock *clock, uint64_t stamp);

static inline uint64_t ktread_clocks_apply(const struct ktread_clocks *clocks, uint32_t cpu, uint64_t stamp)
{
	if (cpu >= clocks->cpus || clocks->clock[cpu].pieces == 0)
		return stamp;
	return ktread_clock_apply(&clocks->clock[cpu], stamp);
}

/* Names by number: of threads, system calls and errors. */

struct ktread_name {
	uint32_t number;
	const char *name;
	const char *rest; /* rest of the text line after the name; NULL: nothing follows the name */
};

/* Sorted by number. */
struct ktread_names {
	struct ktread_name *row;
	uint32_t rows;
	char *text; /* memory that the names are in */
};

/*
 * Loads names from the bytes of KTRX_SECTION_THREADS. Takes over `bytes` (malloc'd), which has `size` bytes.
 */
int ktread_names_load_threads(struct ktread_names *names, char *bytes, uint64_t size, uint32_t row_size);
/*
 * Loads names from the bytes of KTRX_SECTION_SYSCALLS: of calls, and of errors, whose number is minus the
 * call's result. Takes over `bytes`, which has room for size + 1 bytes. It belongs to `calls` from then on,
 * also with the names of errors.
 */
int ktread_names_load_calls(struct ktread_names *calls, struct ktread_names *errors, char *bytes,
			    uint64_t size);
const char *ktread_names_get(const struct ktread_names *names, uint32_t number);
/* Returns the rest of the line after the name; NULL if there is nothing, or no such line. */
const char *ktread_names_rest(const struct ktread_names *names, uint32_t number);
void ktread_names_free(struct ktread_names *names);

/*
 * Merges rings by timestamp, with a tournament tree over the next timestamp of each ring. A node is a single
 * word: the timestamp minus `base` in the upper bits, the ring in the lower bits. So one round is a load, a
 * comparison and a conditional move. Of two items with equal timestamps, the item of the lower ring wins.
 * Many rounds are played in one tight loop, ahead of the reader, until the items of some ring run out.
 *
 * A timestamp too far from `base` to fit into a node is replaced by the largest timestamp that fits.
 */

#define KTREAD_ITEM_SIZE   32u /* items begin with their timestamp */
#define KTREAD_MERGE_AHEAD 512u

/* The items of one ring that are still to be merged. */
struct ktread_lane {
	const unsigned char *item; /* the item whose word is in the tree */
	const unsigned char *end;
	uint64_t ahead; /* word of the item after `item`, computed early so that no round waits for memory */
};

struct ktread_merge {
	uint64_t *tree;	 /* [1] is the winner, [leaves + n] is ring n */
	uint32_t leaves; /* number of leaves, a power of two */
	uint32_t ring_bits;
	uint64_t base;
	struct ktread_lane *lane;
	uint32_t order[KTREAD_MERGE_AHEAD]; /* rings of the next items, in the order of the merge */
	uint32_t next, ordered;
	uint32_t starved; /* ring whose items have run out; KTREAD_MERGE_NONE: no ring */
};
#define KTREAD_MERGE_NONE UINT32_MAX

int ktread_merge_init(struct ktread_merge *merge, uint32_t rings);
void ktread_merge_free(struct ktread_merge *merge);
/* Forgets all items. `base`: the least timestamp to come. */
void ktread_merge_reset(struct ktread_merge *merge, uint64_t base);
/* Gives a ring its next items. No items: the ring is at its end. */
void ktread_merge_feed(struct ktread_merge *merge, uint32_t ring, const unsigned char *item,
		       const unsigned char *end);
/*
 * Fills order[] anew. If a ring runs out of items, sets `starved` to it. Requires: order[] has been used up,
 * and no ring is starved.
 */
void ktread_merge_run(struct ktread_merge *merge);

/* Frees what opening a trace acquired, except the cursors. */
void ktread_open_release(struct ktread *trace);

/*
 * A trace. Each ring has a cursor, which returns items of 32 bytes in order, each beginning with its
 * timestamp. A version 1 item is the record itself; a version 2 item (versions.h) points to a checked record
 * in the window. The merge selects the cursor with the least timestamp, and only the selected item becomes an
 * event.
 */

#define KTREAD_MAX_WARNINGS 64u

struct ktread_cursor;
struct ktread_layout;

/* Functions that differ between versions. */
struct ktread_version {
	/*
	 * Reads the next items into cursor->item .. cursor->end. Returns 1, 0 at the end of the ring, or an
	 * error.
	 */
	int (*refill)(struct ktread *trace, struct ktread_cursor *cursor);
	/* Takes cursor->item and fills cursor->event. Returns false if the filter rejects the event. */
	bool (*decode)(struct ktread *trace, struct ktread_cursor *cursor);
	/*
	 * Decodes at most `room` of the items from cursor->item on into `brief`, without a filter. Returns
	 * how many. If this function is NULL, `decode` is used.
	 */
	uint16_t (*brief)(struct ktread_cursor *cursor, struct ktread_brief *brief, uint16_t room);
	void (*rewind)(struct ktread *trace, struct ktread_cursor *cursor);
	void (*destroy)(struct ktread_cursor *cursor);
};

struct ktread_cursor {
	const unsigned char *item; /* the next item */
	const unsigned char *end;
	struct ktread_event event;
	struct ktread_ring ring;
	const struct ktread_version *version; /* set by the first rewind, unless opening has set it */
	void *state;			      /* owned by the version's functions */
};

struct ktread_selection {
	bool set, active; /* `active`: the filter is applied */
	uint8_t *cpus;
	uint32_t cpu_count;
	int64_t thread;
	uint8_t *events;
	uint64_t since, until;
};

struct ktread {
	const struct ktread_version *version; /* functions for each cursor that has no functions of its own */
	struct ktread_cursor *cursor;
	uint32_t cursors;
	struct ktread_merge merge;
	struct ktread_selection selection;
	struct ktread_types types;
	struct ktread_names threads, syscalls, errors;
	struct ktread_info info;
	struct ktread_memory *memory;
	bool is_lossy;		      /* `memory` is a stream that lacks some blocks */
	struct ktread_image *image;   /* set for a RAM file or a core dump */
	struct ktread_layout *layout; /* only version 2 */
	struct ktread_options options;
	/* clocks of a version 2 trace; `measured` is applied first, then `aligned` */
	struct ktread_clocks measured, aligned;
	struct ktrx_fold fold; /* the row that ktread_fold() returned */
	unsigned char *build_id;
	char *note, *registers;
	uint64_t first_stamp;
	uint32_t unmerged; /* ring that ktread_next_by_ring() or ktread_next_briefs() reads now */
	int status;	   /* the error that ended reading */
	char *warning[KTREAD_MAX_WARNINGS];
	uint32_t warnings, warnings_returned;
	char message[512];
};

/* Returns a CPU's timestamp, corrected by measured offsets and then by alignment. */
static inline uint64_t ktread_corrected(const struct ktread *trace, uint32_t cpu, uint64_t stamp)
{
	return ktread_clocks_apply(&trace->aligned, cpu, ktread_clocks_apply(&trace->measured, cpu, stamp));
}

static inline uint64_t ktread_item_stamp(const unsigned char *item)
{
	uint64_t stamp;

	__builtin_memcpy(&stamp, item, sizeof(stamp));
	return stamp;
}

/* Returns true if the filter accepts an event. The filter is applied before the event is built. */
static inline bool ktread_selected(const struct ktread_selection *want, uint64_t stamp, uint32_t cpu,
				   uint32_t thread, uint32_t id)
{
	if (want->cpus && (cpu >= want->cpu_count || !(want->cpus[cpu / 8] >> (cpu % 8) & 1)))
		return false;
	if (want->events && !(want->events[id / 8] >> (id % 8) & 1))
		return false;
	if (want->thread >= 0 && (uint64_t)want->thread != thread)
		return false;
	return stamp >= want->since && stamp <= want->until;
}

/* Stores a warning for ktread_warning(). Warnings beyond the limit, and repeated ones, are dropped. */
void ktread_warn(struct ktread *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Copies the thread's error text to the trace. Returns `status`. */
int ktread_keep_message(struct ktread *trace, int status);

/* Makes `count` cursors, all zero except their ring numbers. Returns 0 or KTREAD_E_MEMORY. */
int ktread_cursors_create(struct ktread *trace, uint32_t count);
/* Returns how many slots a ring's window may have, so that all windows together stay small. */
uint32_t ktread_window_slots(uint32_t rings);

/* beside.c: adds rings to those of a trace. */

/*
 * Adds a cursor at the end, all zero except its ring number, and makes the merge anew. Returns 0 or
 * KTREAD_E_MEMORY.
 */
int ktread_beside_cursor(struct ktread *trace);
/* Adds `count` event types at free ids. Sets *id to the id of the first. Returns 0 or an error. */
int ktread_beside_types(struct ktread *trace, const struct ktread_type *type, uint32_t count, uint32_t *id);

#endif
