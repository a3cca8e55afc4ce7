/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Parquet: writes three tables for each run, in the directories run=ID/kind=event, run=ID/kind=sched (times
 * on CPUs) and run=ID/kind=syscall. Readers use `run` and `kind` as columns, so that many runs in one
 * directory can be read as one table.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/event_name.h"
#include "analyze/latencies.h"
#include "base/escape.h"
#include "export/chrome.h"
#include "export/timeline.h"
#include "export/parquet_file.h"
#include "export/walk.h"
#include "ktrx/v2.h"

#define NAME_MOST 256u
#define JSON_MOST ((uint32_t)(2 * BASE_OUTPUT_LINE)) /* maximum size of the fields of an event as JSON */
#define TYPES	  4096u

enum event_column {
	EVENT_TS,
	EVENT_CPU,
	EVENT_THREAD,
	EVENT_WHO,
	EVENT_NAME,
	EVENT_CONTEXT,
	EVENT_LOST,
	EVENT_ARGS
};
enum sched_column { SCHED_TS, SCHED_DUR, SCHED_CPU, SCHED_THREAD, SCHED_WHO, SCHED_STATE };
enum call_column { CALL_TS, CALL_DUR, CALL_CPU, CALL_THREAD, CALL_WHO, CALL_NR, CALL_NAME, CALL_RESULT };

/* A thread that is running on a CPU. */
struct running {
	uint64_t since, stamp; /* time and timestamp at which the thread began to run */
	uint32_t thread;
	bool runs;
};

struct parquet {
	struct walk walk;
	struct parquet_file event, sched, call;
	struct running running[THREADS_CPUS_MAX];
	struct chrome_texts texts; /* cached names of fields */
	uint64_t first;		   /* time of the trace's first event */
	/* bit maps of the events that show states of threads, and system calls */
	uint8_t states[SWITCHED_MAP], calls[SWITCHED_MAP];
	char run[40]; /* name of the directory of the run */
	int error;    /* errno of the first failed system call */
};

static const char *const kinds[] = { "kind=event", "kind=sched", "kind=syscall" };
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void add_column(struct parquet_file *file, const char *name, enum parquet_type type, bool required)
{
	file->column[file->columns].name = name;
	file->column[file->columns].type = type;
	file->column[file->columns++].required = required;
}

static void make_columns(struct parquet *parquet)
{
	struct parquet_file *event = &parquet->event, *sched = &parquet->sched, *call = &parquet->call;

	add_column(event, "ts", PARQUET_I64, true);
	add_column(event, "cpu", PARQUET_I32, false);
	add_column(event, "thread", PARQUET_I32, false);
	add_column(event, "thread_name", PARQUET_WORD, false);
	add_column(event, "name", PARQUET_WORD, true);
	add_column(event, "context", PARQUET_WORD, true);
	add_column(event, "lost", PARQUET_I64, false);
	add_column(event, "fields", PARQUET_TEXT, true);
	for (unsigned n = 0; n < 2; n++) {
		struct parquet_file *file = n == 0 ? sched : call;

		add_column(file, "ts", PARQUET_I64, true);
		add_column(file, "duration", PARQUET_I64, false);
		add_column(file, "cpu", PARQUET_I32, file == sched);
		add_column(file, "thread", PARQUET_I32, true);
		add_column(file, "thread_name", PARQUET_WORD, false);
	}
	add_column(sched, "end_state", PARQUET_WORD, false);
	add_column(call, "number", PARQUET_I64, true);
	add_column(call, "name", PARQUET_WORD, true);
	add_column(call, "result", PARQUET_I64, false);
}

/* Converts a time to the time since the first event of the trace, as all commands print it. */
static int64_t since_first(const struct parquet *parquet, uint64_t time)
{
	return time > parquet->first ? (int64_t)(time - parquet->first) : 0;
}

/* Appends a name from the trace. Escapes unsafe characters. */
static void put_name(struct parquet_file *file, uint32_t column, uint64_t key, const char *name,
		     size_t length)
{
	char text[NAME_MOST];
	char *end = base_escape_utf8(text, name, length, sizeof(text));

	parquet_put_new_word(file, column, key, text, (size_t)(end - text));
}

static inline __attribute__((always_inline)) void
put_thread(struct parquet *parquet, struct parquet_file *file, uint32_t column, uint32_t thread)
{
	const char *name;

	parquet_put_i32(file, column, (int32_t)thread);
	if (parquet_put_word(file, column + 1, thread))
		return;
	name = ktread_thread_name(parquet->walk.trace, thread);
	if (name)
		put_name(file, column + 1, thread, name, strlen(name));
}

/* ---- kind=event ---- */

static void put_type(struct parquet_file *file, const struct ktread_type *type)
{
	char name[ANALYZE_EVENT_NAME_MOST];

	if (!parquet_put_word(file, EVENT_NAME, type->id))
		put_name(file, EVENT_NAME, type->id, name,
			 (size_t)(analyze_event_name_lower(name, type) - name));
}

/*
 * Writes the fields as a JSON object. Most events have only numbers as fields. For such events, the names of
 * the fields are cached, which is faster.
 */
static void put_fields(struct parquet *parquet, struct parquet_file *file, const struct ktread_event *event)
{
	const struct chrome_shape *shape = chrome_shape_of(&parquet->texts, event);
	const unsigned char *from = event->payload;
	char *at = parquet_text(file, EVENT_ARGS, JSON_MOST);

	if (!at)
		return;
	*at++ = '{';
	if (!shape || event->payload_size < shape->size) {
		at = json_put_fields(at, event);
	} else {
		for (uint32_t n = 0; n < shape->fields; n++) {
			at = chrome_put_piece(at, shape->field[n].name);
			at = chrome_put_number(at, &shape->field[n], from);
			from += shape->field[n].width;
		}
	}
	*at++ = '}';
	parquet_text_done(file, EVENT_ARGS, at);
}

static void take_event(void *context, const struct ktread_event *event)
{
	static const char *const contexts[] = { "thread", "irq", "nmi", "early" };
	struct parquet *parquet = context;
	struct parquet_file *file = &parquet->event;
	const unsigned from = event->context % 4;

	parquet_put_i64(file, EVENT_TS, since_first(parquet, parquet->walk.time));
	if (event->cpu != KTRX_NO_CPU)
		parquet_put_i32(file, EVENT_CPU, (int32_t)event->cpu);
	if (event->thread != KTREAD_NO_THREAD)
		put_thread(parquet, file, EVENT_THREAD, event->thread);
	put_type(file, event->type);
	if (!parquet_put_word(file, EVENT_CONTEXT, from))
		parquet_put_new_word(file, EVENT_CONTEXT, from, contexts[from], strlen(contexts[from]));
	if (event->lost)
		parquet_put_i64(file, EVENT_LOST, (int64_t)event->lost);
	put_fields(parquet, file, event);
	parquet_row(file);
}

/* ---- kind=sched ---- */

static const char *state_name(enum threads_state state)
{
	static const char *const names[] = { [THREADS_UNKNOWN] = NULL,	      [THREADS_RUNNING] = "running",
					     [THREADS_RUNNABLE] = "runnable", [THREADS_SLEEPING] = "sleeping",
					     [THREADS_WAITING] = "waiting",   [THREADS_STOPPED] = "stopped",
					     [THREADS_DEAD] = "dead" };

	return names[state];
}

/*
 * Writes a row for a period in which a thread ran on a CPU. `ended` is false if it is not certain when the
 * period ended.
 */
static void put_slice(struct parquet *parquet, uint32_t cpu, uint64_t time, bool ended,
		      enum threads_state state)
{
	struct running *running = &parquet->running[cpu];
	struct parquet_file *file = &parquet->sched;
	const char *name = ended ? state_name(state) : NULL;

	parquet_put_i64(file, SCHED_TS, since_first(parquet, running->since));
	if (ended)
		parquet_put_i64(file, SCHED_DUR, (int64_t)(time - running->since));
	parquet_put_i32(file, SCHED_CPU, (int32_t)cpu);
	put_thread(parquet, file, SCHED_THREAD, running->thread);
	if (name && !parquet_put_word(file, SCHED_STATE, state))
		parquet_put_new_word(file, SCHED_STATE, state, name, strlen(name));
	parquet_row(file);
	running->runs = false;
}

static void take_change(void *context, const struct threads_change *change)
{
	struct parquet *parquet = context;
	const struct threads_thread *thread = change->thread;
	struct running *running;

	if (change->cpu >= THREADS_CPUS_MAX)
		return;
	running = &parquet->running[change->cpu];
	if (thread->state == THREADS_RUNNING) {
		if (running->runs)
			put_slice(parquet, change->cpu, change->time, false, THREADS_UNKNOWN);
		*running = (struct running){ change->time, parquet->walk.stamp, thread->id, true };
	} else if (change->from == THREADS_RUNNING && running->runs && running->thread == thread->id) {
		put_slice(parquet, change->cpu, change->time,
			  thread->state != THREADS_UNKNOWN &&
				  gaps_state_lasts(parquet->walk.gaps, parquet->states, true, change->cpu,
						   running->stamp, parquet->walk.stamp),
			  (enum threads_state)thread->state);
	}
}

/* ---- kind=syscall ---- */

static void put_call(struct parquet *parquet, struct parquet_file *file, uint64_t number)
{
	struct walk_name name;

	parquet_put_i64(file, CALL_NR, (int64_t)number);
	if (parquet_put_word(file, CALL_NAME, number))
		return;
	name.kind = WALK_NAME_CALL;
	name.number = number;
	walk_name_text(&parquet->walk, &name);
	put_name(file, CALL_NAME, number, name.text, name.length);
}

static void end_span(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		     const struct ktread_event *event, uint64_t time)
{
	struct parquet *parquet = context;
	struct walk *walk = &parquet->walk;
	struct parquet_file *file = &parquet->call;
	const uint64_t since = walk_clock_ns(&walk->clock, span->stamp);
	uint64_t result;
	bool certain;

	(void)lane;
	(void)time;
	if (span->kind != WELLKNOWN_SYSCALL_ENTER)
		return;
	certain = latencies_is_certain(walk->spans, walk->gaps, parquet->calls, owner, span, event);
	parquet_put_i64(file, CALL_TS, since_first(parquet, since));
	if (certain)
		parquet_put_i64(file, CALL_DUR, (int64_t)(walk->time - since));
	if (span->cpu != KTRX_NO_CPU)
		parquet_put_i32(file, CALL_CPU, (int32_t)span->cpu);
	put_thread(parquet, file, CALL_THREAD, span->thread);
	put_call(parquet, file, span->key);
	if (certain && wellknown_number(wellknown_of(&walk->known, event), event, WELLKNOWN_RESULT, &result))
		parquet_put_i64(file, CALL_RESULT, (int64_t)result);
	parquet_row(file);
}

/* ---- The directory of a run ---- */

/* Creates and opens the directory of the run. On failure, returns -1 and sets parquet->error. */
static int open_run(struct parquet *parquet, int folder)
{
	const struct ktread_info *info = ktread_info(parquet->walk.trace);
	int run = -1;

	snprintf(parquet->run, sizeof(parquet->run), "run=%016llx",
		 (unsigned long long)(info->nonce ? info->nonce : ktread_first_stamp(parquet->walk.trace)));
	if (mkdirat(folder, parquet->run, 0777) == 0)
		run = openat(folder, parquet->run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (run < 0)
		parquet->error = errno;
	return run;
}

/* Removes the directory of a run that could not be written completely. */
static void remove_run(const struct parquet *parquet, struct parquet_file *const files[KINDS], int folder,
		       int run)
{
	char path[64];

	for (size_t n = 0; n < KINDS; n++) {
		for (uint32_t part = 0; part < files[n]->part; part++) {
			snprintf(path, sizeof(path), "%s/" PARQUET_PART, kinds[n], part);
			unlinkat(run, path, 0);
		}
		unlinkat(run, kinds[n], AT_REMOVEDIR);
	}
	unlinkat(folder, parquet->run, AT_REMOVEDIR);
}

static int write_tables(struct parquet *parquet, struct parquet_file *const files[KINDS], int run)
{
	int error;

	for (size_t n = 0; n < KINDS; n++)
		parquet_open(files[n], run, kinds[n]);
	error = walk_run(&parquet->walk);
	for (uint32_t cpu = 0; cpu < THREADS_CPUS_MAX; cpu++)
		if (parquet->running[cpu].runs)
			put_slice(parquet, cpu, 0, false, THREADS_UNKNOWN);
	return error;
}

static int parquet_write(struct ktread *trace, int fd, struct export_report *report)
{
	struct parquet *parquet = calloc(1, sizeof(*parquet));
	const struct walk_sink sink = {
		.context = parquet,
		.judges = true,
		.event = take_event,
		.thread = take_change,
		.end = end_span,
	};
	struct parquet_file *const files[KINDS] = { &parquet->event, &parquet->sched, &parquet->call };
	int error, run = -1;

	if (!parquet)
		return KTREAD_E_MEMORY;
	make_columns(parquet);
	for (size_t n = 0; n < KINDS; n++)
		files[n]->folder = -1;
	parquet->walk.output = &parquet->event.error;
	error = walk_open(&parquet->walk, trace, &sink);
	scheduling_mark(trace, &parquet->walk.known, parquet->states);
	latencies_mark(trace, &parquet->walk.known, LATENCIES_SYSCALL, parquet->calls);
	parquet->first = walk_clock_ns(&parquet->walk.clock, ktread_first_stamp(trace));
	if (!error && (run = open_run(parquet, fd)) >= 0)
		error = write_tables(parquet, files, run);
	if (report->interrupted && !parquet->error)
		parquet->error = EINTR;
	for (size_t n = 0; n < KINDS; n++) {
		parquet_close(files[n]);
		if (!parquet->error)
			parquet->error = files[n]->error;
	}
	walk_close(&parquet->walk, report);
	report->output_error = parquet->error;
	if (parquet->error) {
		if (run >= 0)
			remove_run(parquet, files, fd, run);
		error = KTREAD_E_SYSTEM;
	}
	if (run >= 0)
		close(run);
	chrome_texts_free(&parquet->texts);
	free(parquet);
	return error;
}

const struct export_format export_parquet = {
	.name = "parquet",
	.purpose = "directory of tables (DuckDB, Spark, Trino, ClickHouse, pandas)",
	.place = EXPORT_FOLDER,
	.write = parquet_write,
};
