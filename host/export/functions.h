/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions that ran, by events hwt.* from hardware trace, as slices in each other: a track for each CPU or
 * thread that was traced, and where a CPU's trace tells threads apart, for each of them.
 */
#ifndef EXPORT_FUNCTIONS_H
#define EXPORT_FUNCTIONS_H

#include "ktread/ktread.h"

#define FUNCTIONS_TRACKS_MOST 1024u /* functions on others are not drawn */

enum functions_mark { FUNCTIONS_BEGIN, FUNCTIONS_END, FUNCTIONS_INSTANT };

/* What draws them. */
struct functions_sink {
	/* A new track. Returns what it is called in `draw`. */
	uint64_t (*track)(void *context, const char *name, uint64_t time);
	/* `event`: its first field is the name; NULL at an end. */
	void (*draw)(void *context, uint64_t track, enum functions_mark mark,
		     const struct ktread_event *event, uint64_t time);
	void *context;
};

struct functions_track;

struct functions {
	struct functions_track *track;
	uint32_t tracks, last; /* the one that was used last */
	uint64_t left_out;     /* events of tracks beyond the limit */
};

/* Takes an event of a ring beside the trace. 0 or KTREAD_E_MEMORY. */
int functions_event(struct functions *functions, const struct functions_sink *sink,
		    const struct ktread_event *event, uint64_t time);
/* Ends all that is open, at `time`: the trace's end. */
void functions_close(struct functions *functions, const struct functions_sink *sink, uint64_t time);
void functions_free(struct functions *functions);

#endif
