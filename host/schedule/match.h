/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Decides which accesses touch a watched range. A range is given by its virtual address. The first access
 * through that address shows the physical page. From then on, an access through another virtual address of
 * the page is found as well.
 *
 *	if (!match_may_touch(match, address))
 *		return;					true for most accesses
 *	watch = match_virtual(match, &access);
 *	if (watch < 0 && match_needs_physical(match, &access))
 *		watch = match_physical(match, &access, physical);
 */
#ifndef SCHEDULE_MATCH_H
#define SCHEDULE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "control.h"

#define MATCH_PAGE UINT64_C(4096)
#define MATCH_SIZE 64u /* largest size of an access that can be found by its physical address */

struct match_range {
	struct schedule_watch watch;
	/* physical pages of the first and the second virtual page of the range */
	uint64_t page[2];
	bool known[2]; /* `page` is known */
};

struct match {
	/* one bit for each offset in a page: whether an access that begins there may touch a range */
	uint64_t offsets[MATCH_PAGE / 64];
	struct match_range range[SCHEDULE_WATCHES];
	uint32_t ranges;
};

struct match_access {
	uint64_t address; /* virtual address */
	uint32_t size;
	enum schedule_kind kind;
};

/* Prepares the search. Returns NULL, or what is wrong with a range. */
const char *match_open(struct match *match, const struct schedule_watch *watch, uint32_t watches);

/* Returns false if an access that begins at this address touches no range. */
static inline bool match_may_touch(const struct match *match, uint64_t address)
{
	const uint64_t offset = address % MATCH_PAGE;

	return match->offsets[offset / 64] >> offset % 64 & 1;
}

/* Returns the number of the first range that the access touches by its virtual address; -1: none. */
int match_virtual(const struct match *match, const struct match_access *access);

/* Returns true if the access touches a range by its offset in the page, and that range's page is known. */
bool match_needs_physical(const struct match *match, const struct match_access *access);

/* Does the same as match_virtual(), but with the physical address of the first byte. */
int match_physical(const struct match *match, const struct match_access *access, uint64_t physical);

/* Stores the physical page of a range. Requires: match_virtual() has returned `range` for this access. */
void match_learn(struct match *match, int range, const struct match_access *access, uint64_t physical);

#endif
