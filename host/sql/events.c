/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Events as virtual tables of SQLite. A cursor reads the trace in one of three ways. It uses the first way in
 * this list that yields all columns of the query:
 *
 * - GROUPED: the query needs one column, and groups the rows by it (GROUP BY, DISTINCT). The counts of
 *   the whole trace give the rows, so that SQLite need not sort them.
 * - BRIEF: the query needs neither times nor fields. Rings are read one after another.
 * - FULL: events in order of time. Conditions on time, CPU, thread and kind become the reader's filter.
 *   SQLite checks these conditions again, so the filter may select too many events.
 */
#include <stdlib.h>
#include <string.h>

#include "ktrx/v2.h"
#include "sql/session.h"

#define BRIEFS 256u
#define MAP    ((KTRX_EVENT_MAX + 1) / 8)
#define CPUS   TALLY_CPUS
/* the number of a row is the number of its ring, shifted left by this value, plus the index of its slot */
#define RING_BIT 44

enum way { FULL, BRIEF, GROUPED_BY_EVENT, GROUPED_BY_THREAD, GROUPED_BY_CPU };
#define DISTINCT 8 /* bit in idxNum: SQLite needs only one row for each group */
/* bit in idxNum: the reader may leave out events that the filter does not select */
#define WINDOW 16

#define BIT(column) (UINT64_C(1) << (column))
#define BRIEF_COLUMNS                                                                                        \
	(BIT(SQL_EVENT_CPU) | BIT(SQL_EVENT_THREAD) | BIT(SQL_EVENT_THREAD_NAME) | BIT(SQL_EVENT_CATEGORY) | \
	 BIT(SQL_EVENT_NAME) | BIT(SQL_EVENT_TYPE))

struct cursor {
	sqlite3_vtab_cursor base;
	struct ktread *reader; /* the trace that is read; NULL: reading has ended or has not begun yet */
	enum way way;
	bool over, once;
	const struct ktread_event *event; /* the current row */
	struct ktread_event now;	  /* the current row, if only the members of a brief are known */
	struct ktread_brief brief[BRIEFS];
	int at, got;
	/* for GROUPED: the groups, and the number of rows that are left of the first group */
	struct tally_entry *entry;
	size_t entries, group;
	uint64_t left;
	sqlite3_int64 row;
};

static int connect_table(sqlite3 *db, void *table, int words, const char *const *word, sqlite3_vtab **result,
			 char **error)
{
	const struct sql_events *events = table;

	(void)db;
	(void)words;
	(void)word;
	(void)error;
	return sql_vtab_new(result, events->sql, events, events->column, events->columns);
}

/* Returns the table of a cursor. */
static const struct sql_events *table_of(const sqlite3_vtab_cursor *cursor)
{
	return ((const struct sql_vtab *)cursor->pVtab)->table;
}

/* ---- The plan ---- */

/*
 * Returns the letter for a constraint in the cursor's plan; 0: only SQLite can check the
 * constraint.
 */
static char letter_of(sqlite3_index_info *info, int n, bool whole)
{
	const struct sqlite3_index_constraint *constraint = &info->aConstraint[n];
	const bool equal = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;
	const bool list = equal && sqlite3_vtab_in(info, n, -1);
	const bool binary = strcmp(sqlite3_vtab_collation(info, n), "BINARY") == 0;

	if (!constraint->usable)
		return 0;
	if (constraint->iColumn == SQL_EVENT_TS && !list)
		return sql_time_letter(constraint->op);
	if (constraint->iColumn == SQL_EVENT_CPU && equal)
		return list ? 'C' : 'c';
	if (constraint->iColumn == SQL_EVENT_THREAD && equal && !list)
		return 't';
	if (!whole)
		return 0;
	if (constraint->iColumn == SQL_EVENT_NAME && equal && binary)
		return list ? 'N' : 'n';
	if (constraint->iColumn == SQL_EVENT_CATEGORY && equal && binary)
		return list ? 'Y' : 'y';
	if (constraint->iColumn == SQL_EVENT_TYPE && equal)
		return list ? 'I' : 'i';
	if (constraint->iColumn == SQL_EVENT_NAME && constraint->op == SQLITE_INDEX_CONSTRAINT_LIKE)
		return 'k';
	if (constraint->iColumn == SQL_EVENT_NAME && constraint->op == SQLITE_INDEX_CONSTRAINT_GLOB)
		return 'K';
	return 0;
}

/* Returns the way in which the counts of the trace can give the rows; FULL if they cannot. */
static enum way grouped_way(const sqlite3_index_info *info, const struct sql *sql)
{
	const uint64_t used = info->colUsed;
	const uint64_t event = BIT(SQL_EVENT_NAME) | BIT(SQL_EVENT_CATEGORY) | BIT(SQL_EVENT_TYPE);

	if (info->nOrderBy != 1 || info->aOrderBy[0].desc)
		return FULL;
	switch (info->aOrderBy[0].iColumn) {
	case SQL_EVENT_NAME:
	case SQL_EVENT_CATEGORY:
	case SQL_EVENT_TYPE:
		return used & ~event ? FULL : GROUPED_BY_EVENT;
	case SQL_EVENT_CPU:
		return used & ~BIT(SQL_EVENT_CPU) ? FULL : GROUPED_BY_CPU;
	case SQL_EVENT_THREAD:
		/* Events of other sources may have no thread, which the counts do not show. */
		for (uint32_t n = 0; n < ktread_info(sql->trace)->rings; n++)
			if (ktread_ring(sql->trace, n)->kind == KTREAD_RING_BESIDE)
				return FULL;
		return used & ~(BIT(SQL_EVENT_THREAD) | BIT(SQL_EVENT_THREAD_NAME)) ? FULL
										    : GROUPED_BY_THREAD;
	default:
		return FULL;
	}
}

static void choose_way(const struct sql_events *table, sqlite3_index_info *info, bool narrowed)
{
	const int distinct = sqlite3_vtab_distinct(info);
	enum way way = FULL;

	if (!narrowed && !table->type && (distinct == 1 || distinct == 2))
		way = grouped_way(info, table->sql);
	if (way != FULL)
		info->orderByConsumed = 1;
	else if (!narrowed && !(info->colUsed &
				~(table->type ? BRIEF_COLUMNS & (BIT(SQL_EVENT_COMMON) - 1) : BRIEF_COLUMNS)))
		way = BRIEF;
	else
		info->orderByConsumed = info->nOrderBy == 1 && info->aOrderBy[0].iColumn == SQL_EVENT_TS &&
					!info->aOrderBy[0].desc;
	info->idxNum = (int)way | (distinct == 2 ? DISTINCT : 0);
	/* The column of lost slots may have other values if parts of the trace are not read. */
	if (narrowed && (table->type || !(info->colUsed & BIT(SQL_EVENT_LOST))))
		info->idxNum |= WINDOW;
	if (way > BRIEF && info->aOrderBy[0].iColumn == SQL_EVENT_CATEGORY)
		info->idxNum |= SQL_EVENT_CATEGORY << 8;
	else if (way > BRIEF && info->aOrderBy[0].iColumn == SQL_EVENT_NAME)
		info->idxNum |= SQL_EVENT_NAME << 8;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct sql_events *table = ((struct sql_vtab *)base)->table;
	char *letters = sqlite3_malloc(info->nConstraint + 1);
	double share = 1;
	int used = 0;

	if (!letters)
		return SQLITE_NOMEM;
	for (int n = 0; n < info->nConstraint; n++) {
		const char letter = letter_of(info, n, !table->type);

		if (!letter)
			continue;
		if (strchr("CNYI", letter))
			sqlite3_vtab_in(info, n, 1);
		letters[used++] = letter;
		info->aConstraintUsage[n].argvIndex = used;
		share *= letter == 'e' ? 1e-6 : strchr("gGlL", letter) ? 0.02 : 0.1;
	}
	letters[used] = '\0';
	info->idxStr = letters;
	info->needToFreeIdxStr = 1;
	choose_way(table, info, used > 0);
	info->estimatedRows = (sqlite3_int64)(1e7 * share) + 1;
	info->estimatedCost = 1e8 * share + 1e3;
	return SQLITE_OK;
}

/* ---- The filter ---- */

/* The reader's filter while it is made from the constraints. */
struct narrowing {
	struct ktread_filter filter;
	struct sql_window window;
	uint8_t events[MAP], cpus[CPUS / 8 + 1];
	bool any, some_cpus;
};

/* Returns whether a type matches a constraint on its name, group or number. */
static bool type_means(const struct sql *sql, uint32_t id, char letter, sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);
	const char *name = sql_type_name(sql, id);

	switch (letter) {
	case 'n':
	case 'N':
		return text && strcmp(name, text) == 0;
	case 'y':
	case 'Y':
		return text && strcmp(sql->type[id].category, text) == 0;
	case 'k':
		return text && sqlite3_strlike(text, name, 0) == 0;
	case 'K':
		return text && sqlite3_strglob(text, name) == 0;
	default:
		return sqlite3_value_int64(value) == (sqlite3_int64)id;
	}
}

/*
 * Returns whether a value is stored as a number. SQLite converts a text such as '10e-1' before it compares.
 */
static bool is_number(sqlite3_value *value)
{
	return sqlite3_value_type(value) == SQLITE_INTEGER || sqlite3_value_type(value) == SQLITE_FLOAT;
}

static void add_value(const struct sql *sql, char letter, sqlite3_value *value, uint8_t *map, size_t size)
{
	sqlite3_int64 cpu;

	if (strchr("cCiI", letter) && !is_number(value)) {
		memset(map, 0xff, size);
		return;
	}
	if (letter == 'c' || letter == 'C') {
		cpu = sqlite3_value_int64(value);
		if (cpu >= 0 && cpu < (sqlite3_int64)CPUS)
			map[cpu / 8] |= (uint8_t)(1u << cpu % 8);
		return;
	}
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++)
		if (type_means(sql, id, letter, value))
			map[id / 8] |= (uint8_t)(1u << id % 8);
}

/* Removes from a bit map all values that do not match a constraint, which may be a list. */
static void narrow_map(const struct sql *sql, char letter, sqlite3_value *value, uint8_t *map, size_t size)
{
	uint8_t wanted[CPUS / 8 + 1] = { 0 };
	sqlite3_value *item;

	_Static_assert(MAP <= sizeof(wanted), "a bit map of events fits");
	if (strchr("CNYI", letter))
		for (int more = sqlite3_vtab_in_first(value, &item); more == SQLITE_OK && item;
		     more = sqlite3_vtab_in_next(value, &item))
			add_value(sql, letter, item, wanted, size);
	else
		add_value(sql, letter, value, wanted, size);
	for (size_t n = 0; n < size; n++)
		map[n] &= wanted[n];
}

static void narrow(const struct sql *sql, struct narrowing *to, char letter, sqlite3_value *value)
{
	if (sql_time_operator(letter))
		sql_window_narrow(sql, &to->window, sql_time_operator(letter), value);
	if (letter == 't' && sqlite3_value_type(value) == SQLITE_INTEGER && sqlite3_value_int64(value) >= 0 &&
	    sqlite3_value_int64(value) < KTREAD_NO_THREAD) {
		to->filter.thread = sqlite3_value_int64(value);
	} else if (letter == 'c' || letter == 'C') {
		narrow_map(sql, letter, value, to->cpus, sizeof(to->cpus));
		to->some_cpus = true;
	} else if (strchr("nNyYiIkK", letter)) {
		narrow_map(sql, letter, value, to->events, sizeof(to->events));
	}
}

/* Sets the reader's filter. Returns 0 or a negative KTREAD_E_*. */
static int set_filter(struct cursor *cursor, const struct sql_events *table, const char *letters,
		      sqlite3_value **value)
{
	struct narrowing to = { .filter = { .size = sizeof(to.filter), .thread = -1 },
				.window = { 0, UINT64_MAX } };
	int status;

	memset(to.events, 0xff, sizeof(to.events));
	memset(to.cpus, 0xff, sizeof(to.cpus));
	if (table->map)
		memcpy(to.events, table->map, sizeof(to.events));
	for (int n = 0; letters[n]; n++)
		narrow(table->sql, &to, letters[n], value[n]);
	to.filter.events = table->map || letters[0] ? to.events : NULL;
	if (to.some_cpus) {
		to.filter.cpus = to.cpus;
		to.filter.cpu_count = CPUS;
	}
	to.filter.since = to.window.since;
	to.filter.until = to.window.until == UINT64_MAX ? 0 : to.window.until;
	cursor->over = to.window.since > to.window.until;
	status = ktread_set_filter(cursor->reader, &to.filter);
	return status < 0 ? status : ktread_rewind(cursor->reader);
}

/* ---- Reading ---- */

static int fail(struct cursor *cursor, int status)
{
	struct sql *sql = table_of(&cursor->base)->sql;

	sql_fail(sql, cursor->reader, status);
	cursor->over = true;
	return SQLITE_ERROR;
}

static int next_full(struct cursor *cursor)
{
	const int status = ktread_next(cursor->reader, &cursor->event);

	cursor->over = status <= 0;
	if (status < 0)
		return fail(cursor, status);
	if (status > 0)
		cursor->row = (sqlite3_int64)((uint64_t)cursor->event->ring << RING_BIT |
					      (cursor->event->index & (BIT(RING_BIT) - 1)));
	return SQLITE_OK;
}

static int next_brief(struct cursor *cursor)
{
	const struct ktread_brief *brief;

	if (cursor->at == cursor->got) {
		cursor->at = 0;
		cursor->got = ktread_next_briefs(cursor->reader, cursor->brief, BRIEFS);
		cursor->over = cursor->got <= 0;
		if (cursor->got < 0)
			return fail(cursor, cursor->got);
		if (cursor->over)
			return SQLITE_OK;
	}
	brief = &cursor->brief[cursor->at++];
	cursor->now.cpu = brief->cpu;
	cursor->now.thread = brief->thread;
	cursor->now.id = (uint16_t)brief->id;
	cursor->row++;
	return SQLITE_OK;
}

static int next_grouped(struct cursor *cursor)
{
	cursor->row++;
	if (cursor->left > 0) {
		cursor->left--;
		return SQLITE_OK;
	}
	while (cursor->group < cursor->entries && cursor->entry[cursor->group].count == 0)
		cursor->group++;
	cursor->over = cursor->group == cursor->entries;
	if (cursor->over)
		return SQLITE_OK;
	cursor->left = cursor->once ? 0 : cursor->entry[cursor->group].count - 1;
	cursor->now.id = (uint16_t)cursor->entry[cursor->group].key;
	cursor->now.thread = cursor->entry[cursor->group].key;
	cursor->now.cpu = cursor->entry[cursor->group].key;
	if (cursor->now.cpu == TALLY_CPUS - 1)
		cursor->now.cpu = KTRX_NO_CPU;
	cursor->group++;
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	return cursor->way == FULL    ? next_full(cursor)
	       : cursor->way == BRIEF ? next_brief(cursor)
				      : next_grouped(cursor);
}

/* Orders groups by the text of the query's GROUP BY column. */
static const struct sql *ordered_for;
static bool by_category;

static int by_text(const void *a, const void *b)
{
	const struct sql_type *left = &ordered_for->type[((const struct tally_entry *)a)->key];
	const struct sql_type *right = &ordered_for->type[((const struct tally_entry *)b)->key];

	return by_category ? strcmp(left->category, right->category) : strcmp(left->name, right->name);
}

/*
 * Moves the last group, which contains the events without a CPU, to the front, because SQLite sorts NULL
 * first.
 */
static void unknown_cpu_first(struct cursor *cursor)
{
	const size_t last = cursor->entries - 1;
	struct tally_entry unknown;

	if (cursor->entries == 0 || cursor->entry[last].key != TALLY_CPUS - 1)
		return;
	unknown = cursor->entry[last];
	memmove(cursor->entry + 1, cursor->entry, last * sizeof(*cursor->entry));
	cursor->entry[0] = unknown;
}

/* Makes the list of groups. Returns a status of SQLite. */
static int begin_groups(struct cursor *cursor, struct sql *sql, int plan)
{
	static const enum tally_kind kinds[] = { [GROUPED_BY_EVENT] = TALLY_BY_EVENT,
						 [GROUPED_BY_THREAD] = TALLY_BY_THREAD,
						 [GROUPED_BY_CPU] = TALLY_BY_CPU };
	const struct tally *tally = sql_tally(sql);

	cursor->over = !tally;
	if (!tally)
		return SQLITE_ERROR;
	cursor->entry = tally_list(tally, kinds[cursor->way], TALLY_BY_KEY, &cursor->entries);
	if (!cursor->entry)
		return SQLITE_NOMEM;
	if (plan >> 8) {
		ordered_for = sql;
		by_category = plan >> 8 == SQL_EVENT_CATEGORY;
		qsort(cursor->entry, cursor->entries, sizeof(*cursor->entry), by_text);
	}
	if (cursor->way == GROUPED_BY_CPU)
		unknown_cpu_first(cursor);
	return SQLITE_OK;
}

static void end(struct cursor *cursor)
{
	struct sql *sql = table_of(&cursor->base)->sql;

	free(cursor->entry);
	cursor->entry = NULL;
	if (cursor->reader)
		sql_reader_return(sql, cursor->reader);
	cursor->reader = NULL;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *letters, int values, sqlite3_value **value)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct sql_events *table = table_of(base);
	int status;

	(void)values;
	free(cursor->entry);
	cursor->entry = NULL;
	cursor->way = (enum way)(plan & 7);
	cursor->once = plan & DISTINCT;
	cursor->over = false;
	cursor->event = &cursor->now;
	cursor->at = cursor->got = 0;
	cursor->entries = cursor->group = 0;
	cursor->left = 0;
	cursor->row = 0;
	if (cursor->way > BRIEF) {
		status = begin_groups(cursor, table->sql, plan);
		return status == SQLITE_OK ? next_row(base) : status;
	}
	if (!cursor->reader)
		cursor->reader = sql_reader_take(table->sql, plan & WINDOW);
	cursor->over = !cursor->reader;
	if (!cursor->reader)
		return SQLITE_ERROR;
	status = set_filter(cursor, table, letters, value);
	if (status < 0)
		return fail(cursor, status);
	return cursor->over ? SQLITE_OK : next_row(base);
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **result)
{
	(void)vtab;
	*result = sql_cursor_new(sizeof(struct cursor));
	return *result ? SQLITE_OK : SQLITE_NOMEM;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	end((struct cursor *)base);
	sqlite3_free(base);
	return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->over;
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct cursor *cursor = (struct cursor *)base;
	const struct sql_events *table = table_of(base);
	const struct sql_cell cell = sql_event_cell(table, cursor->event, (uint32_t)column);

	sql_cell_give(context, &cell);
	return SQLITE_OK;
}

static int give_row(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
	*row = ((struct cursor *)base)->row;
	return SQLITE_OK;
}

const sqlite3_module sql_events_module = {
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
