/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The tables in memory: their columns, the values of a row in them, and how queries read them. */
#include "ktrx/v2.h"

#include <string.h>

#include "sql/session.h"

#define COLUMNS(list) .column = (list), .columns = sizeof(list) / sizeof((list)[0])
#define TS                                                                                           \
	{                                                                                            \
		"ts", "INTEGER",                                                                     \
			"beginning, in ns since the first event; ticks if the frequency is unknown", \
			SQL_VALUE_TS                                                                 \
	}
#define DURATION                                                                                      \
	{                                                                                             \
		"duration", "INTEGER", "in the unit of ts; NULL if the end is not known for certain", \
			SQL_VALUE_DURATION                                                            \
	}
#define THREAD                                                            \
	{                                                                 \
		"thread", "INTEGER", "id of the thread", SQL_VALUE_THREAD \
	}
#define CPU                                                                               \
	{                                                                                 \
		"cpu", "INTEGER", "CPU on which it began; NULL if unknown", SQL_VALUE_CPU \
	}

static const struct sql_column slice_columns[] = {
	TS,
	DURATION,
	{ "kind", "TEXT", "syscall, irq, fault, lock wait, lock held or run queue", SQL_VALUE_SLICE },
	{ "name", "TEXT", "name of the system call, interrupt or lock; NULL if unknown", SQL_VALUE_NAME },
	{ "number", "", "number of the system call or interrupt, address of the lock", SQL_VALUE_NUMBER },
	THREAD,
	CPU,
};

static const struct sql_column call_columns[] = {
	TS,
	DURATION,
	{ "name", "TEXT", "name of the system call; NULL if unknown", SQL_VALUE_NAME },
	{ "number", "", "number of the system call", SQL_VALUE_NUMBER },
	{ "result", "INTEGER", "result; negative: an error; NULL if unknown", SQL_VALUE_RESULT },
	THREAD,
	CPU,
};

static const struct sql_column irq_columns[] = {
	TS,
	DURATION,
	{ "name", "TEXT", "name of the interrupt; NULL if unknown", SQL_VALUE_NAME },
	{ "number", "", "number of the interrupt", SQL_VALUE_NUMBER },
	{ "thread", "INTEGER", "thread that was interrupted", SQL_VALUE_THREAD },
	CPU,
};

static const struct sql_column fault_columns[] = { TS, DURATION, THREAD, CPU };

static const struct sql_column lock_columns[] = {
	TS,
	{ "wait", "INTEGER", "time for which the thread waited; NULL if the row is about holding the lock",
	  SQL_VALUE_WAIT },
	{ "hold", "INTEGER", "time for which the thread held the lock; NULL if the row is about a wait",
	  SQL_VALUE_HOLD },
	{ "kind", "TEXT", "wait or hold; if both times are NULL, the end is not known for certain",
	  SQL_VALUE_LOCK_KIND },
	{ "name", "TEXT", "name of the lock; NULL if unknown", SQL_VALUE_NAME },
	{ "lock", "TEXT", "address of the lock", SQL_VALUE_ADDRESS },
	THREAD,
	CPU,
};

static const struct sql_column wakeup_columns[] = {
	TS,
	{ "latency", "INTEGER", "time until the thread runs; NULL if not known for certain",
	  SQL_VALUE_DURATION },
	{ "thread", "INTEGER", "thread that was woken", SQL_VALUE_THREAD },
	{ "waker", "INTEGER", "thread that ran on the CPU that caused the wakeup", SQL_VALUE_WAKER },
	{ "interrupt", "INTEGER", "1 if an interrupt caused the wakeup while the waker ran",
	  SQL_VALUE_INTERRUPT },
	{ "cpu", "INTEGER", "CPU of the waker", SQL_VALUE_CPU },
	{ "ran_cpu", "INTEGER", "CPU on which the thread then runs", SQL_VALUE_END_CPU },
};

static const struct sql_column state_columns[] = {
	TS,
	DURATION,
	THREAD,
	{ "state", "TEXT", "running, runnable, sleeping, waiting, stopped, dead or unknown",
	  SQL_VALUE_STATE },
	{ "cpu", "INTEGER", "CPU on which the thread runs or last ran; NULL if unknown", SQL_VALUE_CPU },
};

static const struct sql_column loss_columns[] = {
	{ "ts", "INTEGER", "time of the first event after the missing slots; NULL if there is none",
	  SQL_VALUE_BEGIN },
	{ "since", "INTEGER", "time of the last event before the missing slots; NULL if there is none",
	  SQL_VALUE_END },
	{ "slots", "INTEGER", "number of missing slots", SQL_VALUE_COUNT },
	{ "ring", "INTEGER", "number of the ring", SQL_VALUE_OTHER },
	{ "cpu", "INTEGER", "CPU of the ring; NULL if the ring is shared", SQL_VALUE_CPU },
};

static const struct sql_column thread_columns[] = {
	THREAD,
	{ "name", "TEXT", "name of the thread; NULL if unknown", SQL_VALUE_THREAD_NAME },
	{ "process", "INTEGER", "id of its process; NULL if unknown", SQL_VALUE_PROCESS },
	{ "events", "INTEGER", "number of its events in the trace", SQL_VALUE_COUNT },
	{ "first", "INTEGER", "time of its first event", SQL_VALUE_BEGIN },
};

static const struct sql_column process_columns[] = {
	{ "process", "INTEGER", "id of the process", SQL_VALUE_ID },
	{ "parent", "INTEGER", "id of the parent; NULL if unknown", SQL_VALUE_PROCESS },
	{ "command", "TEXT", "program that the process runs; NULL if unknown", SQL_VALUE_NAME },
};

static const struct sql_column count_columns[] = {
	{ "type", "INTEGER", "number of the kind of event", SQL_VALUE_OTHER },
	{ "category", "TEXT", "group of the event, in lower case", SQL_VALUE_CATEGORY },
	{ "name", "TEXT", "group and name of the event, such as sched.switch", SQL_VALUE_TYPE_NAME },
	{ "counted", "INTEGER", "number of occurrences that the kernel counted; NULL for version 1",
	  SQL_VALUE_NUMBER },
	{ "recorded", "INTEGER", "number of events in the trace; counting them reads the whole trace",
	  SQL_VALUE_RECORDED },
};

/* the tables, in the order of their names */
static const struct sql_table tables[] = {
	{ "counts", "kinds of events that the trace describes, and how often they occurred",
	  COLUMNS(count_columns), SQL_STORE_COUNTS, 1 },
	{ "faults", "page faults", COLUMNS(fault_columns), LATENCIES_FAULT, 1 },
	{ "irqs", "interrupts", COLUMNS(irq_columns), LATENCIES_IRQ, 1 },
	{ "locks", "waits for locks, and times for which locks were held", COLUMNS(lock_columns),
	  LATENCIES_LOCK_WAIT, 2 },
	{ "losses", "places where slots are missing", COLUMNS(loss_columns), SQL_STORE_LOSSES, 1 },
	{ "processes", "processes that the trace describes", COLUMNS(process_columns), SQL_STORE_PROCESSES,
	  1 },
	{ "slices", "all durations: of system calls, interrupts, faults, locks and run queues",
	  COLUMNS(slice_columns), 0, LATENCIES_KINDS },
	{ "syscalls", "system calls with duration and result", COLUMNS(call_columns), LATENCIES_SYSCALL, 1 },
	{ "thread_states", "what each thread did: running, runnable, sleeping", COLUMNS(state_columns),
	  SQL_STORE_STATES, 1 },
	{ "threads", "threads that recorded events", COLUMNS(thread_columns), SQL_STORE_THREADS, 1 },
	{ "wakeups", "wakeups, and the time until the thread runs", COLUMNS(wakeup_columns),
	  LATENCIES_RUN_QUEUE, 1 },
};

const struct sql_table *sql_table_at(uint32_t n)
{
	return n < sizeof(tables) / sizeof(tables[0]) ? &tables[n] : NULL;
}

/* ---- The values ---- */

static struct sql_cell integer_if(bool known, int64_t integer)
{
	return known ? sql_cell_integer(integer) : sql_cell_null();
}

static struct sql_cell thread_cell(uint32_t thread)
{
	return integer_if(thread != KTREAD_NO_THREAD, thread);
}

static struct sql_cell time_if(bool known, const struct sql *sql, uint64_t stamp)
{
	return known ? sql_cell_integer(sql_time(sql, stamp)) : sql_cell_null();
}

/* Returns a value that is a time. */
static struct sql_cell time_cell(const struct sql *sql, const struct sql_row *row, enum sql_value value)
{
	const bool waits = row->kind == LATENCIES_LOCK_WAIT, ended = row->flags & SQL_ROW_ENDED;

	switch (value) {
	case SQL_VALUE_TS:
		return time_if(true, sql, row->begin);
	case SQL_VALUE_BEGIN:
		return time_if(row->flags & SQL_ROW_BEGUN, sql, row->begin);
	case SQL_VALUE_END:
		return time_if(ended, sql, row->end);
	default:
		if (!ended || value == (waits ? SQL_VALUE_HOLD : SQL_VALUE_WAIT))
			return sql_cell_null();
		return sql_cell_integer(sql_time(sql, row->end > row->begin ? row->end : row->begin) -
					sql_time(sql, row->begin));
	}
}

/* Returns a value that is a number. */
static struct sql_cell number_cell(struct sql *sql, const struct sql_row *row, enum sql_value value)
{
	const bool known = row->flags & SQL_ROW_NUMBER, ended = row->flags & SQL_ROW_ENDED;
	const struct tally *tally;

	switch (value) {
	case SQL_VALUE_ID:
		return sql_cell_integer(row->thread);
	case SQL_VALUE_THREAD:
		return thread_cell(row->thread);
	case SQL_VALUE_WAKER:
		return thread_cell(row->other);
	case SQL_VALUE_CPU:
		return integer_if(row->cpu != KTRX_NO_CPU, row->cpu);
	case SQL_VALUE_END_CPU:
		return integer_if(ended && row->end_cpu != KTRX_NO_CPU, row->end_cpu);
	case SQL_VALUE_OTHER:
		return sql_cell_integer(row->other);
	case SQL_VALUE_PROCESS:
		return integer_if(row->other != 0, row->other);
	case SQL_VALUE_NUMBER:
		return known ? sql_cell_unsigned(sql, row->number) : sql_cell_null();
	case SQL_VALUE_ADDRESS:
		return known ? sql_cell_address(sql, row->number) : sql_cell_null();
	case SQL_VALUE_COUNT:
		return sql_cell_unsigned(sql, row->number);
	case SQL_VALUE_RESULT:
		return integer_if(row->flags & SQL_ROW_RESULT, row->result);
	case SQL_VALUE_INTERRUPT:
		return sql_cell_integer((row->flags & SQL_ROW_INTERRUPT) != 0);
	default:
		tally = sql_tally(sql);
		return tally ? sql_cell_unsigned(sql, tally->event[row->other].count) : sql_cell_null();
	}
}

static const char *name_of(const struct sql *sql, const struct sql_row *row)
{
	if (row->name)
		return sql->name[row->name - 1];
	if (row->kind == LATENCIES_SYSCALL && row->flags & SQL_ROW_NUMBER && row->number <= UINT32_MAX)
		return ktread_syscall_name(sql->trace, (uint32_t)row->number);
	return NULL;
}

/* Returns a value that is text, or NULL. */
static const char *text_of(const struct sql *sql, const struct sql_row *row, enum sql_value value)
{
	static const char *const slices[] = {
		"syscall", "irq", "fault", "lock wait", "lock held", "run queue"
	};
	static const char *const states[] = { "unknown", "running", "runnable", "sleeping",
					      "waiting", "stopped", "dead" };

	switch (value) {
	case SQL_VALUE_SLICE:
		return slices[row->kind];
	case SQL_VALUE_LOCK_KIND:
		return row->kind == LATENCIES_LOCK_WAIT ? "wait" : "hold";
	case SQL_VALUE_STATE:
		return states[row->kind];
	case SQL_VALUE_THREAD_NAME:
		return ktread_thread_name(sql->trace, row->thread);
	case SQL_VALUE_CATEGORY:
		return sql->type[row->other].category;
	case SQL_VALUE_TYPE_NAME:
		return sql_type_name(sql, row->other);
	default:
		return name_of(sql, row);
	}
}

/* Returns a value of a row. Calls sql_fail() if reading failed. */
static struct sql_cell sql_row_cell(struct sql *sql, const struct sql_row *row, enum sql_value value)
{
	if (value < SQL_VALUE_ID)
		return time_cell(sql, row, value);
	if (value < SQL_VALUE_NAME)
		return number_cell(sql, row, value);
	return sql_cell_text(text_of(sql, row, value));
}

/* ---- Virtual tables of SQLite ---- */

/* Tables in memory as virtual tables of SQLite. Rows are found by a binary search for conditions on time. */

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
