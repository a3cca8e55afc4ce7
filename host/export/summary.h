/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A summary of a trace: numbers of events by type, thread and CPU, the duration, and how many slots were
 * decoded or lost.
 */
#ifndef EXPORT_SUMMARY_H
#define EXPORT_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/* ---- Counts by event, thread and CPU. The tables have a fixed size: one element per possible id. ---- */

#define TALLY_EVENTS (KTRX_EVENT_MAX + 1u)
/* number of elements of a table indexed by CPU; the last element is for unknown CPUs */
#define TALLY_CPUS	   4097u
#define TALLY_THREAD_PAGE  1024u
#define TALLY_THREAD_PAGES ((KTRX_THREAD_MAX + 1u) / TALLY_THREAD_PAGE)

struct tally_count {
	uint64_t count;
	uint64_t first; /* timestamp of the first of the counted events */
	/*
	 * position of this first event in the order of reading, which decides the order of keys with the same
	 * timestamp
	 */
	uint64_t sequence;
	double rate; /* number of events in a tick, if `rated` is set in struct tally */
};

/* A key that occurred (a type, thread or CPU), as an element of a list. */
struct tally_entry {
	uint64_t count;
	uint64_t first, sequence;
	double rate;
	uint32_t key;
};

struct tally {
	uint64_t events;
	uint64_t first, last; /* timestamps of the first and last event; valid if `events` is not 0 */
	uint64_t folded;      /* number of repetitions that the kernel counted instead of recording */
	/* number of the repetitions in `folded` that were still in progress at the end of the trace */
	uint64_t folding;
	/* indexed by event id: number of repetitions that were counted instead of recorded */
	uint64_t repeats[TALLY_EVENTS];
	struct tally_count event[TALLY_EVENTS];
	uint64_t cpu[TALLY_CPUS];
	/* set by tally_rates(): true if `rate`, `cpu_rate` and the rates of counts are valid */
	bool rated;
	double rate; /* number of events in a tick */
	double cpu_rate[TALLY_CPUS];
	struct tally_count *thread[TALLY_THREAD_PAGES];
};

/*
 * Reads the trace to its end and counts the events. Returns 0 or a negative KTREAD_E_*. After an error, the
 * counts up to the error are valid.
 */
int tally_trace(struct tally **tally, struct ktread *trace);
/*
 * Does the same as tally_trace(), and passes each event to `each` when it is read, one ring after another.
 * `each` returns 0, or -1 if memory runs out.
 */
typedef int tally_each(void *context, const struct ktread_brief *brief, unsigned count);
int tally_trace_with(struct tally **tally, struct ktread *trace, tally_each *each, void *context);
/*
 * If rings were overwritten, they cover different times. Then reads the trace again, and computes rates for
 * which each ring counts only for the time that it covers. A filter for events, threads or CPUs does not
 * shorten this time; a filter for timestamps does. Returns 0 or a negative KTREAD_E_*.
 */
int tally_rates(struct tally *tally, struct ktread *trace);
void tally_free(struct tally *tally);

/* The properties by which events are counted. */
enum tally_kind {
	TALLY_BY_EVENT,
	TALLY_BY_THREAD,
	TALLY_BY_CPU,
};

enum tally_order {
	/*
	 * by count, the largest first; keys with equal counts are in the order in which they first occurred
	 */
	TALLY_MOST_FIRST,
	TALLY_BY_KEY,
};

/*
 * Makes a list of the keys that occurred. The caller frees the list. Stores its length in `entries`. Returns
 * NULL if out of memory.
 */
struct tally_entry *tally_list(const struct tally *tally, enum tally_kind kind, enum tally_order order,
			       size_t *entries);

/* ---- Summary. Requires: the trace was read to its end. ---- */

/*
 * An event as people know it: all types with the same group and name. Each file of a kernel has types of its
 * own.
 */
struct summary_event {
	uint64_t count, folded; /* sums of all these types */
	double rate;
	uint32_t id;	/* one of these types */
	uint32_t place; /* place in the list of types */
};

struct summary {
	const struct ktread *trace;
	const struct tally *tally;
	struct tally_entry *events, *threads, *cpus; /* `events`: an entry for each type */
	size_t event_count, thread_count, cpu_count;
	struct summary_event *named; /* the largest count first */
	size_t named_count;
	double seconds; /* time from the first event to the last; 0 if the frequency is unknown */
	uint64_t cost;	/* cost of a thousand events in ticks; 0 if unknown */
	uint64_t overwritten, invalid, dropped; /* numbers of slots, in all rings together */
	/* set by the caller: JSON lacks the names of threads, and the text about how the guest ended */
	bool redact;
};

/* Fills in `summary`. Returns 0 or KTREAD_E_MEMORY. */
int summary_init(struct summary *summary, const struct ktread *trace, const struct tally *tally);
void summary_free(struct summary *summary);

void summary_write_text(struct base_output *out, const struct summary *summary, const char *path);
void summary_write_json(struct base_output *out, const struct summary *summary);

/* Returns whether the guest dumped the trace itself. Such a trace ends when the dump was taken. */
bool summary_is_dump(const struct ktread *trace);
/*
 * Returns whether recording was stopped some time before the trace was taken, so that later events are
 * unknown. Returns false if the guest stopped recording only to send its dump.
 */
bool summary_was_stopped(const struct summary *summary);
/*
 * Returns the text that `ktrace run` recorded about how the guest ended, and stores its length. Returns
 * NULL if there is no such text.
 */
const char *summary_ended(const struct ktread *trace, size_t *length);
/* Returns the exit reason: "exited", "panicked" or "running". */
const char *summary_outcome(uint32_t outcome);
/*
 * Returns the fraction of the time of `cpus` CPUs that was needed to record `events` events; 0 if unknown.
 * `rate`: number of these events in a tick, used if the tally has rates.
 */
double summary_cost_share(const struct summary *summary, uint64_t events, double rate, uint32_t cpus);

#endif
