/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The texts of the events that a report shows: the traces are read again for them. */
#ifndef DIFF_TEXTS_H
#define DIFF_TEXTS_H

#include "diff/trace.h"

struct text {
	struct diff_event event;
	char *line; /* without a newline; NULL if the event was not found */
};

struct texts {
	struct text *text;
	uint32_t count, room;
	/* the last events before `before_of` on the thread `thread`: a ring buffer */
	struct diff_event before_of;
	uint32_t thread; /* id; DIFF_NONE: no events are wanted */
	char *before[DIFF_CONTEXT];
	uint32_t next;
};

/* Notes that the text of an event is wanted. Returns false if memory is short. */
bool texts_want(struct texts *texts, const struct diff_event *event);
/* Reads the trace again, and finds the texts. Returns 0 or a negative enum ktread_error. */
int texts_read(struct texts *texts, const struct diff_trace *trace);
/* Returns the text of an event; "?" if it was not found. */
const char *texts_of(const struct texts *texts, const struct diff_event *event);
/* Returns the n-th event before the first difference, from 0; NULL if there are no more. */
const char *texts_before(const struct texts *texts, uint32_t n);
void texts_free(struct texts *texts);

#define STRACE_ONLY_PROCESS 1u /* number of the process if the lines do not contain one */

/*
 * Parses the beginning of a line of strace. Returns the process; 0 if the line begins with its time;
 * DIFF_NONE if it is damaged.
 */
uint32_t strace_line_process(const char *line);

#endif
