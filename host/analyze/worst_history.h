/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The history from which worst.c explains durations: what each thread did, which locks it waited for and
 * held, and when interrupt handlers ran, within some spans of time. The history is made from the models of
 * threads and spans.
 */
#ifndef ANALYZE_WORST_HISTORY_H
#define ANALYZE_WORST_HISTORY_H

#include "analyze/scheduling.h"
#include "analyze/threads.h"
#include "analyze/worst.h"

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
