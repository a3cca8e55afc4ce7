/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What every thread and CPU is doing, concluded from the events of a trace in their order. Exporters and
 * analyses feed each event and get a call for each change; they add no scheduling knowledge of their own.
 *
 * Invariants:
 *   - a thread other than 0 runs on one CPU at most, and a CPU runs one thread;
 *   - a thread is reported as running only if it was not before, so the reported history is always legal;
 *   - what lost slots may have hidden is reported as unknown, never guessed.
 *
 * Times are any count that grows by two or more from event to event: a change that was not seen, between two
 * events, is reported at a time between theirs.
 */
#ifndef ANALYZE_THREADS_H
#define ANALYZE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

/* Threads and CPUs kept apart; those beyond are left out of the picture and counted. */
#define THREADS_MAX	 65536u
#define THREADS_CPUS_MAX 4096u

enum threads_state {
	THREADS_UNKNOWN,
	THREADS_RUNNING,
	THREADS_RUNNABLE,
	THREADS_SLEEPING, /* WELLKNOWN_STATE_SLEEP */
	THREADS_WAITING,  /* WELLKNOWN_STATE_WAIT */
	THREADS_STOPPED,
	THREADS_DEAD,
};

struct threads_thread {
	uint64_t seen;	 /* when it was last known to exist: its own event, or its last change */
	uint64_t since;	 /* of its last change */
	uint64_t stamp;	 /* of the event that told that change */
	uint64_t object; /* what it announced to wait for */
	uint32_t id;
	uint32_t index;	   /* dense, for tables beside this one */
	uint32_t cpu;	   /* runs there or did last; KTRX_NO_CPU if unknown */
	uint32_t life;	   /* 0 at first, one more each time the id is used again after a death */
	uint8_t state;	   /* enum threads_state */
	uint8_t announced; /* the state its next switch leads to; THREADS_UNKNOWN: nothing announced */
};

struct threads_change {
	uint64_t time;
	const struct threads_thread *thread; /* as it is after the change; valid during the call */
	enum threads_state from;	     /* before it */
	uint32_t cpu;			     /* where it ran or is to run; of a wake, where the waker was */
	bool followed;	/* another thread is told to run on that CPU next, at the same time */
	bool woken;	/* made runnable by … */
	uint32_t waker; /* … this thread, or … */
	bool interrupt; /* … an interrupt that came while it ran */
};

typedef void threads_changed(void *context, const struct threads_change *change);

/* Begins struct threads, for the functions below that are inline. */
struct threads_view {
	struct threads_thread *thread; /* by index */
	uint32_t *on;		       /* index of the thread that runs, by CPU; THREADS_NOBODY */
	uint32_t cpus;		       /* `on` has so many */
	uint32_t left;		       /* index of the thread that the newest switch left; THREADS_NOBODY */
};
#define THREADS_NOBODY UINT32_MAX

struct threads;

/* 0 or KTREAD_E_MEMORY. */
int threads_create(struct threads **threads, threads_changed *changed, void *context);
void threads_destroy(struct threads *threads);

/*
 * What the whole trace tells, known before its first event is taken. A `state` of sched.switch that is 0
 * every time means nothing. Where a kernel announces that threads block (WELLKNOWN_BLOCK), a switch without
 * that leaves a runnable thread, unless the announcement was switched off then. `scheduling` must outlive the
 * model.
 */
struct scheduling;
void threads_learn(struct threads *threads, const struct scheduling *scheduling);

/* The same where the trace has only begun: states count from the first one on that is not 0. */
void threads_learn_on(struct threads *threads);

/* threads_event() of an event that may change something. */
int threads_take(struct threads *threads, const struct ktread_event *event, const struct wellknown *known,
		 uint64_t time);

/* Slots of CPU `cpu` are lost, somewhere between `from` and the event that comes next. */
void threads_gap(struct threads *threads, uint32_t cpu, uint64_t from);

/* NULL if never seen. Index: 0 to threads_count() - 1. */
const struct threads_thread *threads_find(const struct threads *threads, uint32_t id);
const struct threads_thread *threads_at(const struct threads *threads, uint32_t index);
uint32_t threads_count(const struct threads *threads);
uint64_t threads_left_out(const struct threads *threads); /* events of threads or CPUs beyond the limits */

/* The thread that runs on `cpu`, NULL if unknown. */
static inline struct threads_thread *threads_on(const struct threads *threads, uint32_t cpu)
{
	const struct threads_view *view = (const struct threads_view *)threads;

	return cpu < view->cpus && view->on[cpu] != THREADS_NOBODY ? &view->thread[view->on[cpu]] : NULL;
}

/* threads_find(), faster if the newest switch left the thread. */
static inline const struct threads_thread *threads_find_left(const struct threads *threads, uint32_t id)
{
	const struct threads_view *view = (const struct threads_view *)threads;

	if (view->left != THREADS_NOBODY && view->thread[view->left].id == id)
		return &view->thread[view->left];
	return threads_find(threads, id);
}

/* threads_find(), faster if the thread runs on `cpu`. */
static inline const struct threads_thread *threads_find_on(const struct threads *threads, uint32_t cpu,
							   uint32_t id)
{
	const struct threads_thread *running = threads_on(threads, cpu);

	return running && running->id == id ? running : threads_find(threads, id);
}

/*
 * Takes one event. 0 or KTREAD_E_MEMORY. `*current`: the thread that the event names, if it was known to run
 * there and nothing changes; else NULL.
 */
static inline int threads_event_of(struct threads *threads, const struct ktread_event *event,
				   const struct wellknown *known, uint64_t time,
				   const struct threads_thread **current)
{
	/* Kinds that change a thread's state, or that of another. */
	const uint64_t changing = UINT64_C(1) << WELLKNOWN_SWITCH | UINT64_C(1) << WELLKNOWN_BLOCK |
				  UINT64_C(1) << WELLKNOWN_EXIT | UINT64_C(1) << WELLKNOWN_WAKE |
				  UINT64_C(1) << WELLKNOWN_WAKE_QUEUE | UINT64_C(1) << WELLKNOWN_CREATE;
	struct threads_thread *running = threads_on(threads, event->cpu);

	/* Most events come from the thread that is known to run there. */
	*current = NULL;
	if (!running || running->id != event->thread || changing >> known->kind & 1)
		return threads_take(threads, event, known, time);
	*current = running;
	running->seen = time;
	return 0;
}

/* Takes one event. 0 or KTREAD_E_MEMORY. */
static inline int threads_event(struct threads *threads, const struct ktread_event *event,
				const struct wellknown *known, uint64_t time)
{
	const struct threads_thread *current;

	return threads_event_of(threads, event, known, time, &current);
}

/*
 * Whether a thread of that name is one that idles: `idle`, or `idle` and a non-letter, in capitals or not;
 * behind `cpu`, `core` or `hart` and a number, or `t`.
 */
bool threads_name_is_idle(const char *name, size_t length);

#endif
