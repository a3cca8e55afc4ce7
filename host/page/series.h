/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The arrows, counters and gaps of a page. */
#ifndef PAGE_SERIES_H
#define PAGE_SERIES_H

#include <stdint.h>

#include "ktrx/slot.h"
#include "page/block.h"
#include "page/lanes.h"

/* ---- Arrows: from a cause on one lane to its effect on another lane ---- */

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

/* ---- Counters ---- */

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

/* ---- Gaps ---- */

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

#endif
