/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Counts events of a trace by event, by thread and by CPU. Memory is bounded by what can be named in a trace.
 */
#ifndef EXPORT_TALLY_H
#define EXPORT_TALLY_H

#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"

#define TALLY_EVENTS	   (KTRX_EVENT_MAX + 1u)
#define TALLY_CPUS	   4097u /* the last: unknown */
#define TALLY_THREAD_PAGE  1024u
#define TALLY_THREAD_PAGES ((KTRX_THREAD_MAX + 1u) / TALLY_THREAD_PAGE)

struct tally_count {
	uint64_t count;
	uint64_t first;	   /* stamp of the first such event … */
	uint64_t sequence; /* … and its number, which tells the order of equal stamps */
};

/* A key that occurred, for listing. */
struct tally_entry {
	uint64_t count;
	uint64_t first, sequence;
	uint32_t key;
};

struct tally {
	uint64_t events;
	uint64_t first, last;		/* stamps, if there were events */
	uint64_t folded;		/* repetitions that were counted instead of recorded … */
	uint64_t folding;		/* … those of them that nothing has ended */
	uint64_t repeats[TALLY_EVENTS]; /* … and of which events */
	struct tally_count event[TALLY_EVENTS];
	uint64_t cpu[TALLY_CPUS];
	struct tally_count *thread[TALLY_THREAD_PAGES];
};

/* Reads the trace to its end. 0 or a negative KTREAD_E_*; what was counted until then stands. */
int tally_trace(struct tally **tally, struct ktread *trace);
void tally_free(struct tally *tally);

/* Which of the three a list is made of. */
enum tally_kind {
	TALLY_BY_EVENT,
	TALLY_BY_THREAD,
	TALLY_BY_CPU,
};

enum tally_order {
	TALLY_MOST_FIRST, /* equal counts: the one seen first */
	TALLY_BY_KEY,
};

/* What occurred, as a list that the caller frees; `entries` is its length. NULL without memory. */
struct tally_entry *tally_list(const struct tally *tally, enum tally_kind kind, enum tally_order order,
			       size_t *entries);

#endif
