/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The records of all rings, newest first, while writers may go on. */
#ifndef KTRACE_CONSOLE_MERGE_H
#define KTRACE_CONSOLE_MERGE_H

#include "ktrace/port.h"

#include "../core/state.h"
#include "../core/walk.h"

#define KTRACE_MERGE_ALL KTRX_NO_CPU

struct ktrace_merge_cursor {
	struct ktrace_walk walk; /* the record to be shown next is the one before it … */
	uint64_t index, stamp;	 /* … which is this, by the time of CPU 0 */
	bool is_pending;	 /* there is one */
};

/* Too large for a kernel's stack. */
struct ktrace_merge {
	uint32_t rings;
	uint64_t overwritten, unreadable; /* slots, so far */
	struct ktrace_walk_record peeked;
	struct ktrace_merge_cursor cursor[KTRACE_RING_ROWS];
};

/* Begins with the rings as they are now; those of other CPUs than `cpu` are left out, if it names one. */
void ktrace_merge_start(struct ktrace_merge *merge, uint32_t cpu);

/*
 * The next older record, its stamp in the time of CPU 0; false at the end. Of a shared ring the records of
 * all CPUs come.
 */
bool ktrace_merge_next(struct ktrace_merge *merge, struct ktrace_walk_record *record);

#endif
