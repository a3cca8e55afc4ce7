/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Spans: things that take time, such as calls, waits and interrupts. */
#ifndef ANALYZE_SPANS_H
#define ANALYZE_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/*
 * Pairs the beginnings of spans with their ends. Spans of system calls, faults and locks are paired by
 * thread, so they continue when the thread moves to another CPU. Interrupts, and all spans within them, are
 * paired by CPU. Handles the events in the order of the trace, and reports which spans begin and end.
 *
 * A span has an owner and a lane. Spans on lane 0 are nested: the span that began last ends first. Locks are
 * released in any order, so each lock that is waited for or held has a lane of its own, from 1.
 *
 * Nothing is paired across lost slots: a span that may have ended in them is ended at the last event of its
 * owner.
 */

/*
 * maximum number of spans that are open at one time on lane 0 of an owner; spans that are nested deeper are
 * ignored
 */
#define SPANS_NEST  6u
#define SPANS_LOCKS 6u /* number of lanes for locks: lanes 1 to SPANS_LOCKS */

struct spans_owner {
	bool cpu; /* true: the owner is a CPU; false: the owner is a thread */
	/*
	 * for a CPU: its number, or THREADS_CPUS_MAX if unknown; for a thread: its index, as for
	 * threads_at()
	 */
	uint32_t number;
};

/* A span, described by the event that begins it. */
struct spans_span {
	/* number or object of the event; it is the same in both events of a span */
	uint64_t key;
	uint64_t stamp; /* timestamp of the span's beginning */
	/* number of the CPU's events before the span, as counted by spans_events() */
	uint64_t events;
	uint32_t cpu;	 /* CPU where the span began */
	uint32_t thread; /* thread of the event that begins the span */
	uint8_t kind;	 /* enum wellknown_kind of the event that begins the span */
	bool has_key;
	bool hidden; /* true if the span began while the caller hid events (spans_hide()) */
};

struct spans_sink {
	void *context;
	/* Callbacks for the beginning and the end of a span. `begin` may be NULL. */
	void (*begin)(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		      const struct ktread_event *event);
	/* `event` is NULL if the record of the end is missing; the span then ends at `time`. */
	void (*end)(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		    const struct ktread_event *event, uint64_t time);
};

struct spans;

/*
 * Returns 0 or KTREAD_E_MEMORY. Requires: each event is passed to `threads` before it is passed to `spans`.
 */
int spans_create(struct spans **spans, const struct threads *threads, const struct spans_sink *sink);
void spans_destroy(struct spans *spans);

/*
 * Makes a span end when an event that begins or ends such spans is switched on or off. While such an event is
 * off, no span begins (spec/ktrx.md section 7). Call it once, before the first event. Returns 0 or
 * KTREAD_E_MEMORY.
 */
int spans_track_switches(struct spans *spans, const struct ktread *trace);

/*
 * Makes the model end spans in gaps that are known in advance, besides those of spans_gap(): if missing slots
 * may have contained an earlier end, or if events that begin or end such spans were folded in between, the
 * span has no end. It then ends at the last event of its owner, and the event that would end it counts as an
 * end without a beginning. Call it once, before the first event.
 * Requires: `gaps` outlives the model.
 */
void spans_know_gaps(struct spans *spans, struct gaps *gaps);

/*
 * Hides the following events, or shows them again. The sink does not get spans that begin at a hidden event.
 * A span that a hidden event ends has no end for the sink, and then ends at the time of that event.
 */
void spans_hide(struct spans *spans, bool hide);
/*
 * Passes hidden events to the sink as all others. The sink distinguishes the spans by their member `hidden`.
 * Call it once, before the first event.
 */
void spans_tell_hidden(struct spans *spans);

/* Returns the owner of an event. `threads`: as given to spans_create(). */
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

/* Does the same as spans_owner_by(). `current`: result of threads_event_of() for the event. */
static inline struct spans_owner spans_owner_at(const struct threads *threads,
						const struct ktread_event *event,
						const struct threads_thread *current)
{
	if (current && event->thread != 0 && event->context == KTRX_CONTEXT_THREAD)
		return (struct spans_owner){ .number = current->index };
	return spans_owner_by(threads, event);
}

/*
 * Processes one event. Returns 1 if it begins or ends a span; 0 if it does neither, is an end without a
 * beginning, or is a lock.fail, which ends a wait and must be shown besides; or KTREAD_E_MEMORY.
 */
int spans_event(struct spans *spans, const struct ktread_event *event, const struct wellknown *known,
		uint64_t time);

/* Does the same as spans_event(). `who`: result of spans_owner_by() for the event. */
int spans_event_of(struct spans *spans, struct spans_owner who, const struct ktread_event *event,
		   const struct wellknown *known, uint64_t time);

/*
 * Finds out which missing slots may have contained an earlier end of a span that `event` ends. Returns the
 * CPU if these can only be slots of one CPU, otherwise GAPS_ANYWHERE. Requires: `event` is the current event.
 */
uint32_t spans_place(const struct spans *spans, struct spans_owner who, const struct spans_span *span,
		     const struct ktread_event *event);

/* Reports that slots of `cpu` were lost between `from` (0: before the trace began) and the next event. */
void spans_gap(struct spans *spans, uint32_t cpu, uint64_t from);

/* Ends the spans that may have ended in a gap. Spans that stay open are open at the end of the trace. */
void spans_finish(struct spans *spans);
/*
 * Ends the spans that may have ended in a gap that spans_know_gaps() made known and that begins before the
 * timestamp `until`. They end at the last event of their owner. Call it after spans_finish().
 */
void spans_finish_gaps(struct spans *spans, uint64_t until);

/*
 * Ends all open spans at `time`, the end of the trace. They do not count as unpaired, because their ends may
 * come later.
 */
void spans_close(struct spans *spans, uint64_t time);

uint64_t spans_events(const struct spans *spans, uint32_t cpu); /* number of the CPU's events so far */
/*
 * number of events that begin or end a span of a thread and are not paired, because thread 0 stands for
 * several threads (threads_mixes_zero())
 */
uint64_t spans_threadless(const struct spans *spans);
/* number of ends without a beginning, and beginnings without an end */
uint64_t spans_unpaired(const struct spans *spans);

#endif
