/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tables: event types by id, with the names of unknown types and the values of fields; and names by number.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/put.h"
#include "ktrx/v2.h"
#include "message.h"
#include "trace.h"

/*
 * Text of every type that ktread makes for an unknown id. A type whose text is this very string (compared by
 * address) was made for an unknown id.
 */
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

/* Returns a name such as "UNKNOWN(17)". */
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

/*
 * Functions that read the values of an event's fields. The values are packed one after another, in
 * little-endian form. A string is preceded by its length.
 */

/* Returns the size of an integer type in bytes; 0 for strings and unknown types. */
static uint32_t width_of(uint8_t type)
{
	static const uint8_t width[] = {
		[KTRX_TYPE_U8] = 1,   [KTRX_TYPE_U16] = 2,  [KTRX_TYPE_U32] = 4,     [KTRX_TYPE_U64] = 8,
		[KTRX_TYPE_I8] = 1,   [KTRX_TYPE_I16] = 2,  [KTRX_TYPE_I32] = 4,     [KTRX_TYPE_I64] = 8,
		[KTRX_TYPE_BOOL] = 1, [KTRX_TYPE_CHAR] = 1, [KTRX_TYPE_POINTER] = 8,
	};

	return type < sizeof(width) ? width[type] : 0;
}

static uint64_t sign_extend(uint8_t type, uint64_t number)
{
	switch (type) {
	case KTRX_TYPE_I8:
		return (uint64_t)(int8_t)number;
	case KTRX_TYPE_I16:
		return (uint64_t)(int16_t)number;
	case KTRX_TYPE_I32:
		return (uint64_t)(int32_t)number;
	default:
		return number;
	}
}

static int past_payload(void)
{
	return ktread_fail(KTREAD_E_FORMAT, "the field is past the end of the payload");
}

int ktread_value_take(const struct ktread_event *event, uint32_t n, uint32_t *offset,
		      struct ktread_value *value)
{
	uint32_t left = event->payload_size - *offset;
	uint8_t type = event->type->field[n].type;
	uint32_t width = width_of(type);

	*value = (struct ktread_value){ .type = type };
	if (type == KTRX_TYPE_STRING) {
		uint16_t length;

		if (left < sizeof(length))
			return past_payload();
		memcpy(&length, event->payload + *offset, sizeof(length));
		value->cut = (length & KTRX_STRING_CUT) != 0;
		value->length = length & (uint16_t)~KTRX_STRING_CUT;
		value->string = (const char *)event->payload + *offset + sizeof(length);
		if (value->length > left - sizeof(length))
			return past_payload();
		*offset += (uint32_t)sizeof(length) + value->length;
		return 0;
	}
	if (width == 0)
		return ktread_fail(KTREAD_E_FORMAT, "field of unknown type %u", type);
	if (left < width)
		return past_payload();
	value->number = base_load(event->payload + *offset, width);
	value->number = sign_extend(type, value->number);
	value->length = (uint16_t)width;
	*offset += width;
	return 0;
}

int ktread_value(const struct ktread_event *event, uint32_t n, struct ktread_value *value)
{
	uint32_t offset = 0;

	if (n >= event->type->fields)
		return ktread_fail(KTREAD_E_ARGUMENT, "%s has no field %u", event->type->name, n);
	/*
	 * Skip the fields before this field. To find the end of a string, its length must be read; all other
	 * types have a fixed size.
	 */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t width = width_of(event->type->field[i].type);
		int status = 0;

		if (offset > event->payload_size)
			return past_payload();
		if (width == 0)
			status = ktread_value_take(event, i, &offset, value);
		if (status < 0)
			return status;
		offset += width;
	}
	if (offset > event->payload_size)
		return past_payload();
	return ktread_value_take(event, n, &offset, value);
}

int ktread_value_named(const struct ktread_event *event, const char *name, struct ktread_value *value)
{
	for (uint32_t n = 0; n < event->type->fields; n++)
		if (strcmp(event->type->field[n].name, name) == 0)
			return ktread_value(event, n, value);
	return ktread_fail(KTREAD_E_ARGUMENT, "%s has no field %s", event->type->name, name);
}

/* ---- Tables of names: each name is found by its number ---- */

static int compare_names(const void *left, const void *right)
{
	const struct ktread_name *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

static int begin(struct ktread_names *names, char *bytes, uint64_t most)
{
	names->text = bytes;
	names->rows = 0;
	names->row = malloc((most ? most : 1) * sizeof(*names->row));
	return names->row ? 0 : ktread_fail_memory();
}

static void end(struct ktread_names *names)
{
	qsort(names->row, names->rows, sizeof(*names->row), compare_names);
}

int ktread_names_load_threads(struct ktread_names *names, char *bytes, uint64_t size, uint32_t row_size)
{
	int status = begin(names, bytes, size / row_size);

	if (status < 0)
		return status;
	for (uint64_t at = 0; at + row_size <= size; at += row_size) {
		char *name = bytes + at + offsetof(struct ktrx_thread, name);
		uint32_t id;

		memcpy(&id, bytes + at, sizeof(id));
		if (id == 0)
			continue;
		name[sizeof(((struct ktrx_thread *)0)->name) - 1] = '\0';
		names->row[names->rows++] = (struct ktread_name){ id - 1, name, NULL };
	}
	end(names);
	return 0;
}

/*
 * Parses a line "number name rest", and stores the name and the rest under the number. Ignores other lines.
 */
static void take_line(struct ktread_names *names, char *line)
{
	char *name, *rest;
	unsigned long number = strtoul(line, &name, 10);

	if (name == line || *name++ != ' ' || strcspn(name, " ") == 0)
		return;
	rest = name;
	strsep(&rest, " ");
	names->row[names->rows++] = (struct ktread_name){ (uint32_t)number, name, rest };
}

int ktread_names_load_calls(struct ktread_names *calls, struct ktread_names *errors, char *bytes,
			    uint64_t size)
{
	static const char error[] = "error ";
	uint64_t lines = 1, error_lines = 0;
	char *line, *rest = bytes;
	int status;

	bytes[size] = '\0';
	for (uint64_t i = 0; i < size; i++)
		lines += bytes[i] == '\n';
	for (line = bytes; (line = strstr(line, error)) != NULL; line++)
		error_lines++;
	status = begin(calls, bytes, lines);
	if (status == 0)
		status = begin(errors, NULL, error_lines);
	if (status < 0)
		return status;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (strncmp(line, error, sizeof(error) - 1) == 0)
			take_line(errors, line + sizeof(error) - 1);
		else
			take_line(calls, line);
	end(calls);
	end(errors);
	return 0;
}

static const struct ktread_name *find(const struct ktread_names *names, uint32_t number)
{
	struct ktread_name key = { .number = number };

	return names->rows ? bsearch(&key, names->row, names->rows, sizeof(key), compare_names) : NULL;
}

const char *ktread_names_get(const struct ktread_names *names, uint32_t number)
{
	const struct ktread_name *found = find(names, number);

	return found ? found->name : NULL;
}

const char *ktread_names_rest(const struct ktread_names *names, uint32_t number)
{
	const struct ktread_name *found = find(names, number);

	return found && found->rest && found->rest[0] != '\0' ? found->rest : NULL;
}

void ktread_names_free(struct ktread_names *names)
{
	free(names->row);
	free(names->text);
}
