/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Strings and lanes of a page. Strings are numbered from 0, and so are lanes. A string or lane is described
 * in the first block that uses it.
 */
#ifndef PAGE_LANES_H
#define PAGE_LANES_H

#include <stdint.h>

#include "base/index.h"
#include "page/block.h"

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

#endif
