/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What lasts: calls, waits, interrupts. */
#ifndef ANALYZE_SPANS_H
#define ANALYZE_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/*
 * Pairs begins with ends: system calls, faults and locks by thread (so that they survive migration),
 * interrupts and whatever happens in them by CPU. Told of each event in order, it says which spans begin and
 * end.
 *
 * A span has an owner and a lane. Lane 0 nests: what begins last ends first. Locks are given up in any order,
 * so each waited for or held takes a lane of its own, from 1.
 *
 * Nothing is paired across lost slots: a span that may have ended in them is ended where its owner was last
 * seen.
 */

#define SPANS_NEST  6u /* open at once on lane 0; deeper ones are not spans */
#define SPANS_LOCKS 6u /* lanes 1 to SPANS_LOCKS */

struct spans_owner {
	bool cpu;	 /* else a thread */
	uint32_t number; /* of the CPU, THREADS_CPUS_MAX if unknown; or index of the thread (threads_at) */
};

/* What a span stands for, by the event that begins it. */
struct spans_span {
	uint64_t key;	/* number, object: what must be the same at both ends */
	uint64_t stamp; /* of its beginning */
	/* that spans_event() had been told of on that CPU by then, as spans_events() has it */
	uint64_t events;
	uint32_t cpu; /* where it began */
	uint8_t kind; /* enum wellknown_kind of the beginning */
	bool has_key;
};

struct spans_sink {
	void *context;
	void (*begin)(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		      const struct ktread_event *event);
	/* `event` is NULL if the span ends because the record of its end is missing, at `time`. */
	void (*end)(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		    const struct ktread_event *event, uint64_t time);
};

struct spans;

/* 0 or KTREAD_E_MEMORY. `threads` must be fed each event before this one is. */
int spans_create(struct spans **spans, const struct threads *threads, const struct spans_sink *sink);
void spans_destroy(struct spans *spans);

/*
 * From here on, ends spans where one of the events that begin and end them is switched on or off, and begins
 * none while one is off (spec/ktrx.md section 7). Call it once, before the first event. Returns 0 or
 * KTREAD_E_MEMORY.
 */
int spans_heed_switches(struct spans *spans, const struct ktread *trace);

/* Whose an event is. `threads`: those that the spans were created with. */
static inline struct spans_owner spans_owner_by(const struct threads *threads,
						const struct ktread_event *event)
{
	const struct threads_thread *thread = NULL;

	if (event->thread != 0 && event->context == KTRX_CONTEXT_THREAD)
		thread = threads_find_on(threads, event->cpu, event->thread);
	if (thread)
		return (struct spans_owner){ .number = thread->index };
	return (struct spans_owner){ .cpu = true,
				     .number =
					     event->cpu < THREADS_CPUS_MAX ? event->cpu : THREADS_CPUS_MAX };
}

/* The same. `current`: what threads_event_of() gave for the event. */
static inline struct spans_owner spans_owner_at(const struct threads *threads,
						const struct ktread_event *event,
						const struct threads_thread *current)
{
	if (current && event->thread != 0 && event->context == KTRX_CONTEXT_THREAD)
		return (struct spans_owner){ .number = current->index };
	return spans_owner_by(threads, event);
}

/* The same. */
struct spans_owner spans_owner_of(const struct spans *spans, const struct ktread_event *event);

/*
 * Takes one event. 1 if it begins or ends a span, 0 if it stands for itself (ends without a beginning, too),
 * or KTREAD_E_MEMORY.
 */
int spans_event(struct spans *spans, const struct ktread_event *event, const struct wellknown *known,
		uint64_t time);

/* The same. `who`: spans_owner_by() of the event. */
int spans_event_of(struct spans *spans, struct spans_owner who, const struct ktread_event *event,
		   const struct wellknown *known, uint64_t time);

/* Slots of `cpu` are lost between `from` (0: since before the trace) and the event that comes next. */
void spans_gap(struct spans *spans, uint32_t cpu, uint64_t from);

/* Ends what may have ended in a gap; what is still open then is open at the end of the trace. */
void spans_finish(struct spans *spans);

/*
 * Ends all that is open, at `time`: the trace's end. Not counted as unpaired, as their ends may be still to
 * come.
 */
void spans_close(struct spans *spans, uint64_t time);

uint64_t spans_events(const struct spans *spans, uint32_t cpu); /* told of so far */
uint64_t spans_unpaired(const struct spans *spans);		/* ends without a beginning and the reverse */

#endif
