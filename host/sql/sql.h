/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Queries in SQL over a trace. Events are virtual tables of SQLite that read the trace while a query runs;
 * nothing is copied into a database first. Tables of durations, states and losses are made from the models
 * of host/analyze when a query first uses them, and then stay in memory.
 *
 * Queries can only read: the session refuses every statement that is not a query, opens no file, and ends
 * queries at limits of time and memory.
 */
#ifndef SQL_SQL_H
#define SQL_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "ktread/ktread.h"

enum sql_status {
	SQL_DONE,
	SQL_REFUSED, /* the statement is invalid, or not allowed */
	SQL_LIMIT,   /* the statement reached its time limit or the limit of memory, or was interrupted */
	SQL_UNREAD,  /* the trace could not be read, or memory runs out */
};

enum sql_form {
	SQL_TABLE,
	SQL_CSV,
	SQL_JSON,
};

struct sql_options {
	double timeout;	 /* maximum time of a statement in seconds; 0: no limit */
	uint64_t memory; /* maximum memory of SQLite and of the tables, in bytes; 0: no limit */
	enum sql_form form;
	/*
	 * Opens the trace once more, for a query that reads the trace at two positions at the same time.
	 * Returns NULL if opening fails. `window`: as in struct ktread_options. The session closes the
	 * result.
	 */
	struct ktread *(*reopen)(void *context, bool window);
	void *context;
};

struct sql;

/*
 * Opens a session. `trace` has no filter; it is borrowed, and must not be used until sql_close(). Only one
 * session may be open at a time, because SQLite's limit of memory belongs to the process. Returns 0 or
 * KTREAD_E_MEMORY. The caller closes *sql with sql_close() in either case.
 */
int sql_open(struct sql **sql, struct ktread *trace, const struct sql_options *options);
void sql_close(struct sql *sql);

/*
 * Runs the statements of `text`, which may also be a command such as ".tables". Writes the rows to `out`. If
 * the result is not SQL_DONE, sql_message() returns the reason; the rows before the error were written.
 */
enum sql_status sql_run(struct sql *sql, const char *text, struct base_output *out);
/*
 * Writes all tables into the database file at `path`, which must be empty. Stores the number of events. After
 * this call, the session can only be closed. Returns 0. Returns KTREAD_E_SYSTEM with the errno in
 * *output_error if writing failed. Returns another negative KTREAD_E_* if reading failed; ktread_message()
 * has the reason.
 */
int sql_export(struct sql *sql, const char *path, uint64_t *events, int *output_error);
/* Returns the reason as lines without a newline at the end. The text can be printed safely on a terminal. */
const char *sql_message(const struct sql *sql);
/* Ends the running statement. May be called in a signal handler. */
void sql_interrupt(struct sql *sql);
/* Returns whether `text` is a complete statement: it ends in a semicolon, or is a command. */
bool sql_is_complete(const char *text);

#endif
