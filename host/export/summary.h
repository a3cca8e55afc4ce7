/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What is in a trace, in numbers: counts by event, thread and CPU, the time it spans, and where every slot
 * went.
 */
#ifndef EXPORT_SUMMARY_H
#define EXPORT_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/* ---- Counts by event, by thread and by CPU. Memory is bounded by what can be named in a trace. ---- */

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

/* ---- Summary. Requires: the trace was read to its end. ---- */

struct summary {
	const struct ktread *trace;
	const struct tally *tally;
	struct tally_entry *events, *threads, *cpus;
	size_t event_count, thread_count, cpu_count;
	double seconds; /* between the first event and the last, 0 if the frequency is unknown */
	uint64_t cost;	/* ticks that a thousand events cost, 0: unknown */
	uint64_t overwritten, invalid, dropped; /* of all rings */
};

/* 0 or KTREAD_E_MEMORY. */
int summary_init(struct summary *summary, const struct ktread *trace, const struct tally *tally);
void summary_free(struct summary *summary);

void summary_write_text(struct base_output *out, const struct summary *summary, const char *path);
void summary_write_json(struct base_output *out, const struct summary *summary);

/* Whether the guest sent the trace itself, so that it covers what came before it was taken and no more. */
bool summary_is_dump(const struct ktread *trace);
/* What `ktrace run` said of the guest's end, and its length; NULL if it said nothing. */
const char *summary_ended(const struct ktread *trace, size_t *length);
/* "exited", "panicked" or "running". */
const char *summary_outcome(uint32_t outcome);
/* The part of the time of `cpus` CPUs that recording so many events took; 0 if it cannot be told. */
double summary_cost_share(const struct summary *summary, uint64_t events, uint32_t cpus);

#endif
