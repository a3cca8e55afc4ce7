/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Explains why the longest durations took so long. worst_read() finds the longest durations of one kind
 * (analyze/latencies.h), and what all threads did in that time: the history. worst_explain() follows the
 * chain of causes back through the history, and divides a duration into shares.
 *
 * A share is a node of a tree. The nodes that have the same parent divide the time of the parent: their ticks
 * add up to its ticks. The ticks of the nodes without a parent add up to the whole duration. Time that cannot
 * be explained is a separate share. After lost slots, nothing is known until the next event that proves a
 * state.
 */
#ifndef ANALYZE_WORST_H
#define ANALYZE_WORST_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/latencies.h"
#include "ktread/ktread.h"

#define WORST_MOST  100u
#define WORST_NODES 128u /* maximum number of shares of a duration */
#define WORST_DEPTH 6u	 /* maximum length of a chain of causes */
#define WORST_NAME  32u

enum worst_reason {
	WORST_RUNNING,
	WORST_INTERRUPT, /* an interrupt handler ran instead; object: number of the interrupt */
	/*
	 * the thread was runnable, but did not run; `thread`: the thread that ran longest without a switch in
	 * that time on the CPU on which the waiting thread runs next, if known
	 */
	WORST_RUNNABLE,
	WORST_LOCK,	       /* the thread waits for the lock `object`, which `thread` holds */
	WORST_SLEEP,	       /* sleeps until `thread` wakes it */
	WORST_SLEEP_INTERRUPT, /* sleeps until an interrupt handler wakes it */
	WORST_STOPPED,
	/* Reasons that mean that the cause is unknown: */
	WORST_LOST,	 /* slots were lost */
	WORST_NO_STATE,	 /* nothing recorded shows what the thread did, or the events were switched off */
	WORST_NO_HOLDER, /* waits for the lock `object`, whose holder is unknown */
	WORST_NO_WAKER,	 /* sleeps, and no wakeup is recorded */
	WORST_TOO_DEEP,	 /* the chain of causes is too long */
};

struct worst_node {
	enum worst_reason reason;
	bool has_thread;
	uint32_t thread;
	uint64_t object;
	uint64_t ticks;
	uint32_t parent; /* index of the parent; WORST_NODES: none */
	/* name of the lock or interrupt, which may contain any bytes; "" if it has none */
	char name[WORST_NAME];
};

struct worst_shares {
	struct worst_node node[WORST_NODES];
	uint32_t nodes;
};

struct worst;

/*
 * Finds the `count` longest durations of a kind that the trace's filter selects. Reads the trace several
 * times; the history is read without the filter. Returns 0, KTREAD_E_MEMORY, or an error of ktread_next().
 * The caller frees *worst in any case.
 */
int worst_read(struct worst **worst, struct ktread *trace, enum latencies_kind kind, uint32_t count);
void worst_free(struct worst *worst);
/* Returns duration `n`; duration 0 is the longest. Returns NULL after the last duration. */
const struct latencies_span *worst_at(const struct worst *worst, uint32_t n);
/* Divides duration `n` into shares. Requires: the duration exists. */
void worst_explain(const struct worst *worst, uint32_t n, struct worst_shares *shares);
/* Returns whether the history is incomplete, because it needs too much memory. */
bool worst_is_cut(const struct worst *worst);

#endif
