/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The tables of events: their names, their columns, and the values of an event in them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "export/timeline.h"
#include "ktrx/v2.h"
#include "sql/session.h"

static const struct sql_column common[] = {
	[SQL_EVENT_ID] = { "id", "TEXT", "ring and slot, as 'ktrace show --ids' prints them",
			   SQL_VALUE_NONE },
	[SQL_EVENT_TS] = { "ts", "INTEGER", "ns since the first event; ticks if the frequency is unknown",
			   SQL_VALUE_NONE },
	[SQL_EVENT_CPU] = { "cpu", "INTEGER", "CPU; NULL if unknown", SQL_VALUE_NONE },
	[SQL_EVENT_THREAD] = { "thread", "INTEGER", "id of the thread; NULL if unknown", SQL_VALUE_NONE },
	[SQL_EVENT_THREAD_NAME] = { "thread_name", "TEXT", "name of the thread; NULL if unknown",
				    SQL_VALUE_NONE },
	[SQL_EVENT_CONTEXT] = { "context", "TEXT", "thread, irq, nmi or early", SQL_VALUE_NONE },
};
static const struct sql_column further[] = {
	{ "category", "TEXT", "group of the event, in lower case", SQL_VALUE_NONE },
	{ "name", "TEXT", "group and name of the event, such as sched.switch", SQL_VALUE_NONE },
	{ "type", "INTEGER", "number of the kind of event, as in table counts", SQL_VALUE_NONE },
	{ "lost", "INTEGER", "number of slots that are missing in the ring directly before the event",
	  SQL_VALUE_NONE },
	{ "fields", "TEXT", "fields of the event as a JSON object, for json_extract()", SQL_VALUE_NONE },
};

/* ---- Names of event types ---- */

/* Stores the name and group of a type. Returns 0 or KTREAD_E_MEMORY. */
static int name_type(struct sql_type *names, const struct ktread_type *type)
{
	const size_t group = strlen(type->group);
	char name[ANALYZE_EVENT_NAME_MOST + 1], *end = analyze_event_name_lower(name, type);
	const size_t length = (size_t)(end - name), kept = group < sizeof(name) ? group : sizeof(name);

	names->name = calloc(1, length + 2 + BASE_ESCAPE_TEXT_GROWTH * kept);
	if (!names->name)
		return KTREAD_E_MEMORY;
	memcpy(names->name, name, length);
	names->category = names->name + length + 1;
	base_escape_text(names->category, type->group, kept, BASE_ESCAPE_TEXT_GROWTH * kept);
	for (char *letter = names->category; *letter; letter++)
		*letter = (char)tolower((unsigned char)*letter);
	return 0;
}

static int name_types(struct sql *sql)
{
	static const struct ktread_type unknown = { .group = "" };
	int status = 0;

	sql->type = calloc(KTRX_EVENT_MAX + 1, sizeof(*sql->type));
	if (!sql->type)
		return KTREAD_E_MEMORY;
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX && !status; id++) {
		const struct ktread_type *type = ktread_type(sql->trace, id);
		struct ktread_type nameless = unknown;
		char name[32];

		snprintf(name, sizeof(name), "UNKNOWN(%u)", id);
		nameless.name = name;
		status = name_type(&sql->type[id], type ? type : &nameless);
	}
	return status;
}

const char *sql_type_name(const struct sql *sql, uint32_t id)
{
	return sql->type[id & KTRX_EVENT_MAX].name;
}

/* ---- Columns ---- */

static const char *type_of(uint8_t type)
{
	return type == KTRX_TYPE_U64								 ? ""
	       : type == KTRX_TYPE_POINTER || type == KTRX_TYPE_STRING || type == KTRX_TYPE_CHAR ? "TEXT"
												 : "INTEGER";
}

static bool has_column(const struct sql_events *table, const char *name)
{
	for (uint32_t n = 0; n < table->columns; n++)
		if (strcasecmp(table->column[n].name, name) == 0)
			return true;
	return false;
}

/*
 * Writes the name of a field's column: the name of the field, escaped. Adds "_2", "_3" and so on if the table
 * already has a column of that name. Returns the position after the terminating NUL.
 */
static char *put_column_name(char *at, const struct sql_events *table, const char *field)
{
	char *end = base_escape_text(at, field, strlen(field), ANALYZE_EVENT_NAME_MOST);

	*end = '\0';
	for (unsigned n = 2; has_column(table, at); n++)
		snprintf(end, 12, "_%u", n);
	return at + strlen(at) + 1;
}

#define COLUMN_TEXT (ANALYZE_EVENT_NAME_MOST + 16 + ANALYZE_EVENT_NAME_MOST)

/* Makes the columns of a table. Returns 0 or KTREAD_E_MEMORY. */
static int make_columns(struct sql_events *table)
{
	const struct ktread_type *type = table->type;
	const uint32_t fields = type ? type->fields : sizeof(further) / sizeof(further[0]);
	char *at;

	table->column = calloc(SQL_EVENT_COMMON + fields, sizeof(*table->column));
	at = table->text = calloc(fields + 1, COLUMN_TEXT);
	if (!table->column || !table->text)
		return KTREAD_E_MEMORY;
	memcpy(table->column, common, sizeof(common));
	table->columns = SQL_EVENT_COMMON;
	for (uint32_t n = 0; n < fields; n++) {
		struct sql_column *column = &table->column[table->columns];

		if (type) {
			const struct ktread_field *field = &type->field[n];
			char *name = at, *help = put_column_name(at, table, field->name);

			at = base_escape_text(help, field->unit, strlen(field->unit),
					      ANALYZE_EVENT_NAME_MOST / 2);
			*at++ = '\0';
			*column = (struct sql_column){ name, type_of(field->type), help, SQL_VALUE_NONE };
		} else {
			*column = further[n];
		}
		table->columns++;
	}
	return 0;
}

/* ---- Tables ---- */

static bool is_taken(const struct sql *sql, const char *name)
{
	for (uint32_t n = 0; sql_table_at(n); n++)
		if (strcasecmp(sql_table_at(n)->name, name) == 0)
			return true;
	for (uint32_t n = 0; n < sql->event_tables; n++)
		if (strcasecmp(sql->events[n].name, name) == 0)
			return true;
	return strncasecmp(name, "sqlite_", 7) == 0 || strncasecmp(name, "pragma_", 7) == 0 ||
	       sqlite3_table_column_metadata(sql->db, NULL, name, NULL, NULL, NULL, NULL, NULL, NULL) ==
		       SQLITE_OK;
}

static bool have_same_fields(const struct ktread_type *a, const struct ktread_type *b)
{
	bool same = a->fields == b->fields;

	for (uint32_t n = 0; same && n < a->fields; n++)
		same = a->field[n].type == b->field[n].type &&
		       strcmp(a->field[n].name, b->field[n].name) == 0;
	return same;
}

/*
 * Returns the table of events that has the name and the fields of this type; NULL if there is no such table.
 */
static struct sql_events *table_like(struct sql *sql, const struct ktread_type *type)
{
	for (uint32_t n = 1; n < sql->event_tables; n++)
		if (strcmp(sql_type_name(sql, sql->events[n].type->id), sql_type_name(sql, type->id)) == 0 &&
		    have_same_fields(sql->events[n].type, type))
			return &sql->events[n];
	return NULL;
}

/* Adds a table. `type` is NULL for table `events`. Returns 0 or KTREAD_E_MEMORY. */
static int add_table(struct sql *sql, const struct ktread_type *type)
{
	struct sql_events *table = type ? table_like(sql, type) : NULL;

	if (table) {
		table->map[type->id / 8] |= (uint8_t)(1u << type->id % 8);
		return 0;
	}
	table = &sql->events[sql->event_tables];
	table->sql = sql;
	table->type = type;
	snprintf(table->name, sizeof(table->name), "%s", type ? sql_type_name(sql, type->id) : "events");
	if (type && is_taken(sql, table->name))
		snprintf(table->name, sizeof(table->name), "%s (%u)", sql_type_name(sql, type->id), type->id);
	sql->event_tables++;
	if (type) {
		table->map = calloc(1, (KTRX_EVENT_MAX + 1) / 8);
		if (!table->map)
			return KTREAD_E_MEMORY;
		table->map[type->id / 8] |= (uint8_t)(1u << type->id % 8);
	}
	return make_columns(table);
}

int sql_events_make(struct sql *sql)
{
	int status = name_types(sql);

	sql->events = calloc(KTRX_EVENT_MAX + 2, sizeof(*sql->events));
	if (!sql->events)
		status = KTREAD_E_MEMORY;
	if (!status)
		status = add_table(sql, NULL);
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX && !status; id++) {
		const struct ktread_type *type = ktread_type(sql->trace, id);

		if (type)
			status = add_table(sql, type);
	}
	return status;
}

void sql_events_free(struct sql *sql)
{
	for (uint32_t n = 0; n < sql->event_tables; n++) {
		free(sql->events[n].column);
		free(sql->events[n].text);
		free(sql->events[n].map);
	}
	free(sql->events);
	for (uint32_t id = 0; sql->type && id <= KTRX_EVENT_MAX; id++)
		free(sql->type[id].name);
	free(sql->type);
}

/* ---- Cells ---- */

static struct sql_cell field_cell(struct sql *sql, const struct ktread_event *event, uint32_t n)
{
	struct ktread_value value;

	if (ktread_value(event, n, &value) < 0)
		return sql_cell_null();
	switch (value.type) {
	case KTRX_TYPE_STRING:
		return (struct sql_cell){ .kind = SQL_TEXT, .text = value.string, .length = value.length };
	case KTRX_TYPE_CHAR:
		sql->scratch[0] = (char)value.number;
		return (struct sql_cell){ .kind = SQL_TEXT, .text = sql->scratch, .length = 1 };
	case KTRX_TYPE_POINTER:
		return sql_cell_address(sql, value.number);
	case KTRX_TYPE_U64:
		return sql_cell_unsigned(sql, value.number);
	default:
		if (timeline_is_unknown(&event->type->field[n], &value))
			return sql_cell_null();
		return sql_cell_integer((int64_t)value.number);
	}
}

static struct sql_cell fields_cell(struct sql *sql, const struct ktread_event *event)
{
	char *end;

	sql->scratch[0] = '{';
	end = json_put_fields(sql->scratch + 1, event);
	*end = '}';
	return (struct sql_cell){ .kind = SQL_TEXT,
				  .text = sql->scratch,
				  .length = (size_t)(end + 1 - sql->scratch) };
}

struct sql_cell sql_event_cell(const struct sql_events *table, const struct ktread_event *event,
			       uint32_t column)
{
	static const char *const contexts[] = { "thread", "irq", "nmi", "early" };
	struct sql *sql = table->sql;

	if (table->type && column >= SQL_EVENT_COMMON)
		return field_cell(sql, event, column - SQL_EVENT_COMMON);
	switch (column) {
	case SQL_EVENT_ID:
		snprintf(sql->scratch, sizeof(sql->scratch), "%u.%llu", event->ring,
			 (unsigned long long)event->index);
		return sql_cell_text(sql->scratch);
	case SQL_EVENT_TS:
		return sql_cell_integer(sql_time(sql, event->stamp));
	case SQL_EVENT_CPU:
		return event->cpu == KTRX_NO_CPU ? sql_cell_null() : sql_cell_integer(event->cpu);
	case SQL_EVENT_THREAD:
		return event->thread == KTREAD_NO_THREAD ? sql_cell_null() : sql_cell_integer(event->thread);
	case SQL_EVENT_THREAD_NAME:
		return sql_cell_text(ktread_thread_name(sql->trace, event->thread));
	case SQL_EVENT_CONTEXT:
		return sql_cell_text(contexts[event->context % 4]);
	case SQL_EVENT_CATEGORY:
		return sql_cell_text(sql->type[event->id & KTRX_EVENT_MAX].category);
	case SQL_EVENT_NAME:
		return sql_cell_text(sql_type_name(sql, event->id));
	case SQL_EVENT_TYPE:
		return sql_cell_integer(event->id);
	case SQL_EVENT_LOST:
		return sql_cell_integer((int64_t)event->lost);
	default:
		return fields_cell(sql, event);
	}
}
