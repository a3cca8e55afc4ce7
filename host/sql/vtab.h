/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Declarations shared by the virtual tables: tables of events, and tables in memory. */
#ifndef SQL_VTAB_H
#define SQL_VTAB_H

#include "sql/session.h"

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
