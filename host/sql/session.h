/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations shared by the files of this directory: the session, its tables, and the rows of tables in
 * memory.
 */
#ifndef SQL_SESSION_H
#define SQL_SESSION_H

#include <sqlite3.h>
#include <time.h>

#include "analyze/event_name.h"
#include "analyze/latencies.h"
#include "base/index.h"
#include "base/ticks.h"
#include "export/summary.h"
#include "ktrx/slot.h"
#include "sql/sql.h"

/* maximum number of readers of the trace that one query uses at the same time */
#define SQL_READERS 16u

/* ---- Cells: values in a row ---- */

enum sql_cell_kind { SQL_NULL, SQL_INTEGER, SQL_TEXT };

struct sql_cell {
	enum sql_cell_kind kind;
	int64_t integer;
	const char *text; /* text of the cell; valid at least until the next row */
	size_t length;
};

static inline struct sql_cell sql_cell_null(void)
{
	return (struct sql_cell){ .kind = SQL_NULL };
}

static inline struct sql_cell sql_cell_integer(int64_t integer)
{
	return (struct sql_cell){ .kind = SQL_INTEGER, .integer = integer };
}

/* Makes a cell from a text. If the text is NULL, the cell is NULL. */
struct sql_cell sql_cell_text(const char *text);
/*
 * Makes a cell from a number of 64 bits. SQLite's integers are signed, so larger numbers become text with
 * decimal digits.
 */
struct sql_cell sql_cell_unsigned(struct sql *sql, uint64_t number);
/* Makes a cell with "0x" and the number as hexadecimal digits. */
struct sql_cell sql_cell_address(struct sql *sql, uint64_t number);
void sql_cell_give(sqlite3_context *context, const struct sql_cell *cell);

/* ---- Tables ---- */

/* The kinds of values that columns of a table in memory have. */
enum sql_value {
	SQL_VALUE_NONE, /* the column belongs to no table in memory */
	/* The following columns contain times. */
	SQL_VALUE_TS,	 /* `begin`; the rows of the table are sorted by it */
	SQL_VALUE_BEGIN, /* `begin`; NULL if it is not known */
	SQL_VALUE_END,
	SQL_VALUE_DURATION,
	SQL_VALUE_WAIT, /* the duration, if the row is a wait for a lock; otherwise NULL */
	SQL_VALUE_HOLD, /* the duration, if the row is a period for which a lock is held; otherwise NULL */
	/* The following columns contain numbers. */
	SQL_VALUE_ID, /* `thread`, which is the id of a process here */
	SQL_VALUE_THREAD,
	SQL_VALUE_WAKER, /* `other`, which is the id of a thread here */
	SQL_VALUE_CPU,
	SQL_VALUE_END_CPU,
	SQL_VALUE_OTHER,
	SQL_VALUE_PROCESS, /* `other`; NULL if it is 0 */
	SQL_VALUE_NUMBER,
	SQL_VALUE_ADDRESS, /* `number`, as hexadecimal digits */
	SQL_VALUE_COUNT,   /* `number`, which is always known */
	SQL_VALUE_RESULT,
	SQL_VALUE_INTERRUPT,
	SQL_VALUE_RECORDED, /* number of events of the type `other` in the trace */
	/* The following columns contain texts. */
	SQL_VALUE_NAME,
	SQL_VALUE_SLICE,     /* name of `kind`, which is an enum latencies_kind */
	SQL_VALUE_LOCK_KIND, /* "wait" or "hold", depending on `kind` */
	SQL_VALUE_STATE,     /* name of `kind`, which is an enum threads_state */
	SQL_VALUE_THREAD_NAME,
	SQL_VALUE_CATEGORY, /* group of the event type `other` */
	SQL_VALUE_TYPE_NAME,
};

struct sql_column {
	const char *name;
	/* type of the column: "INTEGER", "TEXT", or "" for integers that may be too large for SQLite */
	const char *type;
	const char *help;
	enum sql_value value;
};

/*
 * A row in memory. All tables use this structure; the columns of a table determine the meaning of the
 * members.
 */
struct sql_row {
	uint64_t begin, end; /* timestamps of the beginning and the end */
	uint64_t number;
	int64_t result;
	uint32_t thread, cpu, end_cpu, other;
	uint32_t name; /* index of a name, plus 1; 0: no name */
	uint8_t kind;
	uint8_t flags; /* flags SQL_ROW_* */
};
#define SQL_ROW_ENDED	  1u /* flag: `end` is known */
#define SQL_ROW_NUMBER	  2u /* flag: `number` is valid */
#define SQL_ROW_RESULT	  4u /* flag: `result` is valid */
#define SQL_ROW_INTERRUPT 8u
/* flag: `begin` is valid; used if the table has rows without a beginning */
#define SQL_ROW_BEGUN 16u

enum sql_store {
	/* the first stores are for the kinds of durations in enum latencies_kind */
	SQL_STORE_STATES = LATENCIES_KINDS,
	SQL_STORE_LOSSES,
	SQL_STORE_THREADS,
	SQL_STORE_PROCESSES,
	SQL_STORE_COUNTS,
	SQL_STORES,
};

struct sql_rows {
	/* rows, sorted by `begin`; allocated by SQLite, so that its limit of memory includes them */
	struct sql_row *row;
	uint64_t count, room;
	bool loaded;
};

struct sql_table {
	const char *name, *help;
	const struct sql_column *column;
	uint32_t columns;
	uint32_t first, stores; /* the stores that contain the rows of the table */
};

/* Returns table `n` of the tables in memory; NULL after the last one. */
const struct sql_table *sql_table_at(uint32_t n);
/* Fills the stores of a table, if they are empty. Returns 0 or a negative KTREAD_E_*. */
int sql_rows_load(struct sql *sql, const struct sql_table *table);

/* ---- Tables of events ---- */

/* The columns that all tables of events have. */
enum sql_event_column {
	SQL_EVENT_ID,
	SQL_EVENT_TS,
	SQL_EVENT_CPU,
	SQL_EVENT_THREAD,
	SQL_EVENT_THREAD_NAME,
	SQL_EVENT_CONTEXT,
	SQL_EVENT_COMMON, /* number of common columns */
	/* additional columns of table `events` */
	SQL_EVENT_CATEGORY = SQL_EVENT_COMMON,
	SQL_EVENT_NAME,
	SQL_EVENT_TYPE,
	SQL_EVENT_LOST,
	SQL_EVENT_FIELDS,
	SQL_EVENT_COLUMNS,
};

/* A table of events: `events`, which contains all events, or a table for one kind of event. */
struct sql_events {
	struct sql *sql;
	const struct ktread_type *type; /* event type of the table; NULL: table `events` */
	char name[ANALYZE_EVENT_NAME_MOST + 16];
	struct sql_column *column;
	uint32_t columns;
	uint8_t *map; /* bit map of the ids in the table; NULL: all events */
	char *text;   /* memory that contains the names of the columns */
};

/* Makes the tables of events. Returns 0 or KTREAD_E_MEMORY. */
int sql_events_make(struct sql *sql);
void sql_events_free(struct sql *sql);
struct sql_cell sql_event_cell(const struct sql_events *table, const struct ktread_event *event,
			       uint32_t column);
/* Returns the name of an event type, as in column `name`; never NULL. */
const char *sql_type_name(const struct sql *sql, uint32_t id);

extern const sqlite3_module sql_events_module, sql_rows_module;

/* ---- The session ---- */

struct sql_type {
	char *name, *category; /* `name` and `category` are in one allocation, which `name` points to */
};

struct sql {
	sqlite3 *db;
	struct ktread *trace;
	struct sql_options options;
	struct base_ticks_scale scale;
	uint64_t base; /* timestamp of time 0 */

	struct ktread *reader[SQL_READERS]; /* reader[0] is `trace` */
	/* `window`: the reader reads only the part of the trace that the filter needs */
	bool taken[SQL_READERS], window[SQL_READERS];

	struct sql_events *events; /* events[0] is table `events` */
	uint32_t event_tables;
	struct sql_type *type; /* names of event types, indexed by event id */

	struct sql_rows rows[SQL_STORES];
	struct tally *tally; /* counts of the trace; NULL: they have not been made yet */
	char **name;
	uint32_t names, name_room;
	struct base_index name_index;

	/* time at which the statement is ended; valid if options.timeout is not 0 */
	struct timespec deadline;
	/* true while this code declares a virtual table, so that the current statement is not the user's */
	bool declares;
	bool timed_out;
	volatile bool interrupted;
	int error;		/* error in reading during a statement, described by `message`; 0: none */
	uint64_t countdown;	/* number of calls of sql_is_over() until the time is checked again */
	char scratch[24 << 10]; /* buffer for the text of a cell */
	char message[8192];
};

/* Writes the text between the brackets of CREATE TABLE. The caller frees it with sqlite3_free(). */
char *sql_columns_text(const struct sql_column *column, uint32_t columns, const char *separator);

/* Records that reading failed with `status`, which must be negative, and the reason. */
void sql_fail(struct sql *sql, const struct ktread *reader, int status);
/*
 * Returns a reader that no other cursor uses, at the first event; NULL after sql_fail(). If `window` is set,
 * the caller sets a filter. In this case, prefers a reader that reads only what the filter needs (struct
 * ktread_options).
 */
struct ktread *sql_reader_take(struct sql *sql, bool window);
void sql_reader_return(struct sql *sql, struct ktread *reader);
/* Returns true if the statement has reached its time limit. This check is fast. */
bool sql_is_over(struct sql *sql);

/* Converts a timestamp to ns since the first event, or to ticks since it if the frequency is unknown. */
int64_t sql_time(const struct sql *sql, uint64_t stamp);
/* The range of the timestamps whose times are in a given range of times. */
struct sql_window {
	uint64_t since, until;
};
/*
 * Limits the time window to the times that match `time OPERATOR value`; the operator is
 * SQLITE_INDEX_CONSTRAINT_*.
 */
void sql_window_narrow(const struct sql *sql, struct sql_window *window, int op, sqlite3_value *value);

/* Returns the counts of the trace. The first call makes them. Returns NULL after sql_fail(). */
const struct tally *sql_tally(struct sql *sql);

/* ---- Output ---- */

struct sql_writer;
/* Creates a writer of rows. Returns NULL if memory runs out. */
struct sql_writer *sql_writer_open(struct base_output *out, enum sql_form form, sqlite3_stmt *statement);
/* Writes the current row of the statement. Returns false if memory runs out. */
bool sql_writer_row(struct sql_writer *writer);
/*
 * Writes the rows that are left. `complete`: the statement has no more rows; in this case, a table gets a
 * header even if it has no rows.
 */
void sql_writer_close(struct sql_writer *writer, bool complete);

/* Runs a command such as ".tables". Returns SQL_DONE or SQL_REFUSED. */
enum sql_status sql_command(struct sql *sql, const char *text, struct base_output *out);

/* Sets the session's error message. */
__attribute__((format(printf, 2, 3))) void sql_say(struct sql *sql, const char *format, ...);

/* ---- What tables of events and tables in memory share ---- */

/* A virtual table. `table` is a struct sql_events, or a struct sql_table. */
struct sql_vtab {
	sqlite3_vtab base;
	struct sql *sql;
	const void *table;
};

/* Declares a virtual table with these columns. Returns a status of SQLite. */
int sql_vtab_new(sqlite3_vtab **result, struct sql *sql, const void *table, const struct sql_column *column,
		 uint32_t columns);
int sql_vtab_free(sqlite3_vtab *vtab);

/*
 * Returns a zeroed cursor of `size` bytes, which begins with a sqlite3_vtab_cursor; NULL if memory runs out.
 */
void *sql_cursor_new(size_t size);

/*
 * Letters for conditions on time in a cursor's plan: `e` for =, `g` for >, `G` for >=, `l` for <,
 * `L` for <=. The first function converts an operator to its letter. The second function converts a letter to
 * its operator. They return 0 for any other value.
 */
char sql_time_letter(int op);
int sql_time_operator(char letter);

#endif
