/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What lasts: calls, waits, interrupts, and what of them a trace has recorded. */
#ifndef ANALYZE_SPANS_H
#define ANALYZE_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/*
 * Which events that begin and end spans are recorded, while a trace is read once: by the library's own
 * records of events that were switched on or off (`ktrace.switched`, spec/ktrx.md section 7). A family is all
 * events that belong to one sort of span.
 */

enum recorded_family {
	RECORDED_CALLS,
	RECORDED_INTERRUPTS,
	RECORDED_FAULTS,
	RECORDED_LOCKS,
	RECORDED_FAMILIES, /* also: of none */
};

struct recorded;

/* Begins struct recorded, for the functions below that are inline. */
struct recorded_view {
	uint32_t change;       /* id of ktrace.switched */
	uint32_t of_spans_off; /* events of any family that are off */
};

/*
 * Returns 0 or KTREAD_E_MEMORY. The caller destroys `*recorded`. It is NULL if the trace does not declare
 * ktrace.switched: all events are recorded then, as far as the trace tells.
 */
int recorded_create(struct recorded **recorded, const struct ktread *trace);
void recorded_destroy(struct recorded *recorded);

/* recorded_event() for an event that may change something. */
unsigned recorded_take(struct recorded *recorded, const struct ktread_event *event, uint32_t gaps, bool *on);
/* recorded_now() while any event is off. */
bool recorded_family_now(const struct recorded *recorded, enum wellknown_kind kind);

/* Whether recorded_event() may have to do anything for an event. */
static inline bool recorded_is_due(const struct recorded *recorded, const struct ktread_event *event)
{
	const struct recorded_view *view = (const struct recorded_view *)recorded;

	return recorded && (event->id == view->change || view->of_spans_off != 0);
}

/*
 * Takes each event of the trace in order. `gaps`: how many gaps there were before it, in which a record of a
 * change may be lost. Returns a bit for each family of which an event was switched on or off here. `*on`:
 * they were switched on.
 */
static inline unsigned recorded_event(struct recorded *recorded, const struct ktread_event *event,
				      uint32_t gaps, bool *on)
{
	return recorded_is_due(recorded, event) ? recorded_take(recorded, event, gaps, on) : 0;
}

/*
 * Whether all events of the family that a kind belongs to are recorded, as far as the trace has told by now.
 */
static inline bool recorded_now(const struct recorded *recorded, enum wellknown_kind kind)
{
	const struct recorded_view *view = (const struct recorded_view *)recorded;

	return !recorded || view->of_spans_off == 0 || recorded_family_now(recorded, kind);
}

enum recorded_family recorded_family_of(enum wellknown_kind kind);

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
