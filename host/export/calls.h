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
#include "base/put.h"
#include "ktread/ktread.h"
#include "ktrx/v2.h"

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

/* Reads numbers at known offsets in an event's payload. After a string, offsets are not known in advance. */

/* Returns the width of a value in bytes; 0 for strings and unknown types. */
static inline uint32_t payload_width(uint8_t type)
{
	static const uint8_t width[] = {
		[KTRX_TYPE_U8] = 1,   [KTRX_TYPE_U16] = 2,  [KTRX_TYPE_U32] = 4,     [KTRX_TYPE_U64] = 8,
		[KTRX_TYPE_I8] = 1,   [KTRX_TYPE_I16] = 2,  [KTRX_TYPE_I32] = 4,     [KTRX_TYPE_I64] = 8,
		[KTRX_TYPE_BOOL] = 1, [KTRX_TYPE_CHAR] = 1, [KTRX_TYPE_POINTER] = 8,
	};

	return type < sizeof(width) ? width[type] : 0;
}

/* Returns the number as a signed value. An unsigned number of 32 bits is converted to int, as %d does. */
static inline int64_t payload_signed(uint8_t type, const unsigned char *from)
{
	switch (type) {
	case KTRX_TYPE_U8:
	case KTRX_TYPE_BOOL:
	case KTRX_TYPE_CHAR:
		return (int64_t)base_load(from, 1);
	case KTRX_TYPE_I8:
		return (int8_t)base_load(from, 1);
	case KTRX_TYPE_U16:
		return (int64_t)base_load(from, 2);
	case KTRX_TYPE_I16:
		return (int16_t)base_load(from, 2);
	case KTRX_TYPE_U32:
	case KTRX_TYPE_I32:
		return (int32_t)base_load(from, 4);
	default:
		return (int64_t)base_load(from, 8);
	}
}

/*
 * Returns the number as an unsigned value. A number of up to 32 bits is promoted to int and then converted
 * to unsigned, as %u does.
 */
static inline uint64_t payload_unsigned(uint8_t type, const unsigned char *from)
{
	int64_t number = payload_signed(type, from);

	return payload_width(type) <= 4 ? (uint32_t)number : (uint64_t)number;
}

#endif
