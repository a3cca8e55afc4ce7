/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Event types by id: memory, and names for unknown ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/v2.h"
#include "message.h"
#include "types.h"

/* Its address tells rows that were made up from rows that stand in a table. */
static const char no_text[] = "";

int ktread_types_init(struct ktread_types *types)
{
	if (!types->row)
		types->row = calloc(KTREAD_TYPE_ROWS, sizeof(*types->row));
	return types->row ? 0 : ktread_fail_memory();
}

void ktread_types_free(struct ktread_types *types)
{
	free(types->row);
	free(types->place);
	free(types->unknown);
	free(types->text);
	free(types->field);
	memset(types, 0, sizeof(*types));
}

void ktread_types_set(struct ktread_types *types, uint32_t id, const struct ktread_type *type)
{
	types->row[id] = *type;
	if (types->end <= id)
		types->end = id + 1;
}

/* "UNKNOWN(17)" */
static const char *unknown_name(struct ktread_types *types, uint32_t id)
{
	if (!types->unknown)
		types->unknown = calloc(KTREAD_TYPE_ROWS, sizeof(*types->unknown));
	if (!types->unknown)
		return "UNKNOWN";
	snprintf(types->unknown[id], sizeof(types->unknown[id]), "UNKNOWN(%u)", (unsigned)id);
	return types->unknown[id];
}

void ktread_types_make_unknown(struct ktread_types *types, uint32_t id)
{
	struct ktread_type *row = &types->row[id];

	row->id = (uint16_t)id;
	row->group = "";
	row->text = no_text;
	row->file = "";
	row->name = unknown_name(types, id);
}

bool ktread_types_is_unknown(const struct ktread_type *type)
{
	return type->text == no_text;
}

const struct ktread_type *ktread_types_known(const struct ktread_types *types, uint32_t id)
{
	const struct ktread_type *row = id < types->end ? &types->row[id] : NULL;

	return row && row->name && !ktread_types_is_unknown(row) ? row : NULL;
}
