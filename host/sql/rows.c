/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tables in memory as virtual tables of SQLite. Rows are found by a binary search for conditions on time. */
#include <string.h>

#include "sql/vtab.h"

struct cursor {
	sqlite3_vtab_cursor base;
	struct sql_window window;
	bool by_time;	     /* true if only rows with a time in `window` are wanted */
	uint32_t store, end; /* number of the current store, and number after the table's last store */
	uint64_t row;	     /* the current row in the store */
	int64_t thread, cpu; /* thread or CPU whose rows are wanted; -1: rows of all */
};

static int connect_table(sqlite3 *db, void *context, int words, const char *const *word,
			 sqlite3_vtab **result, char **error)
{
	struct sql *sql = context;
	const struct sql_table *table = NULL;

	(void)db;
	(void)words;
	(void)error;
	for (uint32_t n = 0; (table = sql_table_at(n)); n++)
		if (sqlite3_stricmp(table->name, word[0]) == 0)
			return sql_vtab_new(result, sql, table, table->column, table->columns);
	return SQLITE_ERROR;
}

static const struct sql_table *table_of(const sqlite3_vtab_cursor *cursor)
{
	return ((const struct sql_vtab *)cursor->pVtab)->table;
}

static struct sql *session_of(const sqlite3_vtab_cursor *cursor)
{
	return ((const struct sql_vtab *)cursor->pVtab)->sql;
}

static char letter_of(const struct sql_table *table, const struct sqlite3_index_constraint *constraint)
{
	const bool equal = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;

	if (!constraint->usable || constraint->iColumn < 0)
		return 0;
	switch (table->column[constraint->iColumn].value) {
	case SQL_VALUE_TS:
		return sql_time_letter(constraint->op);
	case SQL_VALUE_THREAD:
		return equal ? 't' : 0;
	case SQL_VALUE_CPU:
		return equal ? 'c' : 0;
	default:
		return 0;
	}
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct sql_table *table = ((struct sql_vtab *)base)->table;
	char *letters = sqlite3_malloc(info->nConstraint + 1);
	double share = 1;
	int used = 0;

	if (!letters)
		return SQLITE_NOMEM;
	for (int n = 0; n < info->nConstraint; n++) {
		const char letter = letter_of(table, &info->aConstraint[n]);

		if (!letter)
			continue;
		letters[used++] = letter;
		info->aConstraintUsage[n].argvIndex = used;
		share *= strchr("gGlLe", letter) ? 0.01 : 0.5;
	}
	letters[used] = '\0';
	info->idxStr = letters;
	info->needToFreeIdxStr = 1;
	info->orderByConsumed = info->nOrderBy == 1 && table->stores == 1 && info->aOrderBy[0].iColumn == 0 &&
				table->column[0].value == SQL_VALUE_TS && !info->aOrderBy[0].desc;
	info->estimatedRows = (sqlite3_int64)(1e6 * share) + 1;
	info->estimatedCost = 1e6 * share + 10;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **result)
{
	(void)vtab;
	*result = sql_cursor_new(sizeof(struct cursor));
	return *result ? SQLITE_OK : SQLITE_NOMEM;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static const struct sql_rows *rows_of(const struct cursor *cursor)
{
	return &session_of(&cursor->base)->rows[cursor->store];
}

static int at_end(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->store == ((struct cursor *)base)->end;
}

/* Returns the index of the first row that begins at `since` or later. */
static uint64_t first_from(const struct sql_rows *rows, uint64_t since)
{
	uint64_t low = 0, high = rows->count;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (rows->row[middle].begin < since)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Moves to the first row, from the current one on, that matches the constraints. */
static void settle(struct cursor *cursor)
{
	while (cursor->store < cursor->end) {
		const struct sql_rows *rows = rows_of(cursor);

		for (; cursor->row < rows->count; cursor->row++) {
			const struct sql_row *row = &rows->row[cursor->row];

			if (cursor->by_time && row->begin > cursor->window.until)
				break;
			if ((cursor->thread < 0 || row->thread == cursor->thread) &&
			    (cursor->cpu < 0 || row->cpu == cursor->cpu))
				return;
		}
		cursor->store++;
		if (cursor->store < cursor->end)
			cursor->row = cursor->by_time ? first_from(rows_of(cursor), cursor->window.since) : 0;
	}
}

static int next_row(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->row++;
	settle((struct cursor *)base);
	return SQLITE_OK;
}

static int64_t wanted(sqlite3_value *value)
{
	const bool fits = sqlite3_value_type(value) == SQLITE_INTEGER && sqlite3_value_int64(value) >= 0 &&
			  sqlite3_value_int64(value) < UINT32_MAX;

	return fits ? sqlite3_value_int64(value) : -1;
}

static void narrow(const struct sql *sql, struct cursor *cursor, char letter, sqlite3_value *value)
{
	switch (letter) {
	case 't':
		cursor->thread = wanted(value);
		return;
	case 'c':
		cursor->cpu = wanted(value);
		return;
	default:
		cursor->by_time = true;
		sql_window_narrow(sql, &cursor->window, sql_time_operator(letter), value);
	}
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *letters, int values, sqlite3_value **value)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct sql_table *table = table_of(base);
	struct sql *sql = session_of(base);
	const int status = sql_rows_load(sql, table);

	(void)plan;
	(void)values;
	cursor->store = cursor->end = 0;
	if (status == KTREAD_E_MEMORY)
		return SQLITE_NOMEM;
	if (status < 0)
		return sql->error ? SQLITE_ERROR : SQLITE_INTERRUPT;
	cursor->store = table->first;
	cursor->end = table->first + table->stores;
	cursor->window = (struct sql_window){ 0, UINT64_MAX };
	cursor->by_time = false;
	cursor->thread = cursor->cpu = -1;
	for (int n = 0; letters[n]; n++)
		narrow(sql, cursor, letters[n], value[n]);
	cursor->row = cursor->by_time ? first_from(rows_of(cursor), cursor->window.since) : 0;
	settle(cursor);
	return SQLITE_OK;
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct cursor *cursor = (struct cursor *)base;
	struct sql *sql = session_of(base);
	const struct sql_cell cell =
		sql_row_cell(sql, &rows_of(cursor)->row[cursor->row], table_of(base)->column[column].value);

	if (sql->error)
		return SQLITE_ERROR;
	if (sql->timed_out || sql->interrupted)
		return SQLITE_INTERRUPT;
	sql_cell_give(context, &cell);
	return SQLITE_OK;
}

static int give_row(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
	const struct cursor *cursor = (struct cursor *)base;

	*row = (sqlite3_int64)((uint64_t)cursor->store << 48 | cursor->row);
	return SQLITE_OK;
}

const sqlite3_module sql_rows_module = {
	.xConnect = connect_table,
	.xBestIndex = best_index,
	.xDisconnect = sql_vtab_free,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next_row,
	.xEof = at_end,
	.xColumn = give_column,
	.xRowid = give_row,
};
