/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The events of a page, with the values of their fields. */
#ifndef PAGE_EVENTS_H
#define PAGE_EVENTS_H

#include <stdint.h>

#include "base/index.h"
#include "page/lanes.h"

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

#endif
