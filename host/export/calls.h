/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * System calls as a programmer writes them: "read(3, 0x7ffc1000, 512)", "read = -4 EINTR". The trace says
 * how, in its table of calls; each call's words are taken apart once. Where the table does not say, or the
 * event does not carry all that the call has, the kernel's own text is the better one.
 */
#ifndef EXPORT_CALLS_H
#define EXPORT_CALLS_H

#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

#define CALLS_ARGUMENTS 8u
#define CALLS_NAME	40u
#define CALLS_CACHED	1024u /* calls below this number are looked up once */

/* A call's name and how its values read. */
struct calls_form {
	uint8_t state;	/* enum state of calls.c */
	uint8_t length; /* of the name */
	uint8_t count;	/* arguments */
	uint8_t result; /* enum how of calls.c */
	uint8_t argument[CALLS_ARGUMENTS];
	char name[CALLS_NAME]; /* escaped, and a blank after it */
};

/* Where an event of some type has the arguments, or the result. */
struct calls_shape {
	uint16_t id; /* of the event; 0: none yet */
	uint8_t count;
	uint8_t type[CALLS_ARGUMENTS]; /* KTRX_TYPE_* */
	uint16_t offset[CALLS_ARGUMENTS];
	uint16_t end; /* bytes of payload that it takes */
};

struct calls {
	const struct ktread *trace;
	struct calls_shape enter, exit;
	struct calls_form form[CALLS_CACHED];
};

/* Before any other function; `calls` is zeroed otherwise. */
static inline void calls_init(struct calls *calls, const struct ktread *trace)
{
	calls->trace = trace;
}

/* An event that is a call's beginning or end, in its types. NULL: nothing was said of them. */
char *calls_put(struct calls *calls, char *at, uint32_t number, const struct wellknown *known,
		const struct ktread_event *event);

/* "read ", or nothing for a call without a name. */
char *calls_put_name(struct calls *calls, char *at, uint32_t number);

#endif
