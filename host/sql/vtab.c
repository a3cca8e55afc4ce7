/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "sql/vtab.h"

#include <string.h>

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
