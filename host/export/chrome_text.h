/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Text of Chrome JSON that depends on the descriptor of an event or on a system call, not on the event itself. It is rendered once
 * and copied from then on.
 */
#ifndef EXPORT_CHROME_TEXT_H
#define EXPORT_CHROME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/load.h"
#include "export/calls.h"
#include "base/put.h"
#include "ktread/ktread.h"

#define CHROME_PIECE 32u /* bytes that are copied at once */

/* CHROME_PIECE bytes after the end are readable as well. `text` NULL: nothing is rendered. */
struct chrome_piece {
	const char *text;
	uint32_t length;
};

enum chrome_form {
	CHROME_UNSIGNED,
	CHROME_SIGNED,
	CHROME_ADDRESS,
	CHROME_OTHER, /* no plain number */
};

/* How the value of a field is written. */
struct chrome_field {
	struct chrome_piece
		name;	/* ,"result": and what comes before the digits; the first field has no comma */
	uint8_t form;	/* enum chrome_form */
	uint8_t unused; /* bits of 64 that the value has not */
	uint8_t width;	/* bytes in the payload; 0: that depends on the event, or it is CHROME_OTHER */
};

/* What comes before the arguments of an object. */
enum chrome_lead {
	CHROME_INSTANT, /* ,"name":"sched.switch","cat":"sched","s":"t","args":{ */
	CHROME_BEGIN,	/* ,"cat":"syscall","args":{ */
	CHROME_END,	/* ,"args":{ */
	CHROME_LEADS,
};

/* An event descriptor. */
struct chrome_shape {
	const struct ktread_type *type;
	uint32_t fields;
	uint32_t size; /* bytes of all fields, if there are any and each is a plain number; else UINT32_MAX */
	struct chrome_piece lead[CHROME_LEADS];
	struct chrome_piece lead_field[CHROME_LEADS]; /* each followed by the name of the first field */
	struct chrome_piece cpu;     /* ,"cpu": or, if a field has that name, ,"event cpu": */
	char *text;		     /* of all pieces */
	struct chrome_field field[]; /* type->fields of them */
};

/* A system call. */
struct chrome_call {
	struct chrome_piece name;  /* ,"name":"read" */
	struct chrome_piece types; /* "types":"size, fd, ptr, size"; length 0: not known */
	char text[];
};

/* Zero-initialised is ready for use. */
struct chrome_texts {
	struct chrome_shape *shape[4096]; /* by event id */
	struct chrome_call *call[CALLS_CACHED];
};

void chrome_texts_free(struct chrome_texts *texts);

/* The shape of a descriptor that has not been met before. NULL: there is none, because no descriptor is known or memory is short. */
const struct chrome_shape *chrome_shape_render(struct chrome_texts *texts, const struct ktread_type *type,
					       uint32_t version);
/* The system call of that number, below CALLS_CACHED. NULL when out of memory. */
const struct chrome_call *chrome_call_render(struct chrome_texts *texts, const struct ktread *trace,
					     uint32_t number);

#define CHROME_CALL_NAME 60u
/* The name of a call, cut to CHROME_CALL_NAME bytes; "syscall_12" if `name` is NULL. `size`: at least 40. */
void chrome_call_name(char *text, size_t size, const char *name, uint64_t number);

/*
 * Writes a lead and the event's "field":value pairs, as json_put_fields() does. `*comma`: there are any, so that what follows needs
 * a comma.
 */
char *chrome_put_fields(char *at, const struct chrome_shape *shape, enum chrome_lead lead,
			const struct ktread_event *event, bool *comma);

static inline const struct chrome_shape *chrome_shape_of(struct chrome_texts *texts,
							 const struct ktread_event *event, uint32_t version)
{
	const struct chrome_shape *shape = texts->shape[event->id & 4095u];

	return shape && shape->type == event->type ? shape : chrome_shape_render(texts, event->type, version);
}

static inline const struct chrome_call *chrome_call_of(struct chrome_texts *texts, const struct ktread *trace,
						       uint64_t number)
{
	if (number >= CALLS_CACHED)
		return NULL;
	return texts->call[number] ? texts->call[number] : chrome_call_render(texts, trace, (uint32_t)number);
}

/* Writes the value of a field that has a width. */
static inline __attribute__((always_inline)) char *
chrome_put_number(char *at, const struct chrome_field *field, const unsigned char *from)
{
	uint64_t number = base_load(from, field->width);

	if (field->form == CHROME_ADDRESS) {
		at = base_put_hex(at, number);
		*at = '"';
		return at + 1;
	}
	if (field->form == CHROME_SIGNED && (int64_t)(number << field->unused) < 0) {
		*at++ = '-';
		number = (0 - number) << field->unused >> field->unused;
	}
	/* Without a call, no caller has to save registers. */
	return number < 1000000 ? base_put_middle(at, (uint32_t)number) : base_put_large(at, number);
}

/* Copies a piece. Up to CHROME_PIECE bytes after it are overwritten. */
static inline char *chrome_put_piece(char *at, struct chrome_piece piece)
{
	memcpy(at, piece.text, CHROME_PIECE);
	for (uint32_t done = CHROME_PIECE; __builtin_expect(done < piece.length, 0); done += CHROME_PIECE)
		memcpy(at + done, piece.text + done, CHROME_PIECE);
	return at + piece.length;
}

#endif
