/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Shared by the files of this room: the session, its tables, and the rows of tables in memory. */
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

#define SQL_READERS 16u /* maximum number of places at which a query reads the trace at a time */

/* ---- Cells: the values of a row ---- */

enum sql_cell_kind { SQL_NULL, SQL_INTEGER, SQL_TEXT };

struct sql_cell {
	enum sql_cell_kind kind;
	int64_t integer;
	const char *text; /* valid until the next row, at least */
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

/* Returns NULL for the text NULL. */
struct sql_cell sql_cell_text(const char *text);
/* Returns a number of 64 bits. SQLite's integers are signed, so larger numbers become decimal digits. */
struct sql_cell sql_cell_unsigned(struct sql *sql, uint64_t number);
/* Returns a number as hexadecimal digits after 0x. */
struct sql_cell sql_cell_address(struct sql *sql, uint64_t number);
void sql_cell_give(sqlite3_context *context, const struct sql_cell *cell);

/* ---- Tables ---- */

/* The values of a row in memory. */
enum sql_value {
	SQL_VALUE_NONE, /* the column is not in a table in memory */
	/* times */
	SQL_VALUE_TS,	 /* `begin`; the rows of the table are sorted by it */
	SQL_VALUE_BEGIN, /* `begin`; NULL if not known */
	SQL_VALUE_END,
	SQL_VALUE_DURATION,
	SQL_VALUE_WAIT, /* duration of a wait for a lock; NULL if the lock was held */
	SQL_VALUE_HOLD, /* for how long a lock was held; NULL for a wait */
	/* numbers */
	SQL_VALUE_ID, /* `thread`, as the id of a process */
	SQL_VALUE_THREAD,
	SQL_VALUE_WAKER, /* `other`, as the id of a thread */
	SQL_VALUE_CPU,
	SQL_VALUE_END_CPU,
	SQL_VALUE_OTHER,
	SQL_VALUE_PROCESS, /* `other`; NULL if it is 0 */
	SQL_VALUE_NUMBER,
	SQL_VALUE_ADDRESS, /* `number`, as hexadecimal digits */
	SQL_VALUE_COUNT,   /* `number`, which is always known */
	SQL_VALUE_RESULT,
	SQL_VALUE_INTERRUPT,
	SQL_VALUE_RECORDED, /* number of the events of type `other` in the trace */
	/* texts */
	SQL_VALUE_NAME,
	SQL_VALUE_SLICE,     /* name of `kind`, which is an enum latencies_kind */
	SQL_VALUE_LOCK_KIND, /* wait or hold, by `kind` */
	SQL_VALUE_STATE,     /* name of `kind`, which is an enum threads_state */
	SQL_VALUE_THREAD_NAME,
	SQL_VALUE_CATEGORY, /* group of the events of type `other` */
	SQL_VALUE_TYPE_NAME,
};

struct sql_column {
	const char *name;
	const char *type; /* "INTEGER", "TEXT", or "" for integers that may exceed SQLite's */
	const char *help;
	enum sql_value value;
};

/* A row in memory. All tables use this structure; the columns of a table give its members a meaning. */
struct sql_row {
	uint64_t begin, end; /* stamps */
	uint64_t number;
	int64_t result;
	uint32_t thread, cpu, end_cpu, other;
	uint32_t name; /* index of a name, plus 1; 0: none */
	uint8_t kind;
	uint8_t flags; /* SQL_ROW_* */
};
#define SQL_ROW_ENDED	  1u /* `end` is known */
#define SQL_ROW_NUMBER	  2u /* `number` is valid */
#define SQL_ROW_RESULT	  4u /* `result` is valid */
#define SQL_ROW_INTERRUPT 8u
#define SQL_ROW_BEGUN	  16u /* `begin` is valid, if the table has rows without a beginning */

enum sql_store {
	/* the first stores are the kinds of durations, enum latencies_kind */
	SQL_STORE_STATES = LATENCIES_KINDS,
	SQL_STORE_LOSSES,
	SQL_STORE_THREADS,
	SQL_STORE_PROCESSES,
	SQL_STORE_COUNTS,
	SQL_STORES,
};

struct sql_rows {
	struct sql_row *row; /* sorted by `begin`; SQLite's memory, so that the limit includes it */
	uint64_t count, room;
	bool loaded;
};

struct sql_table {
	const char *name, *help;
	const struct sql_column *column;
	uint32_t columns;
	uint32_t first, stores; /* the stores whose rows are the rows of the table */
};

/* Returns table `n` of the tables in memory; NULL after the last one. */
const struct sql_table *sql_table_at(uint32_t n);
/* Returns a value of a row. Calls sql_fail() if reading failed. */
struct sql_cell sql_row_cell(struct sql *sql, const struct sql_row *row, enum sql_value value);
/* Fills the stores of a table. Returns 0 or a negative KTREAD_E_*. */
int sql_rows_load(struct sql *sql, const struct sql_table *table);
/* Adds a row. Returns NULL if memory is short. */
struct sql_row *sql_rows_add(struct sql *sql, uint32_t store);
/* Returns the index of a name, plus 1; 0 if memory is short. */
uint32_t sql_name_add(struct sql *sql, const char *name, size_t length);

/* Fills the store of states or of losses. Returns 0 or a negative KTREAD_E_*. */
int sql_states_load(struct sql *sql, struct ktread *trace);
int sql_losses_load(struct sql *sql, struct ktread *trace);

/* ---- Tables of events ---- */

/* The columns that all tables of events have. */
enum sql_event_column {
	SQL_EVENT_ID,
	SQL_EVENT_TS,
	SQL_EVENT_CPU,
	SQL_EVENT_THREAD,
	SQL_EVENT_THREAD_NAME,
	SQL_EVENT_CONTEXT,
	SQL_EVENT_COMMON, /* number of these columns */
	/* the further columns of table `events` */
	SQL_EVENT_CATEGORY = SQL_EVENT_COMMON,
	SQL_EVENT_NAME,
	SQL_EVENT_TYPE,
	SQL_EVENT_LOST,
	SQL_EVENT_FIELDS,
	SQL_EVENT_COLUMNS,
};

/* A table of events: `events`, or the events of one kind. */
struct sql_events {
	struct sql *sql;
	const struct ktread_type *type; /* NULL: table `events` */
	char name[ANALYZE_EVENT_NAME_MOST + 16];
	struct sql_column *column;
	uint32_t columns;
	uint8_t *map; /* bit map of the ids in the table; NULL: all events */
	char *text;   /* memory with the names of columns */
};

/* Makes the tables of events. Returns 0 or KTREAD_E_MEMORY. */
int sql_events_make(struct sql *sql);
void sql_events_free(struct sql *sql);
struct sql_cell sql_event_cell(const struct sql_events *table, const struct ktread_event *event,
			       uint32_t column);
/* Return the name of an event type, as in column `name`; its group, in lower case; both are never NULL. */
const char *sql_type_name(const struct sql *sql, uint32_t id);

extern const sqlite3_module sql_events_module, sql_rows_module;

/* ---- The session ---- */

struct sql_type {
	char *name, *category; /* one allocation: `category` points into the memory of `name` */
};

struct sql {
	sqlite3 *db;
	struct ktread *trace;
	struct sql_options options;
	struct base_ticks_scale scale;
	uint64_t base; /* stamp of time 0 */

	struct ktread *reader[SQL_READERS];	      /* reader[0] is `trace` */
	bool taken[SQL_READERS], window[SQL_READERS]; /* `window`: it reads only what the filter needs */

	struct sql_events *events; /* events[0] is table `events` */
	uint32_t event_tables;
	struct sql_type *type; /* indexed by event id */

	struct sql_rows rows[SQL_STORES];
	struct tally *tally; /* NULL: not counted yet */
	char **name;
	uint32_t names, name_room;
	struct base_index name_index;

	struct timespec deadline; /* end of the time of the statement; valid if options.timeout is not 0 */
	bool declares; /* true while a virtual table is declared, which is not a statement of the user */
	bool timed_out;
	volatile bool interrupted;
	int error;		/* error of reading during a statement, described by `message`; 0: none */
	uint64_t countdown;	/* calls of sql_is_over() until the time is checked again */
	char scratch[24 << 10]; /* text of a cell */
	char message[8192];
};

/* Declares a virtual table. Returns a status of SQLite. */
int sql_declare(struct sql *sql, const struct sql_column *column, uint32_t columns);
/* Writes the text between the brackets of CREATE TABLE. The caller frees it with sqlite3_free(). */
char *sql_columns_text(const struct sql_column *column, uint32_t columns, const char *separator);

/* Stores that reading failed with `status`, which must be negative, and why. */
void sql_fail(struct sql *sql, const struct ktread *reader, int status);
/*
 * Returns a reader that no other cursor uses, at the first event; NULL after sql_fail(). `window`: the caller
 * sets a filter, and a reader is preferred that reads only what the filter needs (struct ktread_options).
 */
struct ktread *sql_reader_take(struct sql *sql, bool window);
void sql_reader_return(struct sql *sql, struct ktread *reader);
/* Returns true if the statement has reached its limit of time. Cheap. */
bool sql_is_over(struct sql *sql);

/* Returns the time of a stamp: in ns since the first event, or in ticks if the frequency is unknown. */
int64_t sql_time(const struct sql *sql, uint64_t stamp);
/* A range of stamps that contains all stamps whose time is in a range. */
struct sql_window {
	uint64_t since, until;
};
/* Narrows the window to the times that fulfil `time OPERATOR value`; SQLITE_INDEX_CONSTRAINT_*. */
void sql_window_narrow(const struct sql *sql, struct sql_window *window, int op, sqlite3_value *value);

/* Returns the counts of the trace, which are made at the first call; NULL after sql_fail(). */
const struct tally *sql_tally(struct sql *sql);

/* ---- Output ---- */

struct sql_writer;
/* Returns NULL if memory is short. */
struct sql_writer *sql_writer_open(struct base_output *out, enum sql_form form, sqlite3_stmt *statement);
/* Writes the current row of the statement. Returns false if memory is short. */
bool sql_writer_row(struct sql_writer *writer);
/*
 * Writes the rows that are left. `complete`: the statement has no more rows. Then a table has a header even
 * if it has no rows.
 */
void sql_writer_close(struct sql_writer *writer, bool complete);

/* Runs a command such as ".tables". Returns SQL_DONE or SQL_REFUSED. */
enum sql_status sql_command(struct sql *sql, const char *text, struct base_output *out);

/* Sets the message. */
__attribute__((format(printf, 2, 3))) void sql_say(struct sql *sql, const char *format, ...);

#endif
