/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Events of a page, with the values of their fields. */
#ifndef PAGE_EVENTS_H
#define PAGE_EVENTS_H

#include <stdint.h>

#include "base/index.h"
#include "page/lanes.h"

/* The columns of a section. */
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
	/* Events of one ring and one CPU; a ring that CPUs share has a list for each CPU. */
	struct page_event_list {
		uint32_t ring, cpu, count;
		uint64_t time, slot; /* time and slot of the last event */
		struct page_bytes column[PAGE_EVENT_COLUMNS];
		struct page_bytes callers[2]; /* slots, and addresses, of events with callers */
		uint64_t caller_slot;
		uint32_t caller_count;
	} * list;
	uint32_t lists, room;
	struct base_index index; /* lists by ring and CPU */
	uint32_t last;		 /* list that was used last */
};

/*
 * Adds an event. `lane`: of its thread, plus 1; 0: none. `redact`: leave out texts. Returns 0 or
 * KTREAD_E_MEMORY.
 */
int page_events_add(struct page_events *events, struct page_strings *strings, uint64_t time, uint32_t lane,
		    const struct ktread_event *event, bool redact);
/* Appends a section for each list that has events, and empties the lists. */
void page_events_write(struct page_events *events, struct page_block *block);
void page_events_free(struct page_events *events);

#endif
