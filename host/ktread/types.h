/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Event types by id. A row without a name has not been met; an unknown one gets its name when it first is.
 */
#ifndef KTREAD_TYPES_H
#define KTREAD_TYPES_H

#include <stdbool.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "layout.h"

#define KTREAD_TYPE_ROWS (KTRX_EVENT_MAX + 1u)

/* A place that records an event, by its own id. */
struct ktread_place {
	const char *file; /* NULL: there is none with this id */
	uint32_t line;
	uint16_t event; /* id of its event, which is known */
};

struct ktread_types {
	struct ktread_type *row;    /* KTREAD_TYPE_ROWS */
	uint32_t end;		    /* no row from this id on is in the table */
	struct ktread_place *place; /* KTREAD_TYPE_ROWS; NULL: there are none */
	char (*unknown)[16];	    /* KTREAD_TYPE_ROWS names of unknown ids; NULL: there are none */
	char *text;		    /* what names of rows from a trace point to */
	struct ktread_field *field;
};

/* Makes an empty table, unless there is one. */
int ktread_types_init(struct ktread_types *types);
void ktread_types_free(struct ktread_types *types);
/* Puts a copy of a type into the table. */
void ktread_types_set(struct ktread_types *types, uint32_t id, const struct ktread_type *type);
/* If memory is short, the name is without the number. */
void ktread_types_make_unknown(struct ktread_types *types, uint32_t id);
/* Whether a row was made up. */
bool ktread_types_is_unknown(const struct ktread_type *type);
/* NULL: not in the table. */
const struct ktread_type *ktread_types_known(const struct ktread_types *types, uint32_t id);

/* Does each conversion in the type's text find a field that is a string or none, as it expects? */
bool ktread_text_fits(const struct ktread_type *type);

static inline const struct ktread_type *ktread_types_get(struct ktread_types *types, uint32_t id)
{
	if (__builtin_expect(!types->row[id].name, 0))
		ktread_types_make_unknown(types, id);
	return &types->row[id];
}

/* The place with that id; NULL: there is none. */
static inline const struct ktread_place *ktread_types_place(const struct ktread_types *types, uint32_t id)
{
	return types->place && types->place[id].file ? &types->place[id] : NULL;
}

/*
 * Says of an event what its record's id says, which may be that of a place: type, and where it was recorded.
 */
static inline void ktread_types_identify(struct ktread_types *types, struct ktread_event *event, uint32_t id)
{
	const struct ktread_place *place = ktread_types_place(types, id);

	event->id = place ? place->event : (uint16_t)id;
	event->type = ktread_types_get(types, event->id);
	event->file = place ? place->file : NULL;
	event->line = place ? place->line : 0;
}

/* Event types from the trace's own table. */

/* Loads the event table and its counts. Returns how many rows were met, damaged ones included, or an error.
 */
int ktread_types_load_v2(struct ktread_types *types, const struct ktread_layout *layout, uint32_t *damaged);

/* Taking an event's values one after the other. */

/* Value of field `n`, which lies at *offset; moves *offset behind it. n must be below type->fields. */
int ktread_value_take(const struct ktread_event *event, uint32_t n, uint32_t *offset,
		      struct ktread_value *value);

#endif
