/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Fills the tables in memory from the models of host/analyze, when a query first uses them. */
#include <stdlib.h>
#include <string.h>

#include "analyze/scheduling.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "base/grow.h"
#include "ktrx/v2.h"
#include "sql/session.h"

/* Adds a row. Returns NULL if memory runs out. */
static struct sql_row *sql_rows_add(struct sql *sql, uint32_t store)
{
	struct sql_rows *rows = &sql->rows[store];
	struct sql_row *larger;

	if (rows->count == rows->room) {
		const uint64_t room = rows->room ? rows->room + rows->room / 2 : 256;

		larger = sqlite3_realloc64(rows->row, room * sizeof(*larger));
		if (!larger)
			return NULL;
		rows->row = larger;
		rows->room = room;
	}
	larger = &rows->row[rows->count++];
	memset(larger, 0, sizeof(*larger));
	return larger;
}

/* Stores a name, and returns its index, plus 1; 0 if memory runs out. */
static uint32_t sql_name_add(struct sql *sql, const char *name, size_t length)
{
	uint64_t hash;
	char **larger;

	length = strnlen(name, length); /* a string of the trace ends at its first NUL */
	hash = base_hash_bytes(0, name, length);
	for (uint32_t probe = 0, n; base_index_next(&sql->name_index, hash, &probe, &n);)
		if (strlen(sql->name[n]) == length && memcmp(sql->name[n], name, length) == 0)
			return n + 1;
	larger = base_grow(sql->name, &sql->name_room, (size_t)sql->names + 1, sizeof(*larger));
	if (!larger)
		return 0;
	sql->name = larger;
	sql->name[sql->names] = sqlite3_mprintf("%.*s", (int)length, name);
	if (!sql->name[sql->names] || base_index_add(&sql->name_index, hash, sql->names) < 0) {
		sqlite3_free(sql->name[sql->names]);
		return 0;
	}
	return ++sql->names;
}

/* ---- Durations ---- */

/* The names of interrupts and locks, found by kind and number. */
struct named {
	uint64_t number;
	uint32_t kind, name;
};

struct durations {
	struct sql *sql;
	bool wanted[LATENCIES_KINDS];
	struct named *named;
	uint32_t count, room;
	struct base_index index;
};

static struct named *find_named(const struct durations *durations, uint32_t kind, uint64_t number)
{
	const uint64_t hash = base_hash(base_hash(0, kind), number);

	for (uint32_t probe = 0, n; base_index_next(&durations->index, hash, &probe, &n);)
		if (durations->named[n].kind == kind && durations->named[n].number == number)
			return &durations->named[n];
	return NULL;
}

static int take_name(void *context, enum latencies_kind kind, uint64_t number, const char *name,
		     size_t length)
{
	struct durations *durations = context;
	struct named *named = find_named(durations, kind, number), *larger;

	if (!durations->wanted[kind])
		return 0;
	if (!named) {
		larger = base_grow(durations->named, &durations->room, (size_t)durations->count + 1,
				   sizeof(*larger));
		if (!larger)
			return KTREAD_E_MEMORY;
		durations->named = larger;
		named = &larger[durations->count];
		*named = (struct named){ .number = number, .kind = kind };
		if (base_index_add(&durations->index, base_hash(base_hash(0, kind), number),
				   durations->count) < 0)
			return KTREAD_E_MEMORY;
		durations->count++;
	}
	named->name = sql_name_add(durations->sql, name, length);
	return named->name ? 0 : KTREAD_E_MEMORY;
}

static int take_duration(void *context, const struct latencies_duration *duration)
{
	struct durations *durations = context;
	const struct named *named;
	struct sql_row *row;

	if (sql_is_over(durations->sql))
		return KTREAD_E_SYSTEM;
	if (!durations->wanted[duration->kind])
		return 0;
	named = find_named(durations, duration->kind, duration->number);
	row = sql_rows_add(durations->sql, duration->kind);
	if (!row)
		return KTREAD_E_MEMORY;
	*row = (struct sql_row){
		.begin = duration->begin,
		.end = duration->end,
		.number = duration->number,
		.result = duration->result,
		.thread = duration->thread,
		.cpu = duration->cpu,
		.end_cpu = duration->end_cpu,
		.other = duration->waker,
		.name = named && duration->has_number ? named->name : 0,
		.kind = (uint8_t)duration->kind,
	};
	row->flags = (uint8_t)((duration->how == LATENCIES_MEASURED ? SQL_ROW_ENDED : 0) |
			       (duration->has_number ? SQL_ROW_NUMBER : 0) |
			       (duration->has_result ? SQL_ROW_RESULT : 0) |
			       (duration->interrupt ? SQL_ROW_INTERRUPT : 0));
	return 0;
}

/* Fills the stores of these kinds of durations. Does nothing for a store that is filled already. */
static int load_durations(struct sql *sql, struct ktread *trace, uint32_t first, uint32_t stores)
{
	struct durations durations = { .sql = sql };
	const struct latencies_sink sink = { &durations, take_name, take_duration };
	int status;

	for (uint32_t n = first; n < first + stores; n++)
		durations.wanted[n] = !sql->rows[n].loaded;
	status = latencies_pass(trace, &sink);
	free(durations.named);
	base_index_free(&durations.index);
	return status;
}

/* ---- States of threads ---- */

struct states {
	struct sql *sql;
	struct threads *threads;
	struct gaps *gaps;
	uint8_t scheduling[(KTRX_EVENT_MAX + 1) / 8]; /* bit map of the event types that change states */
	/* indexed by thread: index of the row with the thread's current state, plus 1; 0: none */
	uint64_t *open;
	uint32_t room;
	int error;
};

/* Returns whether the state in a row certainly lasted until `end`. */
static bool lasted(struct states *states, const struct sql_row *row, uint64_t end)
{
	return row->kind == THREADS_UNKNOWN ||
	       gaps_state_lasts(states->gaps, states->scheduling, row->kind == THREADS_RUNNING, row->cpu,
				row->begin, end);
}

static void on_change(void *context, const struct threads_change *change)
{
	struct states *states = context;
	const struct threads_thread *thread = change->thread;
	uint64_t *larger = base_grow(states->open, &states->room, (size_t)thread->index + 1, sizeof(*larger));
	struct sql_rows *rows = &states->sql->rows[SQL_STORE_STATES];
	struct sql_row *row;

	if (larger)
		states->open = larger;
	row = larger ? sql_rows_add(states->sql, SQL_STORE_STATES) : NULL;
	if (!row) {
		states->error = KTREAD_E_MEMORY;
		return;
	}
	/* If slots are missing at the end of a state, it is not certain when the state ended. */
	if (larger[thread->index] && thread->state != THREADS_UNKNOWN &&
	    lasted(states, &rows->row[larger[thread->index] - 1], change->time)) {
		rows->row[larger[thread->index] - 1].end = change->time;
		rows->row[larger[thread->index] - 1].flags |= SQL_ROW_ENDED;
	}
	row->begin = change->time;
	row->thread = thread->id;
	row->cpu = thread->cpu;
	row->kind = thread->state;
	larger[thread->index] = rows->count;
}

static int read_states(struct states *states, struct ktread *trace, uint64_t *seen)
{
	struct wellknown_table *known = calloc(1, sizeof(*known));
	const struct ktread_event *event;
	int status = known ? 0 : KTREAD_E_MEMORY;

	if (known)
		scheduling_mark(trace, known, states->scheduling);
	while (!status && !states->error && (status = ktread_next(trace, &event)) > 0) {
		if (event->lost)
			threads_gap(states->threads, event->cpu, seen[event->ring]);
		seen[event->ring] = event->stamp;
		gaps_event(states->gaps, event);
		status = threads_event(states->threads, event, wellknown_of(known, event), event->stamp);
		if (sql_is_over(states->sql))
			status = KTREAD_E_SYSTEM;
	}
	free(known);
	return states->error ? states->error : status;
}

/* Fills the store of states. Returns 0 or a negative KTREAD_E_*. */
static int sql_states_load(struct sql *sql, struct ktread *trace)
{
	struct states states = { .sql = sql };
	uint64_t *seen = calloc((size_t)ktread_info(trace)->rings + 1, sizeof(*seen));
	int status = seen ? gaps_read(&states.gaps, trace) : KTREAD_E_MEMORY;

	if (!status)
		status = threads_create(&states.threads, on_change, &states);
	if (!status) {
		threads_learn(states.threads, gaps_scheduling(states.gaps));
		status = read_states(&states, trace, seen);
	}
	threads_destroy(states.threads);
	gaps_free(states.gaps);
	free(states.open);
	free(seen);
	return status;
}

/* ---- Losses ---- */

static int add_loss(struct sql *sql, uint32_t ring, uint64_t slots, const struct ktread_event *event,
		    uint64_t seen)
{
	struct sql_row *row = sql_rows_add(sql, SQL_STORE_LOSSES);

	if (!row)
		return KTREAD_E_MEMORY;
	row->number = slots;
	row->other = ring;
	row->cpu = ktread_ring(sql->trace, ring)->cpu;
	row->end = seen;
	row->flags = (uint8_t)((event ? SQL_ROW_BEGUN : 0) | (seen ? SQL_ROW_ENDED : 0));
	row->begin = event ? event->stamp : UINT64_MAX;
	return 0;
}

/* Fills the store of losses. Returns 0 or a negative KTREAD_E_*. */
static int sql_losses_load(struct sql *sql, struct ktread *trace)
{
	const uint32_t rings = ktread_info(trace)->rings;
	uint64_t *seen = calloc((size_t)rings + 1, sizeof(*seen));
	uint64_t *lost = calloc((size_t)rings + 1, sizeof(*lost));
	const struct ktread_event *event;
	int status = seen && lost ? 0 : KTREAD_E_MEMORY;

	while (!status && (status = ktread_next(trace, &event)) > 0) {
		status = 0;
		if (event->lost) {
			status = add_loss(sql, event->ring, event->lost, event, seen[event->ring]);
			lost[event->ring] += event->lost;
		}
		seen[event->ring] = event->stamp;
		if (sql_is_over(sql))
			status = KTREAD_E_SYSTEM;
	}
	for (uint32_t n = 0; n < rings && !status; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		if (ring->overwritten + ring->invalid > lost[n])
			status = add_loss(sql, n, ring->overwritten + ring->invalid - lost[n], NULL, seen[n]);
	}
	free(seen);
	free(lost);
	return status;
}

/* ---- Threads, processes and counts ---- */

static int add_threads(struct sql *sql, const struct processes *processes)
{
	const struct tally *tally = sql_tally(sql);
	struct tally_entry *entry;
	size_t entries = 0;
	int status = 0;

	if (!tally)
		return sql->error ? sql->error : KTREAD_E_SYSTEM;
	entry = tally_list(tally, TALLY_BY_THREAD, TALLY_BY_KEY, &entries);
	for (size_t n = 0; entry && n < entries && !status; n++) {
		struct sql_row *row = sql_rows_add(sql, SQL_STORE_THREADS);

		if (!row)
			status = KTREAD_E_MEMORY;
		else
			*row = (struct sql_row){ .thread = entry[n].key,
						 .number = entry[n].count,
						 .begin = entry[n].first,
						 .other = processes_of(processes, entry[n].key),
						 .flags = SQL_ROW_BEGUN };
	}
	free(entry);
	return entry ? status : KTREAD_E_MEMORY;
}

static int add_processes(struct sql *sql, const struct processes *processes)
{
	const struct processes_process *process;

	for (uint32_t n = 0; (process = processes_at(processes, n)); n++) {
		struct sql_row *row = sql_rows_add(sql, SQL_STORE_PROCESSES);

		if (!row)
			return KTREAD_E_MEMORY;
		row->thread = process->id;
		row->other = process->parent;
		if (process->command[0])
			row->name = sql_name_add(sql, process->command, strlen(process->command));
	}
	return 0;
}

static int load_processes(struct sql *sql, struct ktread *trace, uint32_t store)
{
	struct wellknown_table *known = calloc(1, sizeof(*known));
	struct processes *processes = NULL;
	int status = known ? processes_read(&processes, trace, known) : KTREAD_E_MEMORY;

	if (!status)
		status = store == SQL_STORE_THREADS ? add_threads(sql, processes)
						    : add_processes(sql, processes);
	processes_free(processes);
	free(known);
	return status;
}

static int load_counts(struct sql *sql)
{
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(sql->trace, id);
		struct sql_row *row = type ? sql_rows_add(sql, SQL_STORE_COUNTS) : NULL;

		if (type && !row)
			return KTREAD_E_MEMORY;
		if (!type)
			continue;
		row->other = id;
		row->number = type->count;
		row->flags = ktread_info(sql->trace)->version == 1 ? 0 : SQL_ROW_NUMBER;
	}
	return 0;
}

/* ---- Loading ---- */

static int by_begin(const void *a, const void *b)
{
	const struct sql_row *left = a, *right = b;

	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static int load(struct sql *sql, struct ktread *trace, const struct sql_table *table)
{
	switch (table->first) {
	case SQL_STORE_STATES:
		return sql_states_load(sql, trace);
	case SQL_STORE_LOSSES:
		return sql_losses_load(sql, trace);
	case SQL_STORE_THREADS:
	case SQL_STORE_PROCESSES:
		return load_processes(sql, trace, table->first);
	case SQL_STORE_COUNTS:
		return load_counts(sql);
	default:
		return load_durations(sql, trace, table->first, table->stores);
	}
}

int sql_rows_load(struct sql *sql, const struct sql_table *table)
{
	bool loaded = true;
	struct ktread *trace;
	int status;

	for (uint32_t n = table->first; n < table->first + table->stores; n++)
		loaded &= sql->rows[n].loaded;
	if (loaded)
		return 0;
	trace = sql_reader_take(sql, false);
	if (!trace)
		return sql->error ? sql->error : KTREAD_E_SYSTEM;
	status = load(sql, trace, table);
	if (status < 0 && status != KTREAD_E_MEMORY)
		sql_fail(sql, trace, status);
	sql_reader_return(sql, trace);
	for (uint32_t n = table->first; n < table->first + table->stores; n++) {
		struct sql_rows *rows = &sql->rows[n];

		if (status < 0 && !rows->loaded)
			rows->count = 0;
		else if (!rows->loaded && rows->count && table->column[0].value == SQL_VALUE_TS)
			qsort(rows->row, rows->count, sizeof(*rows->row), by_begin);
		rows->loaded |= status == 0;
	}
	return status;
}
