/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A trace that is being read: its clocks, its names, the merging of its rings, and its cursors. */
#ifndef KTREAD_TRACE_H
#define KTREAD_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "source.h"
#include "types.h"

/*
 * Clocks put right: for each CPU a function from its stamps to corrected ones, in straight pieces through
 * points that somebody measured or worked out. It never falls, whatever the points are.
 */

struct ktread_clock_piece {
	uint64_t from;	/* stamp at which it begins; the first one holds before that too */
	int64_t offset; /* ticks to be added there … */
	int64_t slope;	/* … and, in 2^-32, for each tick from there on */
};

struct ktread_clock {
	struct ktread_clock_piece *piece;
	uint32_t pieces; /* 0: stamps are right as they are */
	uint32_t at;	 /* piece that was used last: most often the next one too */
};

/* Of a trace. `clock` has `cpus` entries; those of other CPUs are right as they are. */
struct ktread_clocks {
	struct ktread_clock *clock;
	uint32_t cpus;
};

/*
 * Makes the pieces through `count` points in order of their stamps; points that contradict those before them
 * (no later, or drifting off by more than half) are left out. Before the first and behind the last one the
 * drift goes on that `slopes` says, in 2^-32. Replaces what was there.
 */
int ktread_clock_set(struct ktread_clock *clock, const struct ktread_clock_point *point, uint32_t count,
		     const int64_t slopes[2]);
int ktread_clocks_init(struct ktread_clocks *clocks, uint32_t cpus);
void ktread_clocks_free(struct ktread_clocks *clocks);

/* Takes what the guest measured, from the sections of a version 2 trace, and says so in the trace's info. */
int ktread_clock_load(struct ktread *trace);

uint64_t ktread_clock_apply(struct ktread_clock *clock, uint64_t stamp);

static inline uint64_t ktread_clocks_apply(const struct ktread_clocks *clocks, uint32_t cpu, uint64_t stamp)
{
	if (cpu >= clocks->cpus || clocks->clock[cpu].pieces == 0)
		return stamp;
	return ktread_clock_apply(&clocks->clock[cpu], stamp);
}

/* Names by number: threads and system calls, as a trace brings them. */

struct ktread_name {
	uint32_t number;
	const char *name;
	const char *rest; /* of its line, after the name; NULL: nothing */
};

/* Sorted by number. */
struct ktread_names {
	struct ktread_name *row;
	uint32_t rows;
	char *text; /* what the names lie in */
};

/* From KTRX_SECTION_THREADS; takes over `bytes` (malloc'd), which has `size` bytes. */
int ktread_names_load_threads(struct ktread_names *names, char *bytes, uint64_t size, uint32_t row_size);
/*
 * From KTRX_SECTION_SYSCALLS: calls, and errors by what their results are below zero. Takes over `bytes`,
 * which has size + 1 bytes; all names lie in the text of `calls`.
 */
int ktread_names_load_calls(struct ktread_names *calls, struct ktread_names *errors, char *bytes,
			    uint64_t size);
const char *ktread_names_get(const struct ktread_names *names, uint32_t number);
/* What follows the name in its line; NULL: nothing, or no such line. */
const char *ktread_names_rest(const struct ktread_names *names, uint32_t number);
void ktread_names_free(struct ktread_names *names);

/*
 * Merging rings by stamp: a tournament tree over the next stamp of each ring. Nodes are single words, the
 * stamp since `base` above and the ring below, so that a round is a load, a comparison and a conditional
 * move, and a draw goes to the lower ring. Many rounds are played ahead of the reader in one tight loop, up
 * to the first ring whose items run out.
 *
 * Stamps farther from `base` than a node has room for count as equal to the farthest.
 */

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

/* What opening a trace acquired beside its cursors. */

void ktread_open_release(struct ktread *trace);

/*
 * A trace from inside. Each ring has a cursor that hands out items of 32 bytes, in order, each led by its
 * stamp: a v1 item is the record itself, a v2 item (versions.h) points at a checked record in the window. The
 * merge picks the cursor with the least stamp; only the picked item is turned into an event.
 */

#define KTREAD_MAX_WARNINGS 64u

struct ktread_cursor;
struct ktread_layout;

/* What differs between versions. */
struct ktread_version {
	/* Next items into cursor->item .. end: 1, 0 at the end of the ring, or an error. */
	int (*refill)(struct ktread *trace, struct ktread_cursor *cursor);
	/* Takes cursor->item and fills cursor->event from it. False: the filter does not want it. */
	bool (*decode)(struct ktread *trace, struct ktread_cursor *cursor);
	/*
	 * The items at hand in brief, at most `room`, no filter asked: how many. NULL: by way of `decode`.
	 */
	uint16_t (*brief)(struct ktread_cursor *cursor, struct ktread_brief *brief, uint16_t room);
	void (*rewind)(struct ktread *trace, struct ktread_cursor *cursor);
	void (*destroy)(struct ktread_cursor *cursor);
};

struct ktread_cursor {
	const unsigned char *item; /* the next one */
	const unsigned char *end;
	struct ktread_event event;
	struct ktread_ring ring;
	const struct ktread_version *version; /* set by the first rewind, where opening has not */
	void *state;			      /* the version's own */
};

struct ktread_selection {
	bool set, active; /* active: it is set and counts */
	uint8_t *cpus;
	uint32_t cpu_count;
	int64_t thread;
	uint8_t *events;
	uint64_t since, until;
};

struct ktread {
	const struct ktread_version *version; /* of all cursors that have none of their own */
	struct ktread_cursor *cursor;
	uint32_t cursors;
	struct ktread_merge merge;
	struct ktread_selection selection;
	struct ktread_types types;
	struct ktread_names threads, syscalls, errors;
	struct ktread_info info;
	struct ktread_memory *memory;
	bool is_lossy;		      /* memory is a stream without some of its blocks */
	struct ktread_image *image;   /* of a RAM file or a core */
	struct ktread_layout *layout; /* of version 2 */
	struct ktread_options options;
	struct ktread_clocks measured, aligned; /* of version 2; applied one after the other */
	struct ktrx_fold fold;			/* the row that ktread_fold() handed out */
	unsigned char *build_id;
	char *note, *registers;
	uint64_t first_stamp;
	uint32_t unmerged; /* ring that ktread_next_briefs() is at */
	int status;	   /* of the error that ended reading */
	char *warning[KTREAD_MAX_WARNINGS];
	uint32_t warnings, warnings_told;
	char message[512];
};

/* A stamp of that CPU's counter, by what was measured of its clock and by what it was aligned with. */
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

/* Stamps alone are left to the caller: items arrive by stamp, filters are tested before an event is built. */
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

/* Keeps a warning for ktread_warning(); beyond the limit they are dropped. */
void ktread_warn(struct ktread *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keeps the text of an error with the trace; returns `status`. */
int ktread_keep_message(struct ktread *trace, int status);

/* Makes `count` cursors, all zero. */
int ktread_cursors_create(struct ktread *trace, uint32_t count);
/* Slots a ring's window may have, so that all windows together stay small. */
uint32_t ktread_window_slots(uint32_t rings);

/* beside.c: what it takes to put further rings beside those of a trace. */

/* One cursor more, at the end, all zero: the merge is made anew for it. 0 or KTREAD_E_MEMORY. */
int ktread_beside_cursor(struct ktread *trace);
/* Adds rows after the existing ones. `*id` is the id of the first. */
int ktread_beside_types(struct ktread *trace, const struct ktread_type *type, uint32_t count, uint32_t *id);

#endif
