/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* How long things took: what begins and ends by any key, and what the well-known events delimit. */
#ifndef ANALYZE_LATENCIES_H
#define ANALYZE_LATENCIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/histogram.h"
#include "analyze/keyed.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/* ---- Pairs by any key ---- */

/*
 * Pairs events that begin something with events that end it, by whatever key both carry, and gathers how long
 * it took.
 *
 * An end belongs to the last beginning with the same key; a beginning whose key is begun again before its end
 * is unmatched. An event that is both ends first and begins then, which gives the time from each to the next.
 *
 * A pair is dropped where an event of the rule was not recorded for a while in between, and where slots are
 * missing in between that could have held its true end: slots of the CPU, if the key is one, or if the thread
 * ran there throughout; else slots of any CPU.
 */

#define PAIRS_KEYS KEYED_WORDS

enum pairs_by {
	PAIRS_BY_OWNER, /* the thread that fires it; in interrupts, and where no thread runs, the CPU */
	PAIRS_BY_THREAD,
	PAIRS_BY_CPU,
	PAIRS_BY_FIELD,
};

struct pairs_key {
	enum pairs_by by;
	const char *begin_field, *end_field; /* PAIRS_BY_FIELD */
};

struct pairs_rule {
	uint8_t begins[(KTRX_EVENT_MAX + 1) / 8], ends[(KTRX_EVENT_MAX + 1) / 8]; /* bit maps of ids */
	struct pairs_key key[PAIRS_KEYS];
	uint32_t keys;
	uint64_t cost; /* thousandths of a tick to take off for each event recorded meanwhile on one CPU */
};

/* The longest so far. */
struct pairs_worst {
	uint64_t begin, end;  /* stamps */
	uint32_t cpu, thread; /* of the end */
};

struct pairs_result {
	struct histogram ticks;
	struct pairs_worst worst;
	uint64_t begins, ends; /* without a partner */
	uint64_t dropped;      /* pairs that may be none: slots are missing in between, or … */
	uint64_t switched;     /* … one of the events was switched off meanwhile */
	uint64_t keyless;      /* events whose payload does not hold the key */
	uint64_t left_out;
};

struct pairs;

/*
 * Reads the trace to its end, once for its gaps and once for the pairs. 0, or KTREAD_E_MEMORY, or what
 * ktread_next() said; what was gathered until then stands, if there is `pairs` at all.
 */
int pairs_read(struct pairs **pairs, struct ktread *trace, const struct pairs_rule *rule);
void pairs_free(struct pairs *pairs);

/* What it came to; owned by `pairs`. */
struct pairs_result *pairs_result(struct pairs *pairs);

/* Takes a pair into account: an event's cost off for each of `events`. 0 or KTREAD_E_MEMORY. */
int pairs_measure(struct histogram *ticks, struct pairs_worst *worst, uint64_t begin,
		  const struct ktread_event *end, uint64_t cost, uint64_t events);

/* ---- What the well-known events delimit ---- */

/*
 * How long everything took that the well-known events delimit: system calls, interrupts, faults, waiting for
 * locks and holding them, and from a wakeup until the thread runs. A row for each system call and each
 * interrupt, one for each of the others.
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
	uint64_t number;	   /* of the system call or interrupt */
	char name[LATENCIES_NAME]; /* as the event of its beginning says; "": it does not */
	struct histogram ticks;
	struct pairs_worst worst;
	uint64_t dropped; /* no end seen, or slots missing in between, or an event switched off meanwhile */
};

struct latencies {
	struct latencies_row row[LATENCIES_ROWS];
	uint32_t rows;
	uint64_t unpaired; /* ends without a beginning and the reverse */
	uint64_t left_out; /* durations that found no row */
	uint64_t events;
	bool states_unknown; /* sched.switch gives state 0 every time … */
	bool announced;	     /* … and sched.block alone says which threads sleep */
};

/*
 * Reads the trace to its end, once for its gaps and once for the figures. 0, or KTREAD_E_MEMORY, or what
 * ktread_next() said; what was gathered until then stands.
 * `cost`: thousandths of a tick to take off for each event recorded meanwhile on one CPU. Rows are in the
 * order of kind and
 * number.
 */
int latencies_read(struct latencies **latencies, struct ktread *trace, uint64_t cost);
void latencies_free(struct latencies *latencies);

#endif
