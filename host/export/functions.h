/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Shows functions recorded by hardware trace (events hwt.*) as nested spans. Each traced CPU or thread has a
 * track. If the trace of a CPU distinguishes threads, each thread on this CPU has a track of its own.
 */
#ifndef EXPORT_FUNCTIONS_H
#define EXPORT_FUNCTIONS_H

#include "ktread/ktread.h"

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
