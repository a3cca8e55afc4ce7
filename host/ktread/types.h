/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A table of event types, indexed by their ids. A type without a name has not been used yet. An unknown type
 * gets a name when it is first used.
 */
#ifndef KTREAD_TYPES_H
#define KTREAD_TYPES_H

#include <stdbool.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "layout.h"

#define KTREAD_TYPE_ROWS (KTRX_EVENT_MAX + 1u)

/* A place in the kernel's source code at which an event is recorded. Places have ids of their own. */
struct ktread_place {
	const char *file; /* source file of the place; NULL: no place has this id */
	uint32_t line;
	uint16_t event; /* id of the event that is recorded at the place; the event is in the table */
};

struct ktread_types {
	struct ktread_type *row; /* array of KTREAD_TYPE_ROWS event types, indexed by their ids */
	uint32_t end;		 /* upper limit of the ids in the table: all ids are smaller */
	/* array of KTREAD_TYPE_ROWS places, indexed by their ids; NULL: the trace has no places */
	struct ktread_place *place;
	/* array of KTREAD_TYPE_ROWS names of event types with unknown ids; NULL: no such id has occurred */
	char (*unknown)[16];
	char *text; /* memory in which the names from the trace are stored */
	struct ktread_field *field;
};

/* Makes an empty table. Does nothing if there is a table already. Returns 0 or KTREAD_E_MEMORY. */
int ktread_types_init(struct ktread_types *types);
void ktread_types_free(struct ktread_types *types);
/* Puts a copy of a type into the table. */
void ktread_types_set(struct ktread_types *types, uint32_t id, const struct ktread_type *type);
/* Makes a type for an unknown id. If out of memory, the type's name does not contain the id. */
void ktread_types_make_unknown(struct ktread_types *types, uint32_t id);
/* Returns true if the type was made for an unknown id. */
bool ktread_types_is_unknown(const struct ktread_type *type);
/* Returns the type with that id; NULL if it is not in the table. */
const struct ktread_type *ktread_types_known(const struct ktread_types *types, uint32_t id);

/* Returns true if there is a field for each conversion in the type's text, and each %s is for a string. */
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

/* Sets the type, file and line of an event from the id in its record, which may also be the id of a place. */
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
 * Loads the event table and the event counts. Sets *damaged to the number of damaged descriptors. Returns the
 * number of all descriptors, including damaged ones, or an error.
 */
int ktread_types_load_v2(struct ktread_types *types, const struct ktread_layout *layout, uint32_t *damaged);

/* Functions that read an event's values, one after another. */

/*
 * Reads field `n`, which is at offset *offset of the payload, and moves *offset to the next field. Returns 0,
 * or KTREAD_E_FORMAT if the field is beyond the end of the payload or of an unknown type. Requires: n <
 * type->fields.
 */
int ktread_value_take(const struct ktread_event *event, uint32_t n, uint32_t *offset,
		      struct ktread_value *value);

#endif
