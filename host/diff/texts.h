/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds the texts of the events that a report shows, by reading the traces again. */
#ifndef DIFF_TEXTS_H
#define DIFF_TEXTS_H

#include "diff/trace.h"

struct text {
	struct diff_event event;
	char *line; /* text of the event, without a newline; NULL if the event was not found */
	char *end; /* if the event is the beginning of a call: text of its return; NULL if it was not found */
	uint32_t thread; /* id of the thread that records the event */
};

struct texts {
	struct text *text;
	uint32_t count, room;
	/* `before`: ring buffer of the texts of the thread's last events before the event `before_of` */
	struct diff_event before_of;
	uint32_t thread; /* id of the thread; DIFF_NONE: no events before `before_of` are needed */
	char *before[DIFF_CONTEXT];
	uint32_t next;
};

/* Requests the text of an event. Returns false if out of memory. */
bool texts_want(struct texts *texts, const struct diff_event *event);
/* Reads the trace again, and finds the texts. Returns 0 or a negative enum ktread_error. */
int texts_read(struct texts *texts, const struct diff_trace *trace);
/* Returns the text of an event; "?" if it was not found. */
const char *texts_of(const struct texts *texts, const struct diff_event *event);
/* Returns the text of the return of the call that begins with this event; NULL if there is none. */
const char *texts_end_of(const struct texts *texts, const struct diff_event *event);
/*
 * Returns the text of the event number `n` (from 0) before the first difference; NULL if there are no more.
 */
const char *texts_before(const struct texts *texts, uint32_t n);
void texts_free(struct texts *texts);

#define STRACE_ONLY_PROCESS 1u /* number of the process if the lines contain no process number */

/*
 * Parses the beginning of a line of strace. Returns the number of the process; 0 if the line begins with its
 * time; DIFF_NONE if the line is damaged.
 */
uint32_t strace_line_process(const char *line);

#endif
