/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Prints system calls as a programmer writes them: "read(3, 0x7ffc1000, 512)", "read = -4 EINTR".
 * The trace's table of system calls gives the types of arguments and results. The description of each call is
 * parsed once.
 * If the table has no types, or the event lacks some arguments, the caller prints the kernel's own text
 * instead.
 */
#ifndef EXPORT_CALLS_H
#define EXPORT_CALLS_H

#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

#define CALLS_ARGUMENTS 8u
#define CALLS_NAME	40u
/* limit: the form (struct calls_form) of a call is cached if the call's number is below this */
#define CALLS_CACHED 1024u

/* The name of a system call, and how to print its arguments and result. */
struct calls_form {
	uint8_t state;	/* an enum state of calls.c: how much is known about the call */
	uint8_t length; /* length of the name, in bytes */
	uint8_t count;	/* number of arguments */
	uint8_t result; /* how to print the result: enum how in calls.c */
	uint8_t argument[CALLS_ARGUMENTS];
	char name[CALLS_NAME]; /* the escaped name, followed by a space */
};

/* Types and payload offsets of a call's arguments, or of its result, for events with the id `id`. */
struct calls_shape {
	uint16_t id; /* event id; 0 if this structure is not filled in yet */
	uint8_t count;
	uint8_t type[CALLS_ARGUMENTS]; /* KTRX_TYPE_* */
	uint16_t offset[CALLS_ARGUMENTS];
	uint16_t end; /* minimum size of the payload in bytes */
};

struct calls {
	const struct ktread *trace;
	struct calls_shape enter, exit;
	struct calls_form form[CALLS_CACHED];
};

/*
 * Prepares `calls`. Requires: all bytes of `calls` are zero. Call this before any other function of this
 * header.
 */
static inline void calls_init(struct calls *calls, const struct ktread *trace)
{
	calls->trace = trace;
}

/*
 * Prints the call that begins or returns with `event`, with typed values. Returns the end of the text.
 * Returns NULL if the types of the call are unknown, if its name is too long, or if the event lacks
 * arguments.
 */
char *calls_put(struct calls *calls, char *at, uint32_t number, const struct wellknown *known,
		const struct ktread_event *event);

/*
 * Prints the call's name and a space: "read ". Prints nothing if the call has no name. Returns the end of the
 * text.
 */
char *calls_put_name(struct calls *calls, char *at, uint32_t number);

#endif
