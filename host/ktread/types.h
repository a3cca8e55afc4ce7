/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Event types by id. A type without a name has not been used yet. An unknown type gets its name at its first
 * use.
 */
#ifndef KTREAD_TYPES_H
#define KTREAD_TYPES_H

#include <stdbool.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "layout.h"

#define KTREAD_TYPE_ROWS (KTRX_EVENT_MAX + 1u)

/* A place in the kernel's source that records an event. Places have ids of their own. */
struct ktread_place {
	const char *file; /* source file of the place; NULL: no place has this id */
	uint32_t line;
	uint16_t event; /* id of its event, which is in the table */
};

struct ktread_types {
	struct ktread_type *row;    /* KTREAD_TYPE_ROWS */
	uint32_t end;		    /* all ids in the table are below this */
	struct ktread_place *place; /* KTREAD_TYPE_ROWS of them; NULL: no places */
	char (*unknown)[16];	    /* KTREAD_TYPE_ROWS names of unknown ids; NULL: none yet */
	char *text;		    /* memory of the names that were read from a trace */
	struct ktread_field *field;
};

/* Makes an empty table, unless there is one. Returns 0 or KTREAD_E_MEMORY. */
int ktread_types_init(struct ktread_types *types);
void ktread_types_free(struct ktread_types *types);
/* Puts a copy of a type into the table. */
void ktread_types_set(struct ktread_types *types, uint32_t id, const struct ktread_type *type);
/* Makes up a type for an unknown id. If memory is short, its name does not contain the id. */
void ktread_types_make_unknown(struct ktread_types *types, uint32_t id);
/* Returns true if the type was made up for an unknown id. */
bool ktread_types_is_unknown(const struct ktread_type *type);
/* Returns the type with that id; NULL if it is not in the table. */
const struct ktread_type *ktread_types_known(const struct ktread_types *types, uint32_t id);

/* Returns true if each conversion in the type's text has a field, and %s stands for strings only. */
bool ktread_text_fits(const struct ktread_type *type);

static inline const struct ktread_type *ktread_types_get(struct ktread_types *types, uint32_t id)
{
	if (__builtin_expect(!types->row[id].name, 0))
		ktread_types_make_unknown(types, id);
	return &types->row[id];
}

/* Returns the place with that id; NULL if there is none. */
static inline const struct ktread_place *ktread_types_place(const struct ktread_types *types, uint32_t id)
{
	return types->place && types->place[id].file ? &types->place[id] : NULL;
}

/* Sets an event's type, file and line from its record's id, which may be the id of a place. */
static inline void ktread_types_identify(struct ktread_types *types, struct ktread_event *event, uint32_t id)
{
	const struct ktread_place *place = ktread_types_place(types, id);

	event->id = place ? place->event : (uint16_t)id;
	event->type = ktread_types_get(types, event->id);
	event->file = place ? place->file : NULL;
	event->line = place ? place->line : 0;
}

/* Loads event types from the trace's own table. */

/*
 * Loads the event table and the counts of events. Sets *damaged to the number of damaged descriptors. Returns
 * how many descriptors there are, including damaged ones, or an error.
 */
int ktread_types_load_v2(struct ktread_types *types, const struct ktread_layout *layout, uint32_t *damaged);

/* Reads an event's values one after another. */

/*
 * Reads field `n`, which is at *offset, and moves *offset after it. Returns 0, or KTREAD_E_FORMAT if it is
 * past the payload or of an unknown type. Requires: n < type->fields.
 */
int ktread_value_take(const struct ktread_event *event, uint32_t n, uint32_t *offset,
		      struct ktread_value *value);

#endif
