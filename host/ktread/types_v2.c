/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Loads event types from the trace's own table. An event descriptor consists of a fixed part and of strings,
 * and is aligned to 8 bytes. Event descriptors are numbered from 1 over all sections. A damaged event
 * descriptor has a number, too, so that later descriptors have the right numbers. Descriptors of places
 * contain their own numbers.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "trace.h"

/* maximum number of bytes of the table of event types that are read */
#define TABLE_LIMIT  (UINT64_C(64) << 20)
#define ROW_ALIGN    8u
#define NAME_STRINGS 4u /* number of strings in an event descriptor: group, name, text, file */

/* The bytes of all sections of the event table, one after another. */
struct table {
	char *bytes;
	uint64_t size;
};

static int read_table(struct table *table, const struct ktread_layout *layout)
{
	/* a lying length may repeat some bytes of the memory, but valid sections do not overlap */
	const uint64_t most = layout->memory->size < TABLE_LIMIT / 2 ? 2 * layout->memory->size : TABLE_LIMIT;
	const struct ktread_section *section;

	for (uint32_t n = 0; (section = ktread_layout_section(layout, KTRX_SECTION_EVENTS, n)) != NULL; n++) {
		uint64_t size, padding;
		char *more, *grown;
		int status = ktread_region_copy(&section->region, table->size < most ? most - table->size : 0,
						&more, &size);

		if (status < 0)
			return status;
		padding = -size % ROW_ALIGN;
		grown = realloc(table->bytes, table->size + size + padding + 1);
		if (!grown) {
			free(more);
			return ktread_fail_memory();
		}
		memcpy(grown + table->size, more, size);
		memset(grown + table->size + size, 0, padding + 1);
		free(more);
		table->bytes = grown;
		table->size += size + padding;
	}
	return 0;
}

static uint16_t magic_at(const struct table *table, uint64_t at)
{
	uint16_t magic;

	memcpy(&magic, table->bytes + at, sizeof(magic));
	return magic;
}

/*
 * Reads the descriptor of a place at offset `at`. Returns false if there is no descriptor of a place at this
 * offset, or if it is damaged.
 */
static bool place_at(const struct table *table, uint64_t at, struct ktrx_place *place)
{
	if (table->size - at < sizeof(*place) || magic_at(table, at) != KTRX_PLACE_MAGIC)
		return false;
	memcpy(place, table->bytes + at, sizeof(*place));
	return place->size >= sizeof(*place) && place->size % ROW_ALIGN == 0 &&
	       place->size <= table->size - at;
}

/*
 * Returns the offset of the first event descriptor from `at` on. Returns the table's size if there is none.
 * Steps over whole descriptors of places, because their text may look like an event descriptor.
 */
static uint64_t next_row(const struct table *table, uint64_t at)
{
	while (at + sizeof(struct ktrx_event) <= table->size) {
		struct ktrx_place place;

		if (magic_at(table, at) == KTRX_EVENT_MAGIC)
			return at;
		at += place_at(table, at, &place) ? place.size : ROW_ALIGN;
	}
	return table->size;
}

/* Returns the next string of a descriptor; NULL after the last string. */
static const char *next_string(const char **at, const char *end)
{
	const char *string = *at;
	const char *terminator = string < end ? memchr(string, '\0', (size_t)(end - string)) : NULL;

	if (terminator)
		*at = terminator + 1;
	return terminator ? string : NULL;
}

static bool row_sound(const struct ktrx_event *row, uint64_t left)
{
	return row->size >= sizeof(*row) && row->size % ROW_ALIGN == 0 && row->size <= left &&
	       row->fields <= KTRX_EVENT_FIELDS;
}

/*
 * Returns the name of a field. A kernel may record a whole C declaration as the name, such as "struct thread
 * *td". In this case, the field's name is the last identifier of the declaration. If the declaration does not
 * end in an identifier, as for an array, the whole declaration is the name.
 */
static const char *declared_name(const char *declaration)
{
	const char *end = declaration + strlen(declaration), *at = end;

	while (at > declaration && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
		at--;
	return at < end ? at : declaration;
}

/*
 * Makes the names of the fields unique. If several fields have the same name, for example because arguments
 * are declared without names, all but the first get their number as name, such as "#2". A field whose
 * declared name begins with '#' gets its number as name, too.
 */
static void make_unique(struct ktread_field *field, uint32_t fields)
{
	static const char *const places[KTRX_EVENT_FIELDS] = { "#1",  "#2",  "#3",  "#4",  "#5",  "#6",
							       "#7",  "#8",  "#9",  "#10", "#11", "#12",
							       "#13", "#14", "#15", "#16" };

	for (uint32_t n = 0; n < fields; n++) {
		uint32_t before = 0;

		while (before < n && strcmp(field[before].name, field[n].name) != 0)
			before++;
		if (before < n || field[n].name[0] == '#')
			field[n].name = places[n];
	}
}

/* Fills in a type from a sound descriptor. Returns false if a string does not end within the descriptor. */
static bool fill_type(struct ktread_type *type, struct ktread_field *field, const struct ktrx_event *row,
		      const char *strings, const char *end)
{
	const char *names[NAME_STRINGS];

	for (unsigned i = 0; i < NAME_STRINGS; i++)
		if (!(names[i] = next_string(&strings, end)))
			return false;
	for (unsigned i = 0; i < row->fields; i++) {
		field[i].name = next_string(&strings, end);
		field[i].unit = next_string(&strings, end);
		field[i].type = row->type[i];
		if (!field[i].name || !field[i].unit)
			return false;
		field[i].name = declared_name(field[i].name);
	}
	make_unique(field, row->fields);
	type->fields = row->fields;
	type->state = row->state;
	type->line = row->line;
	type->count = row->count;
	type->wanted = row->wanted;
	type->flags = row->flags;
	type->mask_bit = row->mask_bit <= KTRX_EVENT_MAX ? (uint16_t)row->mask_bit : 0;
	type->group = names[0];
	type->name = names[1];
	type->text = names[2];
	type->file = names[3];
	type->field = field;
	return true;
}

/*
 * Goes through the table. Fills in `types` unless it is NULL. Counts fields and damaged descriptors. Returns
 * the number of event descriptors.
 */
static uint32_t walk_table(const struct table *table, struct ktread_types *types, uint32_t *fields,
			   uint32_t *damaged)
{
	uint64_t at = 0;
	uint32_t id = 0;

	*fields = 0;
	*damaged = 0;
	while ((at = next_row(table, at)) < table->size && id < KTRX_EVENT_MAX) {
		struct ktrx_event row;
		const char *start = table->bytes + at;
		struct ktread_type type = { 0 };

		id++;
		memcpy(&row, start, sizeof(row));
		if (!row_sound(&row, table->size - at)) {
			(*damaged)++;
			at += ROW_ALIGN;
			continue;
		}
		type.id = (uint16_t)id;
		if (types &&
		    fill_type(&type, types->field + *fields, &row, start + sizeof(row), start + row.size))
			ktread_types_set(types, id, &type);
		else
			*damaged += types != NULL;
		*fields += row.fields;
		at += row.size;
	}
	return id;
}

/*
 * Adds the place whose descriptor is at offset `at`. Returns false if the descriptor's contents are
 * impossible.
 */
static bool add_place(struct ktread_types *types, const struct table *table, uint64_t at,
		      const struct ktrx_place *place, uint32_t events)
{
	const char *file = table->bytes + at + sizeof(*place);

	if (place->id == 0 || place->event == 0)
		return true;
	if (place->id <= events || place->id > KTRX_EVENT_MAX || place->event > events ||
	    types->place[place->id].file || !memchr(file, '\0', place->size - sizeof(*place)))
		return false;
	if (types->row[place->event].name)
		types->place[place->id] =
			(struct ktread_place){ .file = file, .line = place->line, .event = place->event };
	return true;
}

/* Loads all descriptors of places. They are between the event descriptors. */
static int load_places(struct ktread_types *types, const struct table *table, uint32_t events,
		       uint32_t *damaged)
{
	struct ktrx_place place;
	struct ktrx_event row;

	for (uint64_t at = 0; at + sizeof(place) <= table->size;) {
		const uint16_t magic = magic_at(table, at);
		uint64_t step = ROW_ALIGN;

		if (magic == KTRX_EVENT_MAGIC && table->size - at >= sizeof(row)) {
			memcpy(&row, table->bytes + at, sizeof(row));
			step = row_sound(&row, table->size - at) ? row.size : ROW_ALIGN;
		} else if (place_at(table, at, &place)) {
			if (!types->place)
				types->place = calloc(KTREAD_TYPE_ROWS, sizeof(*types->place));
			if (!types->place)
				return ktread_fail_memory();
			*damaged += !add_place(types, table, at, &place, events);
			step = place.size;
		} else {
			*damaged += magic == KTRX_PLACE_MAGIC;
		}
		at += step;
	}
	return 0;
}

/* Sums up the counts of all CPUs for each event. */
static int add_counters(struct ktread_types *types, const struct ktread_layout *layout)
{
	const struct ktread_section *section = ktread_layout_section(layout, KTRX_SECTION_COUNTERS, 0);
	uint64_t size, row, *count;
	char *bytes;
	int status;

	if (!section || !layout->rings)
		return 0;
	status = ktread_region_copy(
		&section->region, (uint64_t)KTREAD_TYPE_ROWS * layout->rings * sizeof(*count), &bytes, &size);
	if (status < 0)
		return status;
	count = (uint64_t *)(void *)bytes;
	row = section->row.length / sizeof(*count) / layout->rings;
	for (uint64_t i = 0; i < size / sizeof(*count); i++)
		if (row && i % row < types->end && types->row[i % row].name)
			types->row[i % row].count += count[i];
	free(bytes);
	return 0;
}

int ktread_types_load_v2(struct ktread_types *types, const struct ktread_layout *layout, uint32_t *damaged)
{
	struct table table = { 0 };
	uint32_t fields, rows;
	int status = read_table(&table, layout);

	types->text = table.bytes;
	if (status < 0)
		return status;
	walk_table(&table, NULL, &fields, damaged);
	types->field = calloc(fields ? fields : 1, sizeof(*types->field));
	if (!types->field)
		return ktread_fail_memory();
	rows = walk_table(&table, types, &fields, damaged);
	status = load_places(types, &table, rows, damaged);
	if (status == 0)
		status = add_counters(types, layout);
	return status < 0 ? status : (int)rows;
}
