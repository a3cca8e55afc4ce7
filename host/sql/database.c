/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes the tables of a session into a database file. */
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "sql/session.h"

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
