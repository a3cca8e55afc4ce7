/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A trace that is being read: its types, its clocks, its names, the merging of its rings, and its cursors. */
#ifndef KTREAD_TRACE_H
#define KTREAD_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "layout.h"
#include "source.h"

/* ---- Event types ---- */

/*
 * A table of event types, indexed by their ids. A type without a name has not been used yet. An unknown type
 * gets a name when it is first used.
 */

#define KTREAD_TYPE_ROWS (KTRX_EVENT_MAX + 1u)

/* A place in the kernel's source code at which an event is recorded. Places have ids of their own. */
struct ktread_place {
	const char *file; /* source file of the place; NULL: no place has this id */
	uint32_t line;
	uint16_t event; /* id of the event that is recorded at the place; the event is in the table */
};

struct ktread_types {
	struct ktread_type *row; /* array of KTREAD_TYPE_ROWS event types, indexed by their ids */
	uint32_t end;		 /* upper limit of the ids in the table: all ids are smaller */
	/* array of KTREAD_TYPE_ROWS places, indexed by their ids; NULL: the trace has no places */
	struct ktread_place *place;
	/* array of KTREAD_TYPE_ROWS names of event types with unknown ids; NULL: no such id has occurred */
	char (*unknown)[16];
	char *text; /* memory in which the names from the trace are stored */
	struct ktread_field *field;
};

/* Makes an empty table. Does nothing if there is a table already. Returns 0 or KTREAD_E_MEMORY. */
int ktread_types_init(struct ktread_types *types);
void ktread_types_free(struct ktread_types *types);
/* Puts a copy of a type into the table. */
void ktread_types_set(struct ktread_types *types, uint32_t id, const struct ktread_type *type);
/* Makes a type for an unknown id. If out of memory, the type's name does not contain the id. */
void ktread_types_make_unknown(struct ktread_types *types, uint32_t id);
/* Returns true if the type was made for an unknown id. */
bool ktread_types_is_unknown(const struct ktread_type *type);
/* Returns the type with that id; NULL if it is not in the table. */
const struct ktread_type *ktread_types_known(const struct ktread_types *types, uint32_t id);

/* Returns true if there is a field for each conversion in the type's text, and each %s is for a string. */
bool ktread_text_fits(const struct ktread_type *type);

static inline const struct ktread_type *ktread_types_get(struct ktread_types *types, uint32_t id)
{
	if (__builtin_expect(!types->row[id].name, 0))
		ktread_types_make_unknown(types, id);
	return &types->row[id];
}

/* Returns the place with that id; NULL if there is none. */
static inline const struct ktread_place *ktread_types_place(const struct ktread_types *types, uint32_t id)
{
	return types->place && types->place[id].file ? &types->place[id] : NULL;
}

/* Sets the type, file and line of an event from the id in its record, which may also be the id of a place. */
static inline void ktread_types_identify(struct ktread_types *types, struct ktread_event *event, uint32_t id)
{
	const struct ktread_place *place = ktread_types_place(types, id);

	event->id = place ? place->event : (uint16_t)id;
	event->type = ktread_types_get(types, event->id);
	event->file = place ? place->file : NULL;
	event->line = place ? place->line : 0;
}

/*
 * Loads the event table and the event counts. Sets *damaged to the number of damaged descriptors. Returns the
 * number of all descriptors, including damaged ones, or an error.
 */
int ktread_types_load_v2(struct ktread_types *types, const struct ktread_layout *layout, uint32_t *damaged);

/*
 * Reads field `n`, which is at offset *offset of the payload, and moves *offset to the next field. Returns 0,
 * or KTREAD_E_FORMAT if the field is beyond the end of the payload or of an unknown type. Requires: n <
 * type->fields.
 */
int ktread_value_take(const struct ktread_event *event, uint32_t n, uint32_t *offset,
		      struct ktread_value *value);

/* ---- Clocks ---- */

/*
 * Corrected clocks. For each CPU, a piecewise linear function turns its timestamps into corrected timestamps.
 * The function goes through measured or computed points. The function never decreases, even if the points do.
 */

struct ktread_clock_piece {
	/* timestamp at which the piece begins; the first piece also covers earlier timestamps */
	uint64_t from;
	int64_t offset; /* number of ticks to add to a timestamp that equals `from` */
	/*
	 * slope of the piece: number of ticks, in units of 2^-32, to add to `offset` for each tick by which a
	 * timestamp is later than `from`
	 */
	int64_t slope;
};

struct ktread_clock {
	struct ktread_clock_piece *piece;
	uint32_t pieces; /* number of pieces; 0: timestamps are not corrected */
	/* index of the piece that was used last; the next timestamp is usually in the same piece */
	uint32_t at;
};

/*
 * The clocks of a trace. `clock` has an entry for each of `cpus` CPUs. Timestamps of other CPUs are not
 * corrected.
 */
struct ktread_clocks {
	struct ktread_clock *clock;
	uint32_t cpus;
};

/*
 * Replaces the pieces of a clock by pieces through `count` points, which are sorted by timestamp. Leaves out
 * a point that contradicts the point before it: a point that is not later, or whose offset differs by half of
 * the time between them or more. `slopes` are the drifts before the first and after the last point, in units
 * of 2^-32. Returns 0 or KTREAD_E_MEMORY.
 */
int ktread_clock_set(struct ktread_clock *clock, const struct ktread_clock_point *point, uint32_t count,
		     const int64_t slopes[2]);
void ktread_clocks_free(struct ktread_clocks *clocks);

/*
 * Loads the guest's measurements of its clocks from the sections of a version 2 trace, and describes them in
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

/* ---- Names of threads, of system calls and of errors, found by their numbers ---- */

struct ktread_name {
	uint32_t number;
	const char *name;
	const char *rest; /* the text after the name in its line; NULL: nothing follows the name */
};

/* The entries of a table of names, sorted by number. */
struct ktread_names {
	struct ktread_name *row;
	uint32_t rows;
	char *text; /* the memory in which the names are stored */
};

/*
 * Loads the names of threads from the bytes of KTRX_SECTION_THREADS. Takes over `bytes`, which is malloc'd
 * and has `size` bytes.
 */
int ktread_names_load_threads(struct ktread_names *names, char *bytes, uint64_t size, uint32_t row_size);
/*
 * Loads names of calls and of errors from the bytes of KTRX_SECTION_SYSCALLS. An error's number is the call's
 * result, negated. Takes over `bytes`, which is malloc'd and has room for size + 1 bytes. `calls` then owns
 * the memory, but `errors` uses it, too.
 */
int ktread_names_load_calls(struct ktread_names *calls, struct ktread_names *errors, char *bytes,
			    uint64_t size);
const char *ktread_names_get(const struct ktread_names *names, uint32_t number);
/*
 * Returns the text after the name in its line. Returns NULL if nothing follows the name, or no name has this
 * number.
 */
const char *ktread_names_rest(const struct ktread_names *names, uint32_t number);
void ktread_names_free(struct ktread_names *names);

/*
 * Merges rings by timestamp. A tournament tree finds the ring with the earliest next timestamp.
 *
 * A node is a single word: the timestamp minus `base` in the upper bits, the ring in the lower bits. So each
 * comparison of two rings is a load, a compare and a conditional move. If two items have equal timestamps,
 * the item of the ring with the lower number comes first. Many items are merged in one loop, before the
 * reader needs them. The loop ends when the items of a ring run out.
 *
 * If a timestamp is so far from `base` that it does not fit into a node, it is replaced by the largest
 * timestamp that fits.
 */

#define KTREAD_ITEM_SIZE   32u /* size of an item in bytes; an item begins with its timestamp */
#define KTREAD_MERGE_AHEAD 512u

/* The items of one ring that have not been merged yet. */
struct ktread_lane {
	/* next item of the ring to be merged; its word is in the ring's leaf of the tournament tree */
	const unsigned char *item;
	const unsigned char *end;
	/*
	 * word that the item after `item` will have in the tree; computed in advance, so that the merge does
	 * not wait for memory
	 */
	uint64_t ahead;
};

struct ktread_merge {
	/*
	 * the tournament tree: tree[1] is the word of the earliest of all next items, tree[leaves + n] the
	 * word of the next item of ring n
	 */
	uint64_t *tree;
	uint32_t leaves; /* number of leaves of the tournament tree, a power of two */
	uint32_t ring_bits;
	uint64_t base;
	struct ktread_lane *lane;
	/*
	 * the result of the merge: for each of the next items, in order of timestamps, the number of the ring
	 * that contains it
	 */
	uint32_t order[KTREAD_MERGE_AHEAD];
	uint32_t next, ordered;
	/* number of the ring whose items have run out; KTREAD_MERGE_NONE if no ring has run out */
	uint32_t starved;
};
#define KTREAD_MERGE_NONE UINT32_MAX

int ktread_merge_init(struct ktread_merge *merge, uint32_t rings);
void ktread_merge_free(struct ktread_merge *merge);
/* Forgets all items. `base` is the earliest timestamp of the items that will be given. */
void ktread_merge_reset(struct ktread_merge *merge, uint64_t base);
/* Gives the merge the next items of a ring. No items mean that the ring has ended. */
void ktread_merge_feed(struct ktread_merge *merge, uint32_t ring, const unsigned char *item,
		       const unsigned char *end);
/*
 * Merges more items, and fills order[] again. If the items of a ring run out, stops and sets `starved` to
 * this ring. Requires: order[] has been used up, and `starved` is KTREAD_MERGE_NONE.
 */
void ktread_merge_run(struct ktread_merge *merge);

/* Frees all memory that was allocated when the trace was opened, except the cursors. */
void ktread_open_release(struct ktread *trace);

/*
 * A trace. Each ring has a cursor, which returns the ring's items one after another. An item has 32 bytes and
 * begins with its timestamp. An item of version 1 is the record itself; an item of version 2 (versions.h)
 * refers to a checked record in the ring's window. The merge selects the cursor whose next item has the
 * earliest timestamp. This item becomes an event only when it is selected.
 */

#define KTREAD_MAX_WARNINGS 64u

struct ktread_cursor;
struct ktread_layout;

/* Functions that differ between the versions of traces. */
struct ktread_version {
	/*
	 * Reads the next items. Sets cursor->item to the first of these items, and cursor->end to the end of
	 * these items. Returns 1 on success, 0 at the end of the ring, or an error.
	 */
	int (*refill)(struct ktread *trace, struct ktread_cursor *cursor);
	/*
	 * Decodes the item at cursor->item into cursor->event, and moves cursor->item to the next item.
	 * Returns false if the filter rejects the event.
	 */
	bool (*decode)(struct ktread *trace, struct ktread_cursor *cursor);
	/*
	 * Decodes at most `room` items, from cursor->item on, into `brief`, and moves cursor->item past them.
	 * Applies no filter. Returns the number of items decoded. If this pointer is NULL, `decode` is used
	 * instead.
	 */
	uint16_t (*brief)(struct ktread_cursor *cursor, struct ktread_brief *brief, uint16_t room);
	void (*rewind)(struct ktread *trace, struct ktread_cursor *cursor);
	/*
	 * Called after `rewind`: skips the parts of the ring that cannot contain events which the filter
	 * accepts. Returns 0 or an error. If this pointer is NULL, nothing is skipped.
	 */
	int (*seek)(struct ktread *trace, struct ktread_cursor *cursor);
	void (*destroy)(struct ktread_cursor *cursor);
};

struct ktread_cursor {
	const unsigned char *item; /* the next item of the ring to return */
	const unsigned char *end;
	struct ktread_event event;
	struct ktread_ring ring;
	/*
	 * the functions for this cursor; set by the first rewind, unless they were set when the trace was
	 * opened
	 */
	const struct ktread_version *version;
	void *state; /* data of the functions in `version`, which own it */
};

struct ktread_selection {
	/* `set`: the caller has set a filter; `active`: the filter is applied now */
	bool set, active;
	uint8_t *cpus;
	uint32_t cpu_count;
	int64_t thread;
	uint8_t *events;
	uint64_t since, until;
	int (*accept)(void *context, const struct ktread_event *event);
	void *context;
};

struct ktread {
	const struct ktread_version *version; /* functions for each cursor that has none of its own */
	struct ktread_cursor *cursor;
	uint32_t cursors;
	struct ktread_merge merge;
	struct ktread_selection selection;
	struct ktread_types types;
	struct ktread_names threads, syscalls, errors;
	struct ktread_info info;
	struct ktread_memory *memory;
	bool is_lossy;		      /* true if `memory` is a stream that lacks some blocks */
	struct ktread_image *image;   /* the image in a RAM file or a core dump; NULL for other traces */
	struct ktread_layout *layout; /* the layout of a version 2 trace; NULL for other traces */
	struct ktread_options options;
	/* the clocks of a version 2 trace: `measured` is applied first, `aligned` second */
	struct ktread_clocks measured, aligned;
	struct ktrx_fold fold; /* row of the table of repetitions that ktread_fold() returned last */
	unsigned char *build_id;
	char *note, *registers;
	uint64_t first_stamp;
	/*
	 * the largest timestamp whose distance from first_stamp fits in 63 bits of nanoseconds; 0 until
	 * first_stamp is known
	 */
	uint64_t last_fit;
	/* spacing, as in struct ktread_seek; only tests set it, because their rings are small */
	uint64_t seek_spacing;
	/* number of the ring that ktread_next_by_ring() or ktread_next_briefs() is reading */
	uint32_t unmerged;
	int status;		    /* error after which nothing more is read; 0: none */
	int (*stop)(void *context); /* the function that was given to ktread_set_stop() */
	void *stop_context;
	char *warning[KTREAD_MAX_WARNINGS];
	uint32_t warnings, warnings_returned;
	char message[512];
};

/* Returns the corrected timestamp of a CPU: corrected first by measured offsets, then by alignment. */
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

/* Returns true if the filter accepts an event with these values. Used before the event is decoded. */
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

/* Returns true if the filter accepts an event. Requires: the event is complete. */
static inline bool ktread_wanted(const struct ktread_selection *want, const struct ktread_event *event)
{
	return !want->active || (ktread_selected(want, event->stamp, event->cpu, event->thread, event->id) &&
				 (!want->accept || want->accept(want->context, event)));
}

/*
 * Stores a warning for ktread_warning(). If there are too many warnings, or the trace has this one already,
 * does nothing.
 */
void ktread_warn(struct ktread *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Does the same as ktread_frequency(), and warns if the recorded frequency is impossible. Requires: `memory`
 * is set.
 */
uint64_t ktread_settle_frequency(struct ktread *trace, uint64_t recorded);

/* Copies the thread's error message to the trace. Returns `status`. */
int ktread_keep_message(struct ktread *trace, int status);

/*
 * Makes `count` cursors. All members of a cursor are zero, except its ring number. Returns 0 or
 * KTREAD_E_MEMORY.
 */
int ktread_cursors_create(struct ktread *trace, uint32_t count);
/*
 * Returns the number of slots in a ring's window. This number is chosen so that the total size of all windows
 * is small.
 */
uint32_t ktread_window_slots(uint32_t rings);

/* Functions of beside.c, which adds rings to a trace. */

/*
 * Adds a cursor after the existing ones, and restarts the merge. All members of the cursor are zero, except
 * its ring number. Returns 0 or KTREAD_E_MEMORY.
 */
int ktread_beside_cursor(struct ktread *trace);
/*
 * Adds `count` event types at free ids. Sets *id to the id of the first type; the ids of the other types
 * follow it. Returns 0 or an error.
 */
int ktread_beside_types(struct ktread *trace, const struct ktread_type *type, uint32_t count, uint32_t *id);

#endif
