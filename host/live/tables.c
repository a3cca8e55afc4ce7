/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The tables of the screen: their columns, the texts of their cells, and their order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "live/page.h"

enum {
	THREAD_ID,
	THREAD_NAME,
	THREAD_STATE,
	THREAD_CPU,
	THREAD_SHARE,
	THREAD_TIME,
	THREAD_LOCKS,
	THREAD_OBJECT
};
enum { LOCK_NAME, LOCK_HOLDER, LOCK_HELD, LOCK_WAITERS, LOCK_RATE, LOCK_CONTENDS, LOCK_LONGEST };
enum { ROW_NUMBER, ROW_NAME, ROW_RATE, ROW_COUNT, ROW_MEAN, ROW_P50, ROW_P99, ROW_MOST, ROW_ERRORS };

static const struct live_column threads[] = {
	{ "ID", 6, true, false },    { "NAME", 16, false, true },     { "STATE", 9, false, true },
	{ "CPU", 4, true, false },   { "CPU%", 5, true, false },      { "IN STATE", 9, true, false },
	{ "LOCKS", 5, true, false }, { "WAITS FOR", 0, false, true }, { 0 },
};
static const struct live_column locks[] = {
	{ "LOCK", 26, false, true },	     { "HOLDER", 18, false, true },
	{ "HELD FOR", 9, true, false },	     { "WAITERS", 7, true, false },
	{ "TAKEN/s", 8, true, false },	     { "CONTENDED", 9, true, false },
	{ "LONGEST WAIT", 0, false, false }, { 0 },
};
static const struct live_column interrupts[] = {
	{ "IRQ", 5, true, false },   { "NAME", 16, false, true },   { "PER s", 8, true, false },
	{ "COUNT", 9, true, false }, { "MEAN", 9, true, false },    { "P50", 9, true, false },
	{ "P99", 9, true, false },   { "LONGEST", 9, true, false }, { 0 },
};
static const struct live_column calls[] = {
	{ "NR", 5, true, false },     { "CALL", 16, false, true },
	{ "PER s", 8, true, false },  { "COUNT", 9, true, false },
	{ "MEAN", 9, true, false },   { "P50", 9, true, false },
	{ "P99", 9, true, false },    { "LONGEST", 9, true, false },
	{ "ERRORS", 7, true, false }, { 0 },
};
static const struct live_column none[] = { { 0 } };

static const struct {
	const char *name;
	const struct live_column *columns;
	uint8_t column; /* column that determines the order of the rows at first */
} tabs[LIVE_TABS] = {
	[LIVE_TAB_THREADS] = { "Threads", threads, THREAD_SHARE },
	[LIVE_TAB_LOCKS] = { "Locks", locks, LOCK_WAITERS },
	[LIVE_TAB_IRQS] = { "Interrupts", interrupts, ROW_RATE },
	[LIVE_TAB_CALLS] = { "Calls", calls, ROW_RATE },
	[LIVE_TAB_EVENTS] = { "Events", none, 0 },
};

const struct live_column *live_columns(enum live_tab tab)
{
	return tabs[tab].columns;
}

const char *live_tab_name(enum live_tab tab)
{
	return tabs[tab].name;
}

void live_ui_init(struct live_ui *ui, live_filter_typed *take)
{
	memset(ui, 0, sizeof(*ui));
	for (unsigned tab = 0; tab < LIVE_TABS; tab++)
		ui->column[tab] = tabs[tab].column;
	ui->take = take;
}

/* ---- Texts ---- */

static double seconds_of(const struct live_model *model, uint64_t ticks)
{
	const struct ktread *trace = live_model_trace(model);
	const uint64_t frequency = trace ? ktread_info(trace)->frequency : 0;

	return frequency ? (double)ticks / (double)frequency : -1;
}

/* Writes a duration with a unit: "12.3 ms". If the frequency is unknown, writes ticks. */
static void put_time(const struct live_model *model, uint64_t ticks, char text[LIVE_CELL])
{
	const double seconds = seconds_of(model, ticks);

	if (seconds < 0)
		snprintf(text, LIVE_CELL, "%" PRIu64, ticks);
	else if (seconds >= 100)
		snprintf(text, LIVE_CELL, "%.0f s", seconds);
	else if (seconds >= 1)
		snprintf(text, LIVE_CELL, "%.1f s", seconds);
	else if (seconds >= 1e-3)
		snprintf(text, LIVE_CELL, "%.1f ms", seconds * 1e3);
	else
		snprintf(text, LIVE_CELL, "%.1f us", seconds * 1e6);
}

static void put_name(const char *name, char text[LIVE_CELL])
{
	*base_escape_text(text, name, strnlen(name, 32), LIVE_CELL - 1) = '\0';
}

static void put_actor(const struct ktread *trace, uint32_t actor, char text[LIVE_CELL])
{
	if (actor & KTRX_HOLDER_CPU)
		snprintf(text, LIVE_CELL, "CPU %" PRIu32, actor & ~KTRX_HOLDER_CPU);
	else if (actor)
		live_thread_text(trace, actor - 1, text, LIVE_CELL);
}

static const char *state_word(uint8_t state)
{
	static const char *const words[] = {
		[THREADS_UNKNOWN] = "?",	 [THREADS_RUNNING] = "running",
		[THREADS_RUNNABLE] = "runnable", [THREADS_SLEEPING] = "sleeping",
		[THREADS_WAITING] = "waiting",	 [THREADS_STOPPED] = "stopped",
		[THREADS_DEAD] = "dead",
	};

	return state < sizeof(words) / sizeof(words[0]) ? words[state] : "?";
}

static void put_thread_name(const struct ktread *trace, uint32_t id, char text[LIVE_CELL])
{
	const char *name = trace ? ktread_thread_name(trace, id) : NULL;

	if (name)
		*base_escape_text(text, name, strlen(name), LIVE_CELL - 1) = '\0';
}

/* Writes what a thread waits for: "for lock inode (0x88) of CPU 1". */
static void put_wait(const struct ktread *trace, const struct live_thread *thread, char text[LIVE_CELL])
{
	char object[160];

	if (!thread->object && thread->wait == KTRX_WAIT_NONE)
		return;
	if (!thread->object) {
		snprintf(text, LIVE_CELL, "%s", live_wait_word(thread->wait));
		return;
	}
	live_object_text(trace, thread->object, thread->name, thread->owner, object, sizeof(object));
	if (thread->wait == KTRX_WAIT_THREAD)
		live_thread_text(trace, (uint32_t)thread->object, object, sizeof(object));
	snprintf(text, LIVE_CELL, "%s %.*s", live_wait_word(thread->wait), (int)LIVE_CELL - 24, object);
}

static void thread_cell(const struct live_model *model, const struct live_thread *thread, uint32_t column,
			char text[LIVE_CELL])
{
	struct ktread *trace = live_model_trace(model);

	switch (column) {
	case THREAD_ID:
		snprintf(text, LIVE_CELL, "%" PRIu32, thread->id);
		break;
	case THREAD_NAME:
		put_thread_name(trace, thread->id, text);
		break;
	case THREAD_STATE:
		snprintf(text, LIVE_CELL, "%s", state_word(thread->state));
		break;
	case THREAD_CPU:
		if (thread->cpu != KTRX_NO_CPU)
			snprintf(text, LIVE_CELL, "%" PRIu32, thread->cpu);
		break;
	case THREAD_SHARE:
		snprintf(text, LIVE_CELL, "%.1f", thread->share * 100);
		break;
	case THREAD_TIME:
		if (thread->state != THREADS_UNKNOWN)
			put_time(model, thread->ticks, text);
		break;
	case THREAD_LOCKS:
		if (thread->held)
			snprintf(text, LIVE_CELL, "%u", thread->held);
		break;
	default:
		put_wait(trace, thread, text);
	}
}

/* Returns the newest timestamp of all CPUs, in ticks. */
static uint64_t now_of(const struct live_model *model)
{
	uint64_t now = 0;

	for (uint32_t n = 0; n < model->cpus; n++)
		now = model->row[n].now > now ? model->row[n].now : now;
	return now;
}

static uint64_t held_for(const struct live_model *model, const struct live_lock *lock)
{
	const uint64_t now = now_of(model);

	return lock->holder && now > lock->taken ? now - lock->taken : 0;
}

static void lock_cell(const struct live_model *model, const struct live_lock *lock, uint32_t column,
		      char text[LIVE_CELL])
{
	switch (column) {
	case LOCK_NAME:
		live_object_text(NULL, lock->object, lock->name, 0, text, LIVE_CELL);
		break;
	case LOCK_HOLDER:
		put_actor(live_model_trace(model), lock->holder, text);
		break;
	case LOCK_HELD:
		if (lock->holder)
			put_time(model, held_for(model, lock), text);
		break;
	case LOCK_WAITERS:
		if (lock->waiters)
			snprintf(text, LIVE_CELL, "%" PRIu32, lock->waiters);
		break;
	case LOCK_RATE:
		snprintf(text, LIVE_CELL, "%.0f", lock->rate);
		break;
	case LOCK_CONTENDS:
		snprintf(text, LIVE_CELL, "%" PRIu64, lock->contends);
		break;
	default:
		if (lock->longest)
			put_time(model, lock->longest, text);
	}
}

static uint64_t duration_of(const struct live_duration *row, uint32_t column)
{
	switch (column) {
	case ROW_MEAN:
		return row->pairs ? row->sum / row->pairs : 0;
	case ROW_P50:
		return live_duration_percentile(row, 50);
	case ROW_P99:
		return live_duration_percentile(row, 99);
	default:
		return row->most;
	}
}

static void duration_cell(const struct live_model *model, const struct live_duration *row, uint32_t column,
			  char text[LIVE_CELL])
{
	switch (column) {
	case ROW_NUMBER:
		snprintf(text, LIVE_CELL, "%" PRIu32, row->number);
		break;
	case ROW_NAME:
		put_name(row->name, text);
		break;
	case ROW_RATE:
		snprintf(text, LIVE_CELL, "%.0f", row->rate);
		break;
	case ROW_COUNT:
		snprintf(text, LIVE_CELL, "%" PRIu64, row->count);
		break;
	case ROW_ERRORS:
		snprintf(text, LIVE_CELL, "%" PRIu64, row->errors);
		break;
	default:
		if (row->pairs)
			put_time(model, duration_of(row, column), text);
	}
}

void live_table_cell(enum live_tab tab, const struct live_model *model, uint32_t row, uint32_t column,
		     char text[LIVE_CELL])
{
	const struct live_details *details = model->details;

	text[0] = '\0';
	if (tab == LIVE_TAB_THREADS)
		thread_cell(model, &details->thread[row], column, text);
	else if (tab == LIVE_TAB_LOCKS)
		lock_cell(model, &details->lock[row], column, text);
	else if (tab == LIVE_TAB_IRQS)
		duration_cell(model, &details->interrupts.row[row], column, text);
	else if (tab == LIVE_TAB_CALLS)
		duration_cell(model, &details->calls.row[row], column, text);
}

/* ---- Order ---- */

static double thread_value(const struct live_thread *thread, uint32_t column)
{
	switch (column) {
	case THREAD_ID:
		return thread->id;
	case THREAD_CPU:
		return thread->cpu == KTRX_NO_CPU ? -1 : (double)thread->cpu;
	case THREAD_SHARE:
		return thread->share;
	case THREAD_TIME:
		return (double)thread->ticks;
	default:
		return thread->held;
	}
}

static double lock_value(const struct live_model *model, const struct live_lock *lock, uint32_t column)
{
	switch (column) {
	case LOCK_HELD:
		return (double)held_for(model, lock);
	case LOCK_WAITERS:
		return lock->waiters;
	case LOCK_RATE:
		return lock->rate;
	case LOCK_CONTENDS:
		return (double)lock->contends;
	default:
		return (double)lock->longest;
	}
}

static double duration_value(const struct live_duration *row, uint32_t column)
{
	switch (column) {
	case ROW_NUMBER:
		return row->number;
	case ROW_RATE:
		return row->rate;
	case ROW_COUNT:
		return (double)row->count;
	case ROW_ERRORS:
		return (double)row->errors;
	default:
		return (double)duration_of(row, column);
	}
}

/* The value that determines the place of a row in the table: a number, or a text. */
struct sort_key {
	double value;
	char text[LIVE_CELL];
	uint16_t row;
};

static int by_key(const void *a, const void *b)
{
	const struct sort_key *left = a, *right = b;
	const int order = strcmp(left->text, right->text);

	if (left->value != right->value)
		return left->value < right->value ? 1 : -1;
	return order ? order : left->row - right->row;
}

static double value_of(enum live_tab tab, const struct live_model *model, uint32_t row, uint32_t column)
{
	const struct live_details *details = model->details;

	if (tab == LIVE_TAB_THREADS)
		return thread_value(&details->thread[row], column);
	if (tab == LIVE_TAB_LOCKS)
		return lock_value(model, &details->lock[row], column);
	return duration_value(tab == LIVE_TAB_IRQS ? &details->interrupts.row[row] : &details->calls.row[row],
			      column);
}

static uint32_t rows_of(enum live_tab tab, const struct live_details *details)
{
	switch (tab) {
	case LIVE_TAB_THREADS:
		return details->threads;
	case LIVE_TAB_LOCKS:
		return details->locks;
	case LIVE_TAB_IRQS:
		return details->interrupts.count;
	case LIVE_TAB_CALLS:
		return details->calls.count;
	default:
		return 0;
	}
}

/* Returns whether a cell of the row contains the text for which the user searches. */
static bool is_wanted(const struct live_ui *ui, const struct live_model *model, uint32_t row)
{
	char text[LIVE_CELL];

	if (!ui->search[0])
		return true;
	for (uint32_t n = 0; live_columns(ui->tab)[n].title; n++) {
		live_table_cell(ui->tab, model, row, n, text);
		if (strcasestr(text, ui->search))
			return true;
	}
	return false;
}

uint32_t live_table_sort(const struct live_ui *ui, const struct live_model *model, uint16_t *order)
{
	const uint32_t rows = model->details ? rows_of(ui->tab, model->details) : 0,
		       column = ui->column[ui->tab];
	struct sort_key *keys = calloc((size_t)rows + 1, sizeof(*keys));
	uint32_t count = 0;

	for (uint32_t row = 0; keys && row < rows; row++) {
		struct sort_key *key = &keys[count];

		if (!is_wanted(ui, model, row))
			continue;
		key->row = (uint16_t)row;
		if (live_columns(ui->tab)[column].text)
			live_table_cell(ui->tab, model, row, column, key->text);
		else
			key->value = value_of(ui->tab, model, row, column);
		count++;
	}
	if (count)
		qsort(keys, count, sizeof(*keys), by_key);
	for (uint32_t n = 0; n < count; n++)
		order[n] = keys[ui->upward[ui->tab] ? count - 1 - n : n].row;
	free(keys);
	return count;
}
