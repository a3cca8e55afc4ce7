/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Blocks of a page, and what their sections contain: columns of numbers are collected as bytes, then written
 * as sections of a zlib stream. spec/page.md describes the format.
 */
#ifndef PAGE_BLOCK_H
#define PAGE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/spans.h"
#include "analyze/symbols.h"
#include "base/index.h"
#include "ktrx/slot.h"
#include "page/page.h"

/* ---- Bytes and blocks ---- */

#define PAGE_VARINT_MOST 10u /* maximum number of bytes that encode a number */

/* A growing buffer of bytes. If memory runs out, `failed` is set, and later bytes are discarded. */
struct page_bytes {
	unsigned char *byte;
	size_t size, room;
	bool failed;
};

/* Makes room for `more` bytes. Returns false if memory runs out. */
bool page_bytes_reserve(struct page_bytes *bytes, size_t more);
void page_bytes_free(struct page_bytes *bytes);

/* Appends a number as groups of 7 bits, one in each byte, the lowest bits first. */
static inline void page_put(struct page_bytes *bytes, uint64_t number)
{
	unsigned char *at;

	if (bytes->room - bytes->size < PAGE_VARINT_MOST && !page_bytes_reserve(bytes, PAGE_VARINT_MOST))
		return;
	at = bytes->byte + bytes->size;
	for (; number > 0x7f; number >>= 7)
		*at++ = (unsigned char)(number | 0x80);
	*at++ = (unsigned char)number;
	bytes->size = (size_t)(at - bytes->byte);
}

/* Appends a signed number: 0, -1, 1, -2, … are encoded as 0, 1, 2, 3, … */
static inline void page_put_signed(struct page_bytes *bytes, int64_t number)
{
	page_put(bytes, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

/* Appends the difference of two numbers, modulo 2^64, as a signed number. */
static inline void page_put_delta(struct page_bytes *bytes, uint64_t from, uint64_t to)
{
	page_put_signed(bytes, (int64_t)(to - from));
}

enum page_section {
	PAGE_STRINGS = 1,
	PAGE_LANES,
	PAGE_SLICES,
	PAGE_ARROWS,
	PAGE_COUNTER,
	PAGE_GAPS,
	PAGE_EVENTS,
	PAGE_DENSITY,
	PAGE_SYMBOLS,
	PAGE_STACKS,
};

struct page_block;

/*
 * Creates the writer of blocks. Returns NULL if memory runs out. `take` gets each block that page_block_end()
 * completes.
 */
struct page_block *page_block_create(page_take *take, void *context);
void page_block_free(struct page_block *block);
/* Appends a section: the bytes of `head`, then the bytes of the `count` columns. */
void page_block_section(struct page_block *block, enum page_section tag, const struct page_bytes *head,
			const struct page_bytes *columns, unsigned count);
/* Ends the block if it contains a section, and passes it to `take`. Returns 0 or a negative KTREAD_E_*. */
int page_block_end(struct page_block *block);

/* ---- Strings and lanes ---- */

/*
 * Strings are numbered from 0, and so are lanes. A string or lane is described in the first block that uses
 * it.
 */

struct page_strings {
	char *text; /* the remembered strings, one after another */
	size_t size, room;
	struct page_string {
		size_t at;
		uint32_t length, number;
	} * string;
	uint32_t count, string_room;
	struct base_index index;
	uint32_t next;	       /* number of the last string that was added */
	uint32_t fresh;	       /* number of strings that no block has described yet */
	struct page_bytes new; /* descriptions of the strings that `fresh` counts */
};

/*
 * Returns the number of a string, after base_escape_utf8() has escaped it. Equal strings usually have the
 * same number. If memory runs out, sets new.failed and returns 0, the number of "".
 */
uint32_t page_string(struct page_strings *strings, const char *text, size_t length);
/* Appends the section that describes new strings. String 0 is "", which no section describes. */
void page_strings_write(struct page_strings *strings, struct page_block *block);
void page_strings_free(struct page_strings *strings);

enum page_lane_kind {
	PAGE_LANE_CPU,
	PAGE_LANE_THREAD,
	PAGE_LANE_COUNTER,
	PAGE_LANE_FUNCTIONS,
	PAGE_LANE_OTHER,
};

#define PAGE_LANE_IDLE 1u /* flag: the thread is an idle thread */

struct page_lanes {
	uint32_t count; /* number of lanes */
	uint32_t fresh; /* number of descriptions that are not in a block yet */
	struct page_bytes new;
};

/* Adds a lane. Returns its number. `name` and `group` are numbers of strings. */
uint32_t page_lane_add(struct page_lanes *lanes, enum page_lane_kind kind, uint64_t number, uint32_t name,
		       uint32_t group, uint32_t flags);
/* Describes a lane again, because its name has changed. */
void page_lane_change(struct page_lanes *lanes, uint32_t lane, enum page_lane_kind kind, uint64_t number,
		      uint32_t name, uint32_t group, uint32_t flags);
/* Appends the section that describes new and changed lanes. */
void page_lanes_write(struct page_lanes *lanes, struct page_block *block);

/* ---- Slices: periods that have a name, on a row of a lane (series.c) ---- */

enum page_class {
	PAGE_CLASS_OTHER,
	PAGE_CLASS_RUNNING,
	PAGE_CLASS_RUNNABLE,
	PAGE_CLASS_SLEEPING,
	PAGE_CLASS_BLOCKED, /* the thread sleeps, and signals do not end the sleep */
	PAGE_CLASS_STOPPED,
	PAGE_CLASS_DEAD,
	PAGE_CLASS_UNKNOWN,
	PAGE_CLASS_IDLE,
	PAGE_CLASS_USER,
	PAGE_CLASS_CALL,
	PAGE_CLASS_INTERRUPT,
	PAGE_CLASS_FAULT,
	PAGE_CLASS_LOCK_WAIT,
	PAGE_CLASS_LOCK_HELD,
	PAGE_CLASS_FUNCTION,
};

/* Rows of a lane. Each lock has a separate row. */
#define PAGE_ROW_STATE 0u
#define PAGE_ROW_NEST  1u
#define PAGE_ROWS      (PAGE_ROW_NEST + 1u + SPANS_LOCKS)

#define PAGE_SLICE_BEGIN_UNKNOWN 1u
#define PAGE_SLICE_END_UNKNOWN	 2u

struct page_slice {
	uint64_t begin, duration; /* beginning and duration of the slice, in ns */
	uint64_t slot;		  /* index of the event that begins the slice, in ring `ring` */
	uint32_t ring;
	uint32_t lane;
	uint32_t name;	/* number of the string that is the name */
	uint32_t other; /* number of a lane that the slice refers to, plus 1; 0: none */
	uint16_t depth;
	uint8_t row, class, flags;
};

struct page_slices {
	struct page_slice *slice;
	uint32_t count, room;
};

/* Adds a slice. Returns 0 or KTREAD_E_MEMORY. */
int page_slices_add(struct page_slices *slices, const struct page_slice *slice);
/*
 * Appends a section for each row that has slices, and removes all slices. `lanes`: number of lanes. Returns
 * 0 or KTREAD_E_MEMORY.
 */
int page_slices_write(struct page_slices *slices, uint32_t lanes, struct page_block *block);
void page_slices_free(struct page_slices *slices);

/* ---- Arrows: from a cause on one lane to its effect on another lane (series.c) ---- */

enum page_arrow_kind { PAGE_ARROW_WAKE, PAGE_ARROW_IPI };

struct page_arrow {
	uint64_t time;		 /* time of the cause, in ns */
	uint64_t length;	 /* time until the effect; 0: unknown */
	uint64_t slot;		 /* index of the event that is the cause, in ring `ring` */
	uint32_t ring, from, to; /* `from`, `to`: numbers of the two lanes */
	uint8_t kind;
};

struct page_arrows {
	struct page_arrow *arrow;
	uint32_t count, room;
};

/* Adds an arrow. Returns 0 or KTREAD_E_MEMORY. */
int page_arrows_add(struct page_arrows *arrows, const struct page_arrow *arrow);
/* Appends a section with the arrows, in the order of their times, and removes them. */
void page_arrows_write(struct page_arrows *arrows, struct page_block *block);

/* ---- Counters (series.c) ---- */

struct page_counters {
	/* the samples of a lane that are not in a block yet */
	struct page_counter {
		uint32_t lane, count;
		uint64_t time;
		struct page_bytes column[2];
	} * counter;
	uint32_t count, room;
	/*
	 * indexed by event id: number of the counter for the event's first field, plus 1; 0: no counter yet
	 */
	uint32_t first[KTRX_EVENT_MAX + 1];
};

/* Adds a sample of each field of the event that is a number. Returns 0 or KTREAD_E_MEMORY. */
int page_counters_add(struct page_counters *counters, struct page_strings *strings, struct page_lanes *lanes,
		      uint64_t time, const struct ktread_event *event);
void page_counters_write(struct page_counters *counters, struct page_block *block);
void page_counters_free(struct page_counters *counters);

/* ---- Gaps (series.c) ---- */

struct page_gap {
	uint64_t begin, end, lost;
	uint32_t cpu;
};

struct page_gaps {
	struct page_gap *gap;
	uint32_t count, room;
};

/*
 * Adds a period in which slots of a CPU are missing. The CPU is KTRX_NO_CPU if it is unknown. Returns 0 or
 * KTREAD_E_MEMORY.
 */
int page_gaps_add(struct page_gaps *gaps, const struct page_gap *gap);
/* Appends a section with the gaps, in the order of their beginnings, and removes them. */
void page_gaps_write(struct page_gaps *gaps, struct page_block *block);

/* ---- Events, with the values of their fields (events.c) ---- */

/* The columns of a section, one buffer for each. */
enum page_event_column {
	PAGE_EVENT_TIME,
	PAGE_EVENT_TYPE,
	PAGE_EVENT_LANE,
	PAGE_EVENT_CONTEXT,
	PAGE_EVENT_SLOT,
	PAGE_EVENT_PRESENT,
	PAGE_EVENT_VALUES,
	PAGE_EVENT_COLUMNS,
};

struct page_events {
	/*
	 * The events of one ring and one CPU. If several CPUs share a ring, the ring has a list for each of
	 * these CPUs.
	 */
	struct page_event_list {
		uint32_t ring, cpu, count;
		uint64_t time, slot; /* time and slot of the event that was added last */
		struct page_bytes column[PAGE_EVENT_COLUMNS];
		struct page_bytes callers[2]; /* for events with callers: their slots, and the addresses */
		uint64_t caller_slot;
		uint32_t caller_count;
	} * list;
	uint32_t lists, room;
	struct base_index index; /* finds a list by its ring and CPU */
	uint32_t last;		 /* index of the list that was used last */
};

/*
 * Adds an event. `lane`: number of the lane of the event's thread, plus 1; 0: none. If `redact` is set,
 * leaves out texts. Returns 0 or KTREAD_E_MEMORY.
 */
int page_events_add(struct page_events *events, struct page_strings *strings, uint64_t time, uint32_t lane,
		    const struct ktread_event *event, bool redact);
/* Appends a section for each list that has events, and empties the lists. */
void page_events_write(struct page_events *events, struct page_block *block);
void page_events_free(struct page_events *events);

/* ---- Names of addresses (events.c) ---- */

/* maximum number of addresses that are looked up; further addresses get no names */
#define PAGE_SYMBOLS_MOST (UINT32_C(1) << 18)

struct page_symbols {
	struct symbols *from; /* the kernel's symbols; NULL: no names; not owned */
	bool redact;	      /* true to leave out source files */
	struct page_symbol {
		uint64_t address;
		uint32_t name; /* number of the string; 0: the address has no name */
	} * symbol;
	uint32_t count, room, written;
	struct base_index index; /* finds a symbol by its address */
};

enum page_symbol_kind {
	PAGE_SYMBOL_ANY,    /* an address of code or data */
	PAGE_SYMBOL_RETURN, /* a return address */
};

/*
 * Returns the number of the string that names an address, for example "sleep+0x1f (proc.c:30)"; 0 if the
 * address has no name, or memory runs out. The name will be written with the next block.
 */
uint32_t page_symbol(struct page_symbols *symbols, struct page_strings *strings, uint64_t address,
		     enum page_symbol_kind kind);
/* Appends the section with the names that no block has yet. */
void page_symbols_write(struct page_symbols *symbols, struct page_block *block);
void page_symbols_free(struct page_symbols *symbols);

#endif
