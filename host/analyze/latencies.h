/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * How long everything took that the well-known events delimit: system calls, interrupts, faults, waiting for
 * locks and holding them, and from a wakeup until the thread runs. A row for each system call and each
 * interrupt, one for each of the others.
 */
#ifndef ANALYZE_LATENCIES_H
#define ANALYZE_LATENCIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/pairs.h"
#include "ktread/ktread.h"

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
