/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Slices of a page: periods that have a name, on a row of a lane. */
#ifndef PAGE_SLICES_H
#define PAGE_SLICES_H

#include <stdint.h>

#include "analyze/spans.h"
#include "page/block.h"

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

#endif
