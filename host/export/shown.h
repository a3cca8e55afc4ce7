/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What an export shows of a trace whose filter selects events by CPU, thread or type. The events that the
 * filter hides may end what other events begin. So the models read the whole trace, and the format gets only
 * what selected events show. A state of a thread that a hidden event ends is unknown from then on.
 */
#ifndef EXPORT_SHOWN_H
#define EXPORT_SHOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads.h"
#include "ktread/ktread.h"

struct shown {
	const struct ktread *filter; /* the trace, if its filter hides events; otherwise NULL */
	uint64_t since, until;	     /* the filter's time window */
	bool hidden;		     /* true if the filter hides the current event */
	bool ended;		     /* true if the rest of the trace is later than the time window */
	threads_changed *changed;    /* the format's callback for states of threads, with its context */
	void *context;
	/* indexed by thread: the state that the format knows, enum threads_state */
	uint8_t *state;
	uint32_t states;
	bool failed; /* true if memory ran out */
};

/* Turns the trace's filter off, if it hides events. Returns 0 or the error of ktread_rewind(). */
int shown_open(struct shown *shown, struct ktread *trace);
/* Turns the filter on again. */
void shown_close(struct shown *shown, struct ktread *trace);

/* Implements shown_event() for a trace with a filter. */
bool shown_take(struct shown *shown, const struct ktread_event *event);
/* Finds out whether the event is hidden. Returns false if the event and all later ones are not needed. */
static inline bool shown_event(struct shown *shown, const struct ktread_event *event)
{
	return __builtin_expect(!shown->filter, 1) || shown_take(shown, event);
}

/* Callback for struct threads; `context` is struct shown. Passes on what the current event may show. */
void shown_change(void *context, const struct threads_change *change);

/* Returns the state of a thread that the format knows. */
enum threads_state shown_state(const struct shown *shown, const struct threads_thread *thread);

/*
 * Call it for each event after the model of threads. If a hidden event let the event's thread run, the
 * event shows that the thread runs.
 */
void shown_reveal(struct shown *shown, const struct threads *threads, const struct ktread_event *event,
		  uint64_t time);

#endif
