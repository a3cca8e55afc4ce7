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
#include "analyze/scheduling.h"
#include "analyze/threads.h"
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

/* ---- The history from which worst.c explains durations (worst_history.c) ---- */

/*
 * What each thread did, which locks it waited for and held, and when interrupt handlers ran, within some
 * spans of time. The history is made from the models of threads and spans.
 */

#define HISTORY_MOST 131072u /* maximum number of entries of each kind */

/* A time for which a thread has one state. */
struct history_state {
	uint64_t owner; /* id of the thread */
	uint64_t from, to;
	uint32_t cpu; /* CPU on which the thread runs or last ran */
	/*
	 * if the state is THREADS_RUNNABLE: CPU on which the thread runs next; KTRX_NO_CPU if this is not
	 * certain
	 */
	uint32_t next_cpu;
	uint8_t state;
	bool woken;	/* true if a wakeup ended the state */
	bool interrupt; /* true if an interrupt handler caused the wakeup */
	uint32_t waker;
};

/* A span of time in which a thread waits for a lock or holds it, or in which an interrupt handler runs. */
struct history_span {
	uint64_t owner; /* in `waits`: thread id; in `holds`: lock; in `interrupts`: CPU */
	uint64_t from, to;
	uint64_t key; /* in `waits`: lock; in `holds`: thread id; in `interrupts`: number of the interrupt */
	char name[WORST_NAME];
	bool ended; /* true if the event that ends the span is recorded */
};

struct history_spans {
	struct history_span *span; /* sorted by owner, then by `from` */
	uint32_t count, room;
};

struct history_window {
	uint64_t from, to;
};

struct history {
	/* the time windows for which the history is needed, sorted and without overlaps; set by the caller */
	struct history_window window[WORST_MOST];
	uint32_t windows;
	struct history_state *state; /* sorted by owner, then by `from` */
	uint32_t states, room;
	struct history_spans waits, holds, interrupts;
	struct history_spans runs; /* computed from `state`; the owner is a CPU, the key is a thread id */
	bool cut;		   /* true if there was no room for all entries */
};

/*
 * Reads the history of history->window, without the trace's filter, and rewinds the trace. `gaps`: the gaps
 * of the trace. If a thread has no entry for a time, its state at that time is unknown. Returns 0,
 * KTREAD_E_MEMORY, or an error of ktread_next().
 */
int history_read(struct history *history, struct ktread *trace, struct gaps *gaps);
void history_free(struct history *history);

/* Return the index of the first entry of an owner that ends after `from`. */
uint32_t history_find_state(const struct history *history, uint64_t owner, uint64_t from);
uint32_t history_find_span(const struct history_spans *spans, uint64_t owner, uint64_t from);

#endif
