/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the part of a ring that can contain the events of a time window, without reading the whole ring.
 *
 * A ring is nearly in the order of timestamps. The search reads samples at equal distances: first samples of
 * the whole ring, then samples of the part that contains the time window, at smaller distances. If a sample
 * of the whole ring has an earlier timestamp than the sample before it, the clock went back or the ring is
 * damaged, and the whole ring is read. If samples of a part are not in order, the search does not make this
 * part smaller. Each record is expected near its place in the order of timestamps: at most
 * KTREAD_SEEK_DISORDER times the last distance away. So the search examines the slots up to this distance
 * around the time window one by one.
 */
#ifndef KTREAD_SEEK_H
#define KTREAD_SEEK_H

#include <stdbool.h>
#include <stdint.h>

#define KTREAD_SEEK_DISORDER 4u
/*
 * minimum distance between two samples in slots; with it, records up to 8192 slots away from their place in
 * the order are always found
 */
#define KTREAD_SEEK_SPACING 2048u
#define KTREAD_SEEK_CHUNK   1024u      /* maximum number of slots for which one call of `stamps` is made */
#define KTREAD_SEEK_NONE    UINT64_MAX /* value of a timestamp for a slot in which no record begins */

/* A ring as the search sees it: slots are numbered from 0, in the order in which they were written. */
struct ktread_seek {
	uint64_t slots;
	uint64_t spacing; /* minimum distance between samples; 0: KTREAD_SEEK_SPACING */
	/*
	 * Sets timestamp[n] to the timestamp of the record that begins in slot at + n, or to
	 * KTREAD_SEEK_NONE. Returns 0 or an error.
	 */
	int (*stamps)(void *context, uint64_t at, uint64_t *stamp, uint32_t count);
	/*
	 * Sets *from and *to to the slots between which all records of the time window begin. Returns false
	 * if these slots are unknown, so that samples must be read. If this pointer is NULL, these slots are
	 * always unknown.
	 */
	bool (*part)(void *context, uint64_t since, uint64_t until, uint64_t *from, uint64_t *to);
	void *context;
	/* the time window of the last search, in the ring's own timestamps */
	uint64_t since, until;
	/*
	 * the result of the last search: the slots from `first` up to, not including, `end` contain all
	 * events of the time window
	 */
	uint64_t first, end;
	bool searched;
	bool found; /* true if the search has found the slots; false: the whole ring must be read */
};

/*
 * Searches for the time window from `since` to `until`. Does not search again if the last search had the same
 * time window. Returns 1 and sets `first` and `end`. Unless `first` is 0, a record that is earlier than the
 * time window begins in slot `first`. Unless `end` is `slots`, the slots before `end` contain a record that
 * is later than the time window. Returns 0 if the whole ring must be read, or an error.
 */
int ktread_seek_run(struct ktread_seek *seek, uint64_t since, uint64_t until);

#endif
