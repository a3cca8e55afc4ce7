/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Runs statements and commands, and explains errors. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "sql/session.h"

/* maximum number of characters of a statement that an error message contains */
#define SHOWN 70u
/*
 * maximum time limit of a statement, in seconds, so that the time at which it is reached can be represented
 */
#define TIMEOUT_MOST 1e9
#define ESCAPED	     (BASE_ESCAPE_TEXT_GROWTH * SHOWN + 1)

/* ---- Messages ---- */

static const char no_table[] = "no such table: "; /* beginning of SQLite's message */

/*
 * Returns a suggestion for the message about a table that does not exist, such as "; did you mean
 * sched.switch?"; otherwise "".
 */
static void suggest(const struct sql *sql, const char *error, char *text, size_t size)
{
	struct suggestions similar;

	*text = '\0';
	if (strncmp(error, no_table, strlen(no_table)) != 0)
		return;
	suggestions_start(&similar, error + strlen(no_table), strlen(error) - strlen(no_table));
	for (uint32_t n = 0; sql_table_at(n); n++)
		suggestions_offer(&similar, sql_table_at(n)->name);
	for (uint32_t n = 0; n < sql->event_tables; n++)
		suggestions_offer(&similar, sql->events[n].name);
	suggestions_text(&similar, text, size);
}

static bool is_letter(char c)
{
	return (c & 0x80) || isalnum((unsigned char)c) || c == '_' || c == '$';
}

/*
 * SQLite does not report where the name of a table that does not exist is. Returns the offset of the name in
 * the statement: of the first word with this name after FROM that is not the table of a column. Returns -1
 * if the error is another one, or the name is not found.
 */
static int place_of_table(const char *statement, const char *error)
{
	const char *name = error + strlen(no_table), *dot, *from = NULL;
	size_t length;

	if (strncmp(error, no_table, strlen(no_table)) != 0)
		return -1;
	dot = strrchr(name, '.');
	/* a name with a dot is either in quotes, or has the name of a database before the dot */
	if (dot && (strncmp(name, "main.", 5) == 0 || strncmp(name, "temp.", 5) == 0))
		name = dot + 1;
	length = strlen(name);
	for (const char *at = statement; *at; at++) {
		if (*at == '\'') {
			at += 1 + strcspn(at + 1, "'");
			if (!*at)
				return -1;
		} else if (at == statement || !is_letter(at[-1])) {
			if (strncasecmp(at, "from", 4) == 0 && !is_letter(at[4]))
				from = at;
			else if (from && length && strncasecmp(at, name, length) == 0 &&
				 !is_letter(at[length]) && at[length] != '.' &&
				 (at[length] != '"' || at[length + 1] != '.'))
				return (int)(at - statement);
		}
	}
	return -1;
}

/*
 * Writes the line of the statement that contains byte `offset`, and a caret below this byte. A long line is
 * truncated at both ends.
 */
static void put_place(char *text, size_t size, const char *statement, size_t offset)
{
	const char *line = statement + offset, *end = line + strcspn(line, "\n");
	char before[ESCAPED], after[ESCAPED];

	while (line > statement && line[-1] != '\n' && statement + offset - line < (ptrdiff_t)SHOWN / 2)
		line--;
	if (end - line > (ptrdiff_t)SHOWN)
		end = line + SHOWN;
	*base_escape_text(before, line, (size_t)(statement + offset - line), sizeof(before) - 1) = '\0';
	*base_escape_text(after, statement + offset, (size_t)(end - statement) - offset, sizeof(after) - 1) =
		'\0';
	snprintf(text, size, "\n  %s%s\n  %*s^", before, after, (int)strlen(before), "");
}

/* Sets the message for an error of SQLite. `statement`: the text that was passed to SQLite. */
static enum sql_status explain(struct sql *sql, int status, const char *statement)
{
	const char *error = sqlite3_errmsg(sql->db);
	const int known = sqlite3_error_offset(sql->db),
		  offset = known >= 0 ? known : place_of_table(statement, error);
	char escaped[1024], place[2 * ESCAPED + SHOWN * 4] = "", similar[SUGGESTIONS_TEXT];

	if (sql->error)
		return SQL_UNREAD;
	if (sql->timed_out) {
		sql_say(sql, "the query reached its limit of %g s: narrow it, for example by ts",
			sql->options.timeout);
		return SQL_LIMIT;
	}
	if (sql->interrupted) {
		sql_say(sql, "the query was interrupted");
		return SQL_LIMIT;
	}
	if (status == SQLITE_NOMEM || status == SQLITE_TOOBIG || status == SQLITE_FULL) {
		sql_say(sql,
			"the query reached its limit of memory (%llu MB, or 16 MB for one text): "
			"narrow it, for example by ts",
			(unsigned long long)(sql->options.memory >> 20));
		return SQL_LIMIT;
	}
	*base_escape_text(escaped, error, strlen(error), sizeof(escaped) - 1) = '\0';
	suggest(sql, error, similar, sizeof(similar));
	if (offset >= 0 && (size_t)offset <= strlen(statement))
		put_place(place, sizeof(place), statement, (size_t)offset);
	if (status == SQLITE_AUTH)
		sql_say(sql, "%s: queries can only read the tables of the trace", escaped);
	else
		sql_say(sql, "%s%s%s", escaped, similar, place);
	return SQL_REFUSED;
}

/* ---- Statements ---- */

static enum sql_status step_all(struct sql *sql, sqlite3_stmt *statement, const char *text,
				struct base_output *out)
{
	struct sql_writer *writer;
	int status = SQLITE_DONE;

	if (sqlite3_column_count(statement) == 0 || !sqlite3_stmt_readonly(statement)) {
		sql_say(sql, "not authorized: queries can only read the tables of the trace");
		return SQL_REFUSED;
	}
	writer = sql_writer_open(out, sql->options.form, statement);
	if (!writer)
		return explain(sql, SQLITE_NOMEM, text);
	while ((status = sqlite3_step(statement)) == SQLITE_ROW && !out->error)
		if (!sql_writer_row(writer)) {
			status = SQLITE_NOMEM;
			break;
		}
	sql_writer_close(writer, status == SQLITE_DONE);
	return status == SQLITE_DONE || out->error ? SQL_DONE : explain(sql, status, text);
}

static void begin_time(struct sql *sql)
{
	const double timeout = sql->options.timeout < TIMEOUT_MOST ? sql->options.timeout : TIMEOUT_MOST;

	sql->timed_out = sql->interrupted = false;
	sql->error = 0;
	clock_gettime(CLOCK_MONOTONIC, &sql->deadline);
	sql->deadline.tv_sec += (time_t)timeout;
	sql->deadline.tv_nsec += (long)((timeout - (double)(time_t)timeout) * 1e9);
	if (sql->deadline.tv_nsec >= 1000000000) {
		sql->deadline.tv_sec++;
		sql->deadline.tv_nsec -= 1000000000;
	}
}

static const char *skip_blanks(const char *text)
{
	while (isspace((unsigned char)*text) || *text == ';')
		text++;
	return text;
}

/* Characters at which the first word of a command ends. A command ends at a semicolon or a line feed. */
#define COMMAND_ENDS " \t\r\n;"

static bool is_word(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && memcmp(text, word, length) == 0;
}

enum sql_status sql_run(struct sql *sql, const char *text, struct base_output *out)
{
	enum sql_status result = SQL_DONE;

	for (text = skip_blanks(text); *text && result == SQL_DONE; text = skip_blanks(text)) {
		sqlite3_stmt *statement = NULL;
		const char *rest = text;
		int status;

		if (*text == '.') {
			if (is_word(text, strcspn(text, COMMAND_ENDS), ".quit"))
				break;
			result = sql_command(sql, text, out);
			text += strcspn(text, ";\n");
			continue;
		}
		begin_time(sql);
		status = sqlite3_prepare_v2(sql->db, text, -1, &statement, &rest);
		if (status != SQLITE_OK)
			result = explain(sql, status, text);
		else if (statement)
			result = step_all(sql, statement, text, out);
		sqlite3_finalize(statement);
		text = rest;
	}
	return result;
}

bool sql_is_complete(const char *text)
{
	text = skip_blanks(text);
	return *text == '.' || sqlite3_complete(text);
}

/* ---- Commands ---- */

static void put_table(struct base_output *out, const char *name, const char *help)
{
	base_output_format(out, "%-24s %s\n", name, help);
}

static void list_tables(const struct sql *sql, struct base_output *out)
{
	put_table(out, "events", "all events, in order of time if the query uses ts");
	for (uint32_t n = 0; sql_table_at(n); n++)
		put_table(out, sql_table_at(n)->name, sql_table_at(n)->help);
	for (uint32_t n = 1; n < sql->event_tables; n++) {
		const char *text = sql->events[n].type->text;
		char *name = sqlite3_mprintf("\"%w\"", sql->events[n].name), shown[200];

		*base_escape_text(shown, text, strlen(text), sizeof(shown) - 1) = '\0';
		put_table(out, name ? name : "", shown);
		sqlite3_free(name);
	}
}

static void put_schema(struct base_output *out, const char *name, const struct sql_column *column,
		       uint32_t columns)
{
	char *quoted = sqlite3_mprintf("\"%w\"", name);

	base_output_format(out, "CREATE TABLE %s (\n", quoted ? quoted : "");
	for (uint32_t n = 0; n < columns; n++) {
		char *line = sqlite3_mprintf("\"%w\"%s%s%s", column[n].name, *column[n].type ? " " : "",
					     column[n].type, n + 1 < columns ? "," : "");

		if (line && *column[n].help)
			base_output_format(out, "  %-28s -- %s\n", line, column[n].help);
		else
			base_output_format(out, "  %s\n", line ? line : "");
		sqlite3_free(line);
	}
	base_output_text(out, ");\n");
	sqlite3_free(quoted);
}

/*
 * Prints the schema of a table or, if `name` is "", of all tables. Returns false if there is no such table.
 */
static bool put_schemas(const struct sql *sql, const char *name, struct base_output *out)
{
	bool found = false;

	for (uint32_t n = 0; n < sql->event_tables; n++) {
		if (*name && sqlite3_stricmp(sql->events[n].name, name) != 0)
			continue;
		put_schema(out, sql->events[n].name, sql->events[n].column, sql->events[n].columns);
		found = true;
	}
	for (uint32_t n = 0; sql_table_at(n); n++) {
		const struct sql_table *table = sql_table_at(n);

		if (*name && sqlite3_stricmp(table->name, name) != 0)
			continue;
		put_schema(out, table->name, table->column, table->columns);
		found = true;
	}
	return found;
}

static const char help[] =
	".tables           list the tables\n"
	".schema [TABLE]   list the columns of a table, or of all tables\n"
	".help             print this text\n"
	".quit             end the session, like the end of the input\n"
	"A statement of SQL ends with a semicolon. Names that contain a dot are quoted: \"sched.switch\".\n"
	"Times are in ns since the first event: ts BETWEEN 1000000 AND 2000000 is the second millisecond.\n"
	"  SELECT name, count(*) FROM events GROUP BY name ORDER BY 2 DESC;\n"
	"  SELECT name, count(*), max(duration) FROM syscalls GROUP BY name;\n"
	"  SELECT state, sum(duration) FROM thread_states WHERE thread = 7 GROUP BY state;\n";

/*
 * Reads the argument of a command, without quotes and blanks around it, into `name`. Returns false if the
 * command has more than one argument, or a longer one.
 */
static bool take_argument(const char *argument, char *name, size_t size)
{
	const size_t length = strcspn(argument, "\"\t\r\n;");
	const char *rest = argument + length + strspn(argument + length, "\" \t\r");

	if (length >= size || !strchr(";\n", *rest))
		return false;
	memcpy(name, argument, length);
	name[length] = '\0';
	for (size_t end = length; end > 0 && name[end - 1] == ' '; end--)
		name[end - 1] = '\0';
	return true;
}

enum sql_status sql_command(struct sql *sql, const char *text, struct base_output *out)
{
	char name[ANALYZE_EVENT_NAME_MOST + 16] = "", shown[4 * sizeof(name) + 1], similar[SUGGESTIONS_TEXT];
	const size_t command = strcspn(text, COMMAND_ENDS);
	const char *argument = text + command + strspn(text + command, " \t\"");
	const bool fits = take_argument(argument, name, sizeof(name)),
		   schema = is_word(text, command, ".schema");

	*base_escape_text(shown, text, command, sizeof(shown) - 1) = '\0';
	if (!schema && !is_word(text, command, ".tables") && !is_word(text, command, ".help")) {
		sql_say(sql, "unknown command %s: the commands are .tables, .schema, .help and .quit", shown);
		return SQL_REFUSED;
	}
	if (!fits || (*name && !schema)) {
		sql_say(sql, schema ? "%s takes the name of one table" : "%s takes no name", shown);
		return SQL_REFUSED;
	}
	if (is_word(text, command, ".tables"))
		list_tables(sql, out);
	else if (!schema)
		base_output_text(out, help);
	else if (!put_schemas(sql, name, out)) {
		*base_escape_text(shown, name, strlen(name), sizeof(shown) - 1) = '\0';
		snprintf(sql->scratch, sizeof(sql->scratch), "no such table: %s", name);
		suggest(sql, sql->scratch, similar, sizeof(similar));
		sql_say(sql, "no such table: %s%s", shown, similar);
		return SQL_REFUSED;
	}
	return SQL_DONE;
}
