/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What all exports show in the same way: the states of threads, if slots are missing or a filter hides
 * events, and the functions of hardware trace.
 *
 * Events in missing slots may have ended a state. So a state ends where slots begin to be missing, and is
 * unknown from then on.
 *
 * The events that a filter by CPU, thread or type hides may end what other events begin. So the models read
 * the whole trace, and the format gets only what selected events show. A state that a hidden event ends is
 * unknown from then on, too.
 */
#ifndef EXPORT_SHOWN_H
#define EXPORT_SHOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/scheduling.h"
#include "analyze/threads.h"
#include "ktread/ktread.h"

struct shown_state {
	uint64_t stamp; /* timestamp of the event that showed the state */
	uint64_t time;	/* time of the change to the state */
	uint32_t cpu;	/* CPU of a running thread */
	uint8_t state;	/* enum threads_state */
};

struct shown {
	const struct ktread *filter; /* the trace, if its filter hides events; otherwise NULL */
	uint64_t since, until;	     /* the filter's time window */
	bool hidden;		     /* true if the filter hides the current event */
	bool ended;		     /* true if the rest of the trace is later than the time window */
	uint64_t stamp;		     /* timestamp of the current event */
	const struct gaps *gaps;     /* gaps in which states end; NULL: none */
	/* true if only running threads end in gaps, because `changed` ends the other states itself */
	bool only_running;
	threads_changed *changed; /* the format's callback for states of threads, with its context */
	void *context;
	/* Returns the time of a timestamp that is not later than the current event, in the models' unit. */
	uint64_t (*time_of)(void *clock, uint64_t stamp);
	void *clock;
	/* indexed by thread: the state that was last passed to the format */
	struct shown_state *state;
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
	shown->stamp = event->stamp;
	return __builtin_expect(!shown->filter, 1) || shown_take(shown, event);
}

/* Callback for struct threads; `context` is struct shown. Passes on what the current event may show. */
void shown_change(void *context, const struct threads_change *change);

/*
 * Ends the states of running threads where slots are missing at the end of the trace: in gaps that begin
 * before the timestamp `until`.
 */
void shown_finish(struct shown *shown, const struct threads *threads, uint64_t until);

/* Returns the state that was last passed to the format for this thread; THREADS_UNKNOWN if there is none. */
enum threads_state shown_state(const struct shown *shown, const struct threads_thread *thread);

/*
 * Call it for each event after the model of threads. If a hidden event let the event's thread run, the
 * event shows that the thread runs.
 */
void shown_reveal(struct shown *shown, const struct threads *threads, const struct ktread_event *event,
		  uint64_t time);

/*
 * Shows functions recorded by hardware trace (events hwt.*) as nested spans. Each traced CPU or thread has a
 * track. If the trace of a CPU distinguishes threads, each thread on this CPU has a track of its own.
 */

/* maximum number of tracks; functions of further tracks are not shown */
#define FUNCTIONS_TRACKS_MOST 1024u

enum functions_mark { FUNCTIONS_BEGIN, FUNCTIONS_END, FUNCTIONS_INSTANT };

/* Callbacks that each output format provides. */
struct functions_sink {
	/* Makes a track. Returns the track's number, which is passed to `draw`. */
	uint64_t (*track)(void *context, const char *name, uint64_t time);
	/*
	 * Draws the beginning or end of a function, or an instant. The first field of `event` is the name;
	 * for an end, `event` is NULL.
	 */
	void (*draw)(void *context, uint64_t track, enum functions_mark mark,
		     const struct ktread_event *event, uint64_t time);
	void *context;
};

struct functions_track;

struct functions {
	struct functions_track *track;
	uint32_t tracks, last; /* `tracks`: number of tracks; `last`: index of the track that was used last */
	uint64_t left_out;     /* number of events left out because there were too many tracks */
};

/* Adds an event of a hardware trace ring to its track. Returns 0 or KTREAD_E_MEMORY. */
int functions_event(struct functions *functions, const struct functions_sink *sink,
		    const struct ktread_event *event, uint64_t time);
/* Ends all open spans at `time`, the end of the trace. */
void functions_close(struct functions *functions, const struct functions_sink *sink, uint64_t time);
void functions_free(struct functions *functions);

#endif
