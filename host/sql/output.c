/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes the rows of a statement as a table, as CSV or as JSON, and all tables into a database file.
 * Escapes text from the trace in each format.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "base/grow.h"
#include "base/json.h"
#include "sql/session.h"

#define WIDE 200u /* maximum width, in characters, of an aligned column */
/* number of rows that are read before a table is written, to compute the widths of its columns */
#define AHEAD	   1000u
#define AHEAD_MOST (1u << 20) /* maximum size in bytes of the text of the rows that are read in advance */

struct column {
	char *name;
	uint32_t width;
	bool right; /* true if all cells so far are numbers */
};

struct sql_writer {
	struct base_output *out;
	sqlite3_stmt *statement;
	enum sql_form form;
	int columns;
	struct column *column;
	/* for a table: cells of the rows that have not been written yet, each with a NUL */
	char *text;
	uint32_t length, room, rows;
	bool aligned; /* true if the widths have been computed, and the header has been written */
	char *cell;   /* buffer for the escaped text of a cell */
	uint32_t cell_room;
};

/* Returns memory for the escaped text of a cell; NULL if memory runs out. */
static char *reserve(struct sql_writer *writer, size_t length)
{
	char *larger = base_grow(writer->cell, &writer->cell_room,
				 length * BASE_ESCAPE_JSON_GROWTH + BASE_JSON_NAME, 1);

	if (larger)
		writer->cell = larger;
	return larger;
}

/*
 * Names are unique ("ts", "ts_2"), because the members of a JSON object must have different names. The first
 * object also contains the members of base_output_schema().
 */
static bool is_used(const struct sql_writer *writer, int columns, const char *name)
{
	if (writer->form == SQL_JSON && (strcmp(name, "schema") == 0 || strcmp(name, "strings") == 0))
		return true;
	for (int n = 0; n < columns; n++)
		if (strcmp(writer->column[n].name, name) == 0)
			return true;
	return false;
}

static bool name_columns(struct sql_writer *writer)
{
	for (int n = 0; n < writer->columns; n++) {
		const char *name = sqlite3_column_name(writer->statement, n);
		char *unique = sqlite3_mprintf("%s", name);

		for (int again = 2; unique && is_used(writer, n, unique); again++) {
			sqlite3_free(unique);
			unique = sqlite3_mprintf("%s_%d", name, again);
		}
		if (!unique)
			return false;
		writer->column[n].name = unique;
		writer->column[n].right = true;
	}
	return true;
}

/* ---- Cells ---- */

/* Writes a number as SQLite does; "" for NULL. Returns NULL if the cell is text or bytes. */
static const char *number_text(sqlite3_stmt *statement, int n)
{
	switch (sqlite3_column_type(statement, n)) {
	case SQLITE_INTEGER:
	case SQLITE_FLOAT:
		return (const char *)sqlite3_column_text(statement, n);
	default:
		return NULL;
	}
}

/* Writes X'0a0b' for bytes. Returns the end. */
static char *put_bytes(char *at, const unsigned char *bytes, size_t length)
{
	at += sprintf(at, "X'");
	for (size_t n = 0; n < length; n++)
		at += sprintf(at, "%02x", bytes[n]);
	return at + sprintf(at, "'");
}

/* Stores the escaped text of a cell in writer->cell, with a NUL. Returns its end, or NULL. */
static char *plain_cell(struct sql_writer *writer, int n)
{
	sqlite3_stmt *statement = writer->statement;
	const char *number = number_text(statement, n);
	const char *bytes = number ? number : sqlite3_column_blob(statement, n);
	const size_t length = number ? strlen(number) : (size_t)sqlite3_column_bytes(statement, n);
	char *at = reserve(writer, length), *end;

	if (!at)
		return NULL;
	if (sqlite3_column_type(statement, n) == SQLITE_BLOB)
		end = put_bytes(at, (const unsigned char *)bytes, length);
	else
		end = base_escape_utf8(at, bytes, length, length * BASE_ESCAPE_TEXT_GROWTH);
	*end = '\0';
	return end;
}

static bool is_text(const struct sql_writer *writer, int n)
{
	const int type = sqlite3_column_type(writer->statement, n);

	return type == SQLITE_TEXT || type == SQLITE_BLOB;
}

/* ---- JSON and CSV ---- */

static bool write_json(struct sql_writer *writer)
{
	sqlite3_stmt *statement = writer->statement;

	base_output_text(writer->out, "{");
	for (int n = 0; n < writer->columns; n++) {
		const int type = sqlite3_column_type(statement, n);
		const char *name = writer->column[n].name;
		char *at = reserve(writer, strlen(name)), *end;

		if (!at)
			return false;
		end = base_json_string(at, name, strlen(name));
		base_output_text(writer->out, n ? "," : "");
		base_output_bytes(writer->out, at, (size_t)(end - at));
		base_output_text(writer->out, ":");
		end = plain_cell(writer, n);
		if (!end)
			return false;
		if (type == SQLITE_NULL ||
		    (type == SQLITE_FLOAT && !isfinite(sqlite3_column_double(statement, n)))) {
			base_output_text(writer->out, "null");
		} else if (type == SQLITE_TEXT) {
			end = base_json_string(writer->cell, (const char *)sqlite3_column_text(statement, n),
					       (size_t)sqlite3_column_bytes(statement, n));
			base_output_bytes(writer->out, writer->cell, (size_t)(end - writer->cell));
		} else {
			base_output_text(writer->out, type == SQLITE_BLOB ? "\"" : "");
			base_output_bytes(writer->out, writer->cell, (size_t)(end - writer->cell));
			base_output_text(writer->out, type == SQLITE_BLOB ? "\"" : "");
		}
	}
	base_output_text(writer->out, "}\n");
	return true;
}

/*
 * Writes a cell of a CSV file. A spreadsheet would execute a text that begins with = + - or @ as a formula,
 * even after spaces, so an apostrophe is written before such a text.
 */
static void write_csv_cell(struct base_output *out, const char *text, bool is_text)
{
	const char *first = text + strspn(text, " ");
	const bool formula = is_text && *first && strchr("=+-@", *first);
	const bool quoted = strpbrk(text, ",\"") || *text == ' ';

	if (!quoted) {
		base_output_text(out, formula ? "'" : "");
		base_output_text(out, text);
		return;
	}
	base_output_text(out, formula ? "\"'" : "\"");
	for (const char *at = text; *at; at++) {
		base_output_text(out, *at == '"' ? "\"" : "");
		base_output_bytes(out, at, 1);
	}
	base_output_text(out, "\"");
}

static bool write_csv(struct sql_writer *writer)
{
	for (int n = 0; n < writer->columns; n++) {
		if (!plain_cell(writer, n))
			return false;
		base_output_text(writer->out, n ? "," : "");
		write_csv_cell(writer->out, writer->cell, is_text(writer, n));
	}
	base_output_text(writer->out, "\n");
	return true;
}

/* Writes the header of CSV. Returns false if memory runs out. */
static bool write_csv_header(struct sql_writer *writer)
{
	for (int n = 0; n < writer->columns; n++) {
		const char *name = writer->column[n].name;
		char *at = reserve(writer, strlen(name));

		if (!at)
			return false;
		*base_escape_utf8(at, name, strlen(name), strlen(name) * BASE_ESCAPE_TEXT_GROWTH) = '\0';
		base_output_text(writer->out, n ? "," : "");
		write_csv_cell(writer->out, at, true);
	}
	base_output_text(writer->out, "\n");
	return true;
}

/* ---- Tables ---- */

/* Returns the number of characters of a text. */
static uint32_t width_of(const char *text)
{
	uint32_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void write_padded(struct sql_writer *writer, int n, const char *text, bool right)
{
	const struct column *column = &writer->column[n];
	const uint32_t width = width_of(text);
	const int pad = width < column->width ? (int)(column->width - width) : 0;

	base_output_text(writer->out, n ? "  " : "");
	if (right)
		base_output_format(writer->out, "%*s", pad, "");
	base_output_text(writer->out, text);
	if (!right && n + 1 < writer->columns)
		base_output_format(writer->out, "%*s", pad, "");
	if (n + 1 == writer->columns)
		base_output_text(writer->out, "\n");
}

static bool write_header(struct sql_writer *writer)
{
	for (int n = 0; n < writer->columns; n++) {
		const char *name = writer->column[n].name;
		char *at = reserve(writer, strlen(name));

		if (!at)
			return false;
		*base_escape_utf8(at, name, strlen(name), strlen(name) * BASE_ESCAPE_TEXT_GROWTH) = '\0';
		if (width_of(at) > writer->column[n].width)
			writer->column[n].width = width_of(at) < WIDE ? width_of(at) : WIDE;
		write_padded(writer, n, at, writer->column[n].right);
	}
	return true;
}

/* Writes the header and the rows that were read in advance. Returns false if memory runs out. */
static bool write_ahead(struct sql_writer *writer)
{
	const char *at = writer->text;

	writer->aligned = true;
	if (!write_header(writer))
		return false;
	for (uint32_t row = 0; row < writer->rows; row++)
		for (int n = 0; n < writer->columns; n++) {
			write_padded(writer, n, at, writer->column[n].right);
			at += strlen(at) + 1;
		}
	writer->rows = writer->length = 0;
	return true;
}

static bool write_table(struct sql_writer *writer)
{
	for (int n = 0; n < writer->columns; n++) {
		struct column *column = &writer->column[n];
		char *end = plain_cell(writer, n), *larger;
		size_t length;

		if (!end)
			return false;
		if (writer->aligned) {
			write_padded(writer, n, writer->cell, column->right);
			continue;
		}
		length = (size_t)(end - writer->cell) + 1;
		larger = base_grow(writer->text, &writer->room, writer->length + length, 1);
		if (!larger)
			return false;
		writer->text = larger;
		memcpy(larger + writer->length, writer->cell, length);
		writer->length += (uint32_t)length;
		if (width_of(writer->cell) > column->width)
			column->width = width_of(writer->cell) < WIDE ? width_of(writer->cell) : WIDE;
		column->right &= !is_text(writer, n);
	}
	if (writer->aligned)
		return true;
	writer->rows++;
	return writer->rows < AHEAD && writer->length < AHEAD_MOST ? true : write_ahead(writer);
}

/* ---- The writer ---- */

struct sql_writer *sql_writer_open(struct base_output *out, enum sql_form form, sqlite3_stmt *statement)
{
	struct sql_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	*writer = (struct sql_writer){
		.out = out, .statement = statement, .form = form, .columns = sqlite3_column_count(statement)
	};
	writer->column = calloc((size_t)writer->columns + 1, sizeof(*writer->column));
	if (writer->column && name_columns(writer) && (form != SQL_CSV || write_csv_header(writer)))
		return writer;
	sql_writer_close(writer, false);
	return NULL;
}

bool sql_writer_row(struct sql_writer *writer)
{
	return writer->form == SQL_JSON	 ? write_json(writer)
	       : writer->form == SQL_CSV ? write_csv(writer)
					 : write_table(writer);
}

void sql_writer_close(struct sql_writer *writer, bool complete)
{
	if (!writer)
		return;
	if (writer->form == SQL_TABLE && !writer->aligned && (complete || writer->rows))
		write_ahead(writer);
	for (int n = 0; writer->column && n < writer->columns; n++)
		sqlite3_free(writer->column[n].name);
	free(writer->column);
	free(writer->text);
	free(writer->cell);
	free(writer);
}

/* ---- A database file ---- */

/* Writes the tables of a session into a database file. */

/* The schema name of the database file, which is attached to the session while the file is written. */
#define FILE_SCHEMA "written"

/* Runs a statement made by sqlite3_mprintf(), and frees the statement. Returns a status of SQLite. */
static int run(struct sql *sql, char *statement)
{
	int status = statement ? sqlite3_exec(sql->db, statement, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(statement);
	return status;
}

/*
 * Copies a table. Adds "event." before a name that begins with "sqlite_", because SQLite reserves such names
 * in database files.
 */
static int copy_table(struct sql *sql, const char *name, const struct sql_column *column, uint32_t columns)
{
	const char *prefix = strncasecmp(name, "sqlite_", 7) == 0 ? "event." : "";
	char *text = sql_columns_text(column, columns, ", ");
	int status = SQLITE_NOMEM;

	if (text)
		status = run(sql, sqlite3_mprintf("CREATE TABLE " FILE_SCHEMA ".\"%w%w\"(%s)", prefix, name,
						  text));
	sqlite3_free(text);
	if (status == SQLITE_OK)
		status = run(sql,
			     sqlite3_mprintf("INSERT INTO " FILE_SCHEMA ".\"%w%w\" SELECT * FROM main.\"%w\"",
					     prefix, name, name));
	return status;
}

static int copy_tables(struct sql *sql, uint64_t *events)
{
	int status = SQLITE_OK;

	for (uint32_t n = 0; n < sql->event_tables && status == SQLITE_OK; n++) {
		const struct sql_events *table = &sql->events[n];

		status = copy_table(sql, table->name, table->column, table->columns);
		if (n == 0 && status == SQLITE_OK)
			*events = (uint64_t)sqlite3_changes64(sql->db);
	}
	for (uint32_t n = 0; sql_table_at(n) && status == SQLITE_OK; n++) {
		const struct sql_table *table = sql_table_at(n);

		status = copy_table(sql, table->name, table->column, table->columns);
	}
	return status;
}

/* Returns an errno for a failure of SQLite. */
static int errno_of(struct sql *sql, int status)
{
	const int error = sqlite3_system_errno(sql->db);

	return error ? error : (status & 0xff) == SQLITE_FULL ? ENOSPC : EIO;
}

int sql_export(struct sql *sql, const char *path, uint64_t *events, int *output_error)
{
	int status;

	sqlite3_set_authorizer(sql->db, NULL, NULL);
	sqlite3_limit(sql->db, SQLITE_LIMIT_ATTACHED, 1);
	/*
	 * Disable the defensive mode. In this mode, SQLite ignores journal_mode = OFF, and the journal's file
	 * remains if a signal ends the program.
	 */
	sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	status = run(sql, sqlite3_mprintf("ATTACH %Q AS " FILE_SCHEMA, path));
	/* No rollback is needed, because the file is new, and is removed if writing fails. */
	if (status == SQLITE_OK)
		status = run(sql, sqlite3_mprintf("PRAGMA " FILE_SCHEMA ".journal_mode = OFF;"
						  "PRAGMA " FILE_SCHEMA ".synchronous = OFF; BEGIN"));
	if (status == SQLITE_OK)
		status = copy_tables(sql, events);
	if (status == SQLITE_OK)
		status = run(sql, sqlite3_mprintf("COMMIT; DETACH " FILE_SCHEMA));
	if (status == SQLITE_OK)
		return 0;
	if (sql->error)
		return sql->error;
	if ((status & 0xff) == SQLITE_NOMEM)
		return KTREAD_E_MEMORY;
	*output_error = errno_of(sql, status);
	return KTREAD_E_SYSTEM;
}
