/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Measures durations between events: between any events that begin and end something and have a common key,
 * and between the well-known events.
 */
#ifndef ANALYZE_LATENCIES_H
#define ANALYZE_LATENCIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/histogram.h"
#include "analyze/keyed.h"
#include "analyze/scheduling.h"
#include "analyze/spans.h"
#include "analyze/wellknown.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/* ---- Pairs by any key ---- */

/*
 * Pairs events that begin something with events that end it, by any key that both events have, and collects
 * the durations.
 *
 * An end is paired with the last beginning that has the same key. If another beginning with that key comes
 * before the end, the earlier beginning stays unmatched. An event may be both an end and a beginning. It then
 * counts as an end first; the durations are then the times from each event to the next.
 *
 * A pair is dropped if one of the rule's events was switched off at some time in between. It is also dropped
 * if missing slots may have contained an earlier end: slots of the CPU, if the key is a CPU, or if the thread
 * ran on that CPU all the time; otherwise slots of any CPU.
 */

#define PAIRS_KEYS KEYED_WORDS

enum pairs_by {
	/*
	 * the key is the thread that records the event; or the CPU, if the event is recorded in an interrupt
	 * or without a thread
	 */
	PAIRS_BY_OWNER,
	PAIRS_BY_THREAD,
	PAIRS_BY_CPU,
	PAIRS_BY_FIELD,
};

struct pairs_key {
	enum pairs_by by;
	const char *begin_field, *end_field; /* PAIRS_BY_FIELD */
};

struct pairs_rule {
	uint8_t begins[(KTRX_EVENT_MAX + 1) / 8], ends[(KTRX_EVENT_MAX + 1) / 8]; /* bit maps of event ids */
	struct pairs_key key[PAIRS_KEYS];
	uint32_t keys;
	/*
	 * cost of recording an event, in thousandths of a tick; subtracted for each event that the CPU
	 * recorded between begin and end
	 */
	uint64_t cost;
};

/* The longest duration so far. */
struct pairs_worst {
	uint64_t begin, end;  /* timestamps of the beginning and of the end */
	uint32_t cpu, thread; /* CPU and thread of the event that ends the duration */
};

struct pairs_result {
	struct histogram ticks;
	struct pairs_worst worst;
	/* `begins`: number of beginnings without an end; `ends`: number of ends without a beginning */
	uint64_t begins, ends;
	uint64_t dropped; /* number of pairs dropped because slots between begin and end are missing */
	/* number of pairs dropped because one of the events was off between begin and end */
	uint64_t switched;
	uint64_t keyless; /* number of events whose payload lacks the key */
	uint64_t left_out;
};

struct pairs;

/*
 * Reads the trace to its end, once for its gaps and once for the pairs. The trace's filter selects pairs by
 * the events that end them. Returns 0, KTREAD_E_MEMORY, or the error of ktread_next(). After an error,
 * `*pairs` contains what was collected before the error, or is NULL. The caller frees `*pairs` in any case.
 */
int pairs_read(struct pairs **pairs, struct ktread *trace, const struct pairs_rule *rule);
void pairs_free(struct pairs *pairs);

/* Returns the result, which `pairs` owns. */
struct pairs_result *pairs_result(struct pairs *pairs);

/* Adds the duration of a pair, minus the cost of recording `events` events. Returns 0 or KTREAD_E_MEMORY. */
int pairs_measure(struct histogram *ticks, struct pairs_worst *worst, uint64_t begin,
		  const struct ktread_event *end, uint64_t cost, uint64_t events);

/* ---- Durations between the well-known events ---- */

/*
 * Durations between the well-known events: system calls, interrupts, faults, waits for locks, the holding
 * of locks, and the time from a wakeup until the thread runs. Each system call and each interrupt has a row
 * of its own; every other kind has one row.
 */

#define LATENCIES_ROWS 128u
#define LATENCIES_NAME 32u

enum latencies_kind {
	LATENCIES_SYSCALL,
	LATENCIES_IRQ,
	LATENCIES_FAULT,
	LATENCIES_LOCK_WAIT,
	LATENCIES_LOCK_HELD,
	LATENCIES_RUN_QUEUE,
	LATENCIES_KINDS,
};

struct latencies_row {
	enum latencies_kind kind;
	bool has_number;
	uint64_t number; /* number of the system call or interrupt */
	/*
	 * name of the system call or interrupt, from the event at the beginning of the duration; "" if it has
	 * no name
	 */
	char name[LATENCIES_NAME];
	struct histogram ticks;
	struct pairs_worst worst;
	/* number of durations that were not measured: the end is not in the trace, or slots are missing */
	uint64_t dropped;
	/* number of durations that were not measured: an event that they need was, or may have been, off */
	uint64_t switched;
};

struct latencies {
	struct latencies_row row[LATENCIES_ROWS];
	uint32_t rows;
	/* number of events that were not paired, because thread 0 stands for several threads */
	uint64_t threadless;
	uint64_t unpaired; /* number of spans whose beginning or end is not in the trace */
	uint64_t left_out; /* number of durations left out because there was no room for their row */
	uint64_t events;
	bool states_unknown; /* true if every state in sched.switch is 0 */
	bool announced;	     /* true if states_unknown is true and sched.block shows which threads sleep */
};

/*
 * Reads the trace to its end, once for its gaps and once for the durations. Returns 0, KTREAD_E_MEMORY, or
 * the error of ktread_next(); what was collected until then stays valid. The caller frees `*latencies` in any
 * case. Rows are sorted by kind and number.
 * `cost`: thousandths of a tick to subtract for each event that the CPU recorded in between.
 */
int latencies_read(struct latencies **latencies, struct ktread *trace, uint64_t cost);

/* One duration that was measured. */
struct latencies_span {
	enum latencies_kind kind;
	bool has_number;
	uint64_t number;
	uint64_t begin, end;  /* timestamps of the beginning and of the end */
	uint32_t cpu, thread; /* CPU and thread of the event that ends the duration */
};
typedef void latencies_each(void *context, const struct latencies_span *span);
/* Does the same as latencies_read(), and also calls `each` for each duration that it measures. */
int latencies_read_each(struct latencies **latencies, struct ktread *trace, uint64_t cost,
			latencies_each *each, void *context);
void latencies_free(struct latencies *latencies);

/* ---- Durations between the well-known events one by one, including those that were not measured ---- */

enum latencies_end {
	LATENCIES_MEASURED,
	/*
	 * the end is not in the trace, slots are missing, or an event was switched off: the length is unknown
	 */
	LATENCIES_DROPPED,
	LATENCIES_OPEN, /* the duration has not ended at the end of the trace */
};

struct latencies_duration {
	enum latencies_kind kind;
	enum latencies_end how;
	uint64_t begin, end; /* timestamps; `end` is valid if the duration was measured */
	uint32_t cpu;	     /* CPU on which the duration began; for LATENCIES_RUN_QUEUE, CPU of the wakeup */
	uint32_t end_cpu;    /* CPU of the end; valid if the duration was measured */
	/* thread of the beginning; for LATENCIES_RUN_QUEUE, the thread that was woken */
	uint32_t thread;
	/*
	 * for LATENCIES_RUN_QUEUE: the thread that ran where the wakeup was made, and whether an interrupt
	 * that came during it, not the thread itself, made the wakeup
	 */
	uint32_t waker;
	bool interrupt;
	bool has_number;
	uint64_t number; /* number of the system call or interrupt, or address of the lock */
	bool has_result;
	int64_t result; /* result of the system call */
};

/* Each function returns 0 or a negative KTREAD_E_*, which ends the reading. */
struct latencies_sink {
	void *context;
	/* Takes the name of an interrupt or lock, from the event at the beginning; untrusted text. */
	int (*name)(void *context, enum latencies_kind kind, uint64_t number, const char *name,
		    size_t length);
	/* Takes a duration when it ends. */
	int (*take)(void *context, const struct latencies_duration *duration);
};

/*
 * Reads the trace to its end, as latencies_read() does. Passes each duration to `sink`. Returns 0,
 * KTREAD_E_MEMORY, the error of ktread_next(), or the result of a function of the sink if it is not 0.
 */
int latencies_pass(struct ktread *trace, const struct latencies_sink *sink);

/* ---- Certain durations, for callers that read the trace themselves ---- */

/*
 * Marks the events that must be recorded all the time for durations of this kind to be reliable, in a bit map
 * of KTRX_EVENT_MAX + 1 bits.
 */
void latencies_mark(const struct ktread *trace, struct wellknown_table *known, enum latencies_kind kind,
		    uint8_t *map);
/*
 * Returns whether the end of a span is certain: no missing slots or events may have contained an earlier end.
 * `event`: the event that ends the span; NULL if there is none. `needed`: bit map of latencies_mark(). Passes
 * the event's timestamp to gaps_between().
 */
bool latencies_is_certain(const struct spans *spans, struct gaps *gaps, const uint8_t *needed,
			  struct spans_owner owner, const struct spans_span *span,
			  const struct ktread_event *event);

#endif
