/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A session: what queries may do, their limits, and the readers of the trace that they use. */
#include "sql/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/put.h"

/* number of steps of SQLite's virtual machine between two checks of the time */
#define PROGRESS   1000
#define CHECKS	   4096	      /* number of calls of sql_is_over() between two checks of the time */
#define TEXT_MOST  (16 << 20) /* maximum size of a text in a query, in bytes */
#define QUERY_MOST (1 << 20)  /* maximum size of a statement, in bytes */
/* maximum size of a pattern in bytes; needed because matching a pattern cannot be interrupted */
#define LIKE_MOST 1000

/* ---- Cells ---- */

struct sql_cell sql_cell_text(const char *text)
{
	if (!text)
		return sql_cell_null();
	return (struct sql_cell){ .kind = SQL_TEXT, .text = text, .length = strlen(text) };
}

struct sql_cell sql_cell_unsigned(struct sql *sql, uint64_t number)
{
	if (number <= INT64_MAX)
		return sql_cell_integer((int64_t)number);
	*base_put_decimal(sql->scratch, number) = '\0';
	return sql_cell_text(sql->scratch);
}

struct sql_cell sql_cell_address(struct sql *sql, uint64_t number)
{
	*base_put_hex(base_put_literal(sql->scratch, "0x"), number) = '\0';
	return sql_cell_text(sql->scratch);
}

void sql_cell_give(sqlite3_context *context, const struct sql_cell *cell)
{
	if (cell->kind == SQL_INTEGER)
		sqlite3_result_int64(context, cell->integer);
	else if (cell->kind == SQL_TEXT)
		sqlite3_result_text(context, cell->text, (int)cell->length, SQLITE_TRANSIENT);
	else
		sqlite3_result_null(context);
}

/* ---- Times ---- */

int64_t sql_time(const struct sql *sql, uint64_t stamp)
{
	const uint64_t ticks = stamp > sql->base ? stamp - sql->base : 0;
	const uint64_t time = sql->scale.frequency ? base_ticks_nanoseconds(&sql->scale, ticks) : ticks;

	return time > INT64_MAX ? INT64_MAX : (int64_t)time;
}

/*
 * Converts a time to a timestamp. The result may be up to one tick too early, or up to `more` ticks too late.
 */
static uint64_t stamp_near(const struct sql *sql, int64_t time, uint64_t more)
{
	const uint64_t frequency = sql->scale.frequency;
	unsigned __int128 ticks = time < 0 ? 0 : (unsigned __int128)time;

	if (frequency)
		ticks = ticks * frequency / 1000000000u;
	ticks += (unsigned __int128)sql->base + more;
	return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

void sql_window_narrow(const struct sql *sql, struct sql_window *window, int op, sqlite3_value *value)
{
	int64_t time;
	uint64_t since, until;

	if (sqlite3_value_type(value) == SQLITE_NULL) /* a comparison with NULL is never true */
		*window = (struct sql_window){ UINT64_MAX, 0 };
	if (sqlite3_value_type(value) == SQLITE_INTEGER)
		time = sqlite3_value_int64(value);
	else if (sqlite3_value_type(value) == SQLITE_FLOAT && sqlite3_value_double(value) < 9e18 &&
		 sqlite3_value_double(value) > -9e18)
		time = (int64_t)sqlite3_value_double(value);
	else
		return;
	/*
	 * An event may have an earlier timestamp than the first event, if clocks were corrected. Its time is
	 * 0.
	 */
	since = time <= 0 ? 0 : stamp_near(sql, time - 1, 0);
	/*
	 * Add the number of ticks in a nanosecond, and one additional tick because the conversion rounds
	 * down. Times above INT64_MAX are shown as INT64_MAX.
	 */
	until = time >= INT64_MAX - 1 ? UINT64_MAX : stamp_near(sql, time + 2, 1);
	if (op != SQLITE_INDEX_CONSTRAINT_LT && op != SQLITE_INDEX_CONSTRAINT_LE && since > window->since)
		window->since = since;
	if (op != SQLITE_INDEX_CONSTRAINT_GT && op != SQLITE_INDEX_CONSTRAINT_GE && until < window->until)
		window->until = until;
}

/* ---- Limits ---- */

static bool check_time(struct sql *sql)
{
	struct timespec now;

	if (sql->options.timeout <= 0)
		return sql->interrupted;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec > sql->deadline.tv_sec ||
	    (now.tv_sec == sql->deadline.tv_sec && now.tv_nsec >= sql->deadline.tv_nsec))
		sql->timed_out = true;
	return sql->timed_out || sql->interrupted;
}

bool sql_is_over(struct sql *sql)
{
	if (sql->countdown++ % CHECKS)
		return false;
	return check_time(sql);
}

static int on_progress(void *context)
{
	return check_time(context);
}

static int stop_reading(void *context)
{
	return check_time(context);
}

void sql_interrupt(struct sql *sql)
{
	sql->interrupted = true;
}

/* Callback of SQLite that allows only statements that read tables. */
static int authorize(void *context, int action, const char *first, const char *second, const char *third,
		     const char *fourth)
{
	const struct sql *sql = context;

	(void)first;
	(void)third;
	(void)fourth;
	if (sql->declares)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return second && (sqlite3_stricmp(second, "load_extension") == 0 ||
				  sqlite3_stricmp(second, "fts3_tokenizer") == 0)
			       ? SQLITE_DENY
			       : SQLITE_OK;
	default:
		return SQLITE_DENY;
	}
}

/* ---- Readers ---- */

void sql_fail(struct sql *sql, const struct ktread *reader, int status)
{
	/* a limit of the statement stops the reader, too */
	if (sql->timed_out || sql->interrupted)
		return;
	sql->error = status;
	sql_say(sql, "%s", ktread_message(reader));
}

/*
 * Returns the index of a free reader of this kind, and opens a reader if necessary. Returns SQL_READERS if
 * there is no free reader.
 */
static uint32_t find_reader(struct sql *sql, bool window)
{
	uint32_t n = 0;

	while (n < SQL_READERS && sql->reader[n] && (sql->taken[n] || sql->window[n] != window))
		n++;
	if (n == SQL_READERS || sql->reader[n])
		return n;
	sql->reader[n] = sql->options.reopen ? sql->options.reopen(sql->options.context, window) : NULL;
	sql->window[n] = window;
	if (sql->reader[n])
		ktread_set_stop(sql->reader[n], stop_reading, sql);
	return sql->reader[n] ? n : SQL_READERS;
}

struct ktread *sql_reader_take(struct sql *sql, bool window)
{
	uint32_t n = find_reader(sql, window);
	int status;

	if (n == SQL_READERS && window)
		n = find_reader(sql, false);
	if (n == SQL_READERS) {
		sql->error = KTREAD_E_UNSUPPORTED;
		sql_say(sql,
			"this query reads the trace at several places at the same time: "
			"the trace cannot be opened again, or the limit of %u places is reached",
			SQL_READERS);
		return NULL;
	}
	status = ktread_set_filter(sql->reader[n], NULL);
	if (status >= 0)
		status = ktread_rewind(sql->reader[n]);
	if (status < 0) {
		sql_fail(sql, sql->reader[n], status);
		return NULL;
	}
	sql->taken[n] = true;
	return sql->reader[n];
}

void sql_reader_return(struct sql *sql, struct ktread *reader)
{
	for (uint32_t n = 0; n < SQL_READERS; n++)
		if (sql->reader[n] == reader)
			sql->taken[n] = false;
}

const struct tally *sql_tally(struct sql *sql)
{
	struct ktread *trace;
	int status;

	if (sql->tally)
		return sql->tally;
	trace = sql_reader_take(sql, false);
	if (!trace)
		return NULL;
	status = tally_trace(&sql->tally, trace);
	sql_reader_return(sql, trace);
	if (status >= 0)
		return sql->tally;
	sql_fail(sql, trace, status);
	tally_free(sql->tally);
	sql->tally = NULL;
	return NULL;
}

/* ---- Tables ---- */

char *sql_columns_text(const struct sql_column *column, uint32_t columns, const char *separator)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (uint32_t n = 0; n < columns; n++)
		sqlite3_str_appendf(text, "%s\"%w\"%s%s", n ? separator : "", column[n].name,
				    *column[n].type ? " " : "", column[n].type);
	return sqlite3_str_finish(text);
}

/* Declares a virtual table. Returns a status of SQLite. */
static int sql_declare(struct sql *sql, const struct sql_column *column, uint32_t columns)
{
	char *text = sql_columns_text(column, columns, ", ");
	char *statement = text ? sqlite3_mprintf("CREATE TABLE t(%s)", text) : NULL;
	int status = SQLITE_NOMEM;

	sql->declares = true;
	if (statement)
		status = sqlite3_declare_vtab(sql->db, statement);
	sql->declares = false;
	sqlite3_free(statement);
	sqlite3_free(text);
	return status;
}

/* Registers the tables. Returns a status of SQLite. */
static int add_tables(struct sql *sql)
{
	int status = SQLITE_OK;

	for (uint32_t n = 0; sql_table_at(n) && status == SQLITE_OK; n++)
		status = sqlite3_create_module(sql->db, sql_table_at(n)->name, &sql_rows_module, sql);
	for (uint32_t n = 0; n < sql->event_tables && status == SQLITE_OK; n++)
		status = sqlite3_create_module(sql->db, sql->events[n].name, &sql_events_module,
					       &sql->events[n]);
	return status;
}

static int restrict_queries(struct sql *sql)
{
	int status = sqlite3_exec(sql->db, "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF", NULL,
				  NULL, NULL);

	sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* a wrong name in double quotes must be an error: by default, SQLite would treat it as a string */
	sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(sql->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(sql->db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
	sqlite3_limit(sql->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(sql->db, SQLITE_LIMIT_LENGTH, TEXT_MOST);
	sqlite3_limit(sql->db, SQLITE_LIMIT_SQL_LENGTH, QUERY_MOST);
	sqlite3_limit(sql->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LIKE_MOST);
	if (status == SQLITE_OK)
		status = sqlite3_set_authorizer(sql->db, authorize, sql);
	sqlite3_progress_handler(sql->db, PROGRESS, on_progress, sql);
	return status;
}

int sql_open(struct sql **result, struct ktread *trace, const struct sql_options *options)
{
	struct sql *sql = calloc(1, sizeof(*sql));
	int status;

	*result = sql;
	if (!sql)
		return KTREAD_E_MEMORY;
	sql->trace = sql->reader[0] = trace;
	sql->options = *options;
	ktread_set_stop(trace, stop_reading, sql);
	sql->base = ktread_first_stamp(trace);
	base_ticks_scale_init(&sql->scale, ktread_info(trace)->frequency);
	status = sqlite3_open_v2(":memory:", &sql->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	if (status == SQLITE_OK && sql_events_make(sql) < 0)
		status = SQLITE_NOMEM;
	if (status == SQLITE_OK)
		status = add_tables(sql);
	if (status == SQLITE_OK)
		status = restrict_queries(sql);
	sqlite3_hard_heap_limit64((sqlite3_int64)options->memory);
	return status == SQLITE_OK ? 0 : KTREAD_E_MEMORY;
}

void sql_close(struct sql *sql)
{
	if (!sql)
		return;
	sqlite3_close(sql->db);
	ktread_set_stop(sql->trace, NULL, NULL);
	sql_events_free(sql);
	for (uint32_t n = 1; n < SQL_READERS; n++)
		ktread_close(sql->reader[n]);
	for (uint32_t n = 0; n < SQL_STORES; n++)
		sqlite3_free(sql->rows[n].row);
	for (uint32_t n = 0; n < sql->names; n++)
		sqlite3_free(sql->name[n]);
	free(sql->name);
	base_index_free(&sql->name_index);
	tally_free(sql->tally);
	sqlite3_hard_heap_limit64(0);
	free(sql);
}

void sql_say(struct sql *sql, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sql->message, sizeof(sql->message), format, arguments);
	va_end(arguments);
}

const char *sql_message(const struct sql *sql)
{
	return sql->message;
}

/* ---- Virtual tables ---- */

int sql_vtab_new(sqlite3_vtab **result, struct sql *sql, const void *table, const struct sql_column *column,
		 uint32_t columns)
{
	struct sql_vtab *vtab = sqlite3_malloc(sizeof(*vtab));
	int status;

	if (!vtab)
		return SQLITE_NOMEM;
	*vtab = (struct sql_vtab){ .sql = sql, .table = table };
	status = sql_declare(sql, column, columns);
	if (status == SQLITE_OK)
		*result = &vtab->base;
	else
		sqlite3_free(vtab);
	return status;
}

int sql_vtab_free(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

void *sql_cursor_new(size_t size)
{
	void *cursor = sqlite3_malloc64(size);

	return cursor ? memset(cursor, 0, size) : NULL;
}

static const struct {
	char letter;
	int op;
} times[] = { { 'e', SQLITE_INDEX_CONSTRAINT_EQ },
	      { 'g', SQLITE_INDEX_CONSTRAINT_GT },
	      { 'G', SQLITE_INDEX_CONSTRAINT_GE },
	      { 'l', SQLITE_INDEX_CONSTRAINT_LT },
	      { 'L', SQLITE_INDEX_CONSTRAINT_LE } };

char sql_time_letter(int op)
{
	for (size_t n = 0; n < sizeof(times) / sizeof(times[0]); n++)
		if (times[n].op == op)
			return times[n].letter;
	return 0;
}

int sql_time_operator(char letter)
{
	for (size_t n = 0; n < sizeof(times) / sizeof(times[0]); n++)
		if (times[n].letter == letter)
			return times[n].op;
	return 0;
}
