/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Events in the Trace Event Format. Rows, by process:
 *
 *	0  CPUs: which thread runs, a slice each time
 *	1  threads: system calls and faults as spans, whichever CPU they ran on, and all other events as instants
 *	2  interrupts, by CPU: their spans, and the events that fired in them
 *	3  locks, a row for each that a thread waits for or holds
 *	4  functions that hardware trace tells of, where it stands beside
 *	5  waits: a slice each time a thread sleeps, from when it leaves its CPU until it is woken
 *
 * Threads of a process of which the kernel told have their rows in one that is named after it, numbered
 * ROW_PROCESSES and its number.
 *
 * Every end that is written closes a beginning of its name on its row (export/chrome_rows.h); what is open at the end of the trace
 * is ended there. Slices, which have a duration, are written once they are over.
 *
 * Which spans and flows there are, and what a gap does to them, is decided in analyze/; here they are only written.
 */
#include "export/chrome.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/files.h"
#include "analyze/flows.h"
#include "analyze/processes.h"
#include "analyze/scheduling.h"
#include "analyze/spans.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "base/utf8.h"
#include "export/chrome_rows.h"
#include "export/chrome_text.h"
#include "export/functions.h"
#include "export/json.h"
#include "ktrx/v2.h"

#define ROW_CPUS	0u
#define ROW_THREADS	1u
#define ROW_INTERRUPTS	2u
#define ROW_LOCKS	3u
#define ROW_FUNCTIONS	4u
#define ROW_WAITS	5u
#define ROW_PROCESSES	10000000u   /* above any thread's number */
#define LOCK_LANES	8u	    /* rows of process 3 that belong to one thread */
#define LANE_WAITS	7u	    /* no lock's: the thread's row in process 5 */
#define ROW_CPU_LOCKS	0x40000000u /* in process 3, above any thread's: locks that interrupts hold */
#define NAMED_CPUS	1u
#define NAMED_THREAD	1u
#define NAMED_INTERRUPT 2u

struct slice {
	uint64_t since;
	uint32_t thread, index; /* its id, and its index */
	bool open;
};

/* A thread sleeps. */
struct wait {
	uint64_t since;
	uint64_t object; /* what for; 0: it did not announce it */
	uint64_t flow;	 /* of the wakeup that ended it, until the thread runs; 0: none */
	uint8_t state;	 /* enum threads_state while it sleeps */
	bool open;
};

#define ROW_TEXT 48u /* bytes that are copied at once */

/* A row of the trace. */
struct row {
	struct chrome_rows_open open; /* of a thread's own row */
	uint32_t pid;
	uint64_t tid;
	bool own;	     /* it is a thread's own row */
	uint8_t length;	     /* of `text` */
	char text[ROW_TEXT]; /* ,"pid":1,"tid":12 */
};

/* What is kept of a thread. */
struct place {
	struct row row; /* its own, once `row.own` is set */
	struct wait wait;
	char *label; /* ,"name":"init (1)","cat":"sched","args":{"thread":1}} or NULL */
	uint32_t label_length;
	uint8_t named; /* NAMED_THREAD: its row has a name; above it, one bit a lock lane */
};

struct ring {
	uint64_t seen; /* stamp of the last event, 0: none yet */
	bool beside;
};

struct writer {
	struct chrome *chrome;
	struct threads *threads;
	struct scheduling *scheduling;
	struct spans *spans;
	struct wellknown_table known;
	struct flows flows;
	struct files *files;
	struct files_path path; /* behind the file of the event at hand */
	struct processes *processes;
	struct functions functions;
	uint64_t function_tracks;
	struct slice running[THREADS_CPUS_MAX];
	uint8_t named_cpu[THREADS_CPUS_MAX];
	struct place *place; /* by index of the thread */
	uint32_t places;
	struct row row;		 /* the last one that was made, if it is no thread's own */
	struct chrome_rows rows; /* all but the threads' own */
	struct chrome_texts texts;
	bool typed;	/* the trace describes system calls */
	bool wakes;	/* the event at hand is a wakeup */
	uint64_t woken; /* flow that begins at it; 0: none */
	uint32_t version;
	int error; /* 0 or KTREAD_E_MEMORY */
	struct ring *ring;
};

static void label_thread(const struct writer *writer, uint32_t thread, char *text, size_t size)
{
	const char *name = ktread_thread_name(writer->chrome->trace, thread);

	if (name && *name)
		snprintf(text, size, "%.40s (%u)", name, thread);
	else
		snprintf(text, size, "thread %u", thread);
}

/* ,"pid":1,"tid":12 */
static void render_row(struct row *row)
{
	char *at = number_decimal(number_literal(row->text, ",\"pid\":"), row->pid);

	at = number_decimal(number_literal(at, ",\"tid\":"), row->tid);
	row->length = (uint8_t)(at - row->text);
}

/* Valid until the next row is made. */
static struct row *make_row(struct writer *writer, uint32_t pid, uint64_t tid)
{
	writer->row.pid = pid;
	writer->row.tid = tid;
	render_row(&writer->row);
	return &writer->row;
}

static struct row *row_of_cpu(struct writer *writer, uint32_t pid, uint32_t cpu)
{
	uint8_t bit = pid == ROW_CPUS ? NAMED_CPUS : NAMED_INTERRUPT;
	char name[16];

	if (cpu < THREADS_CPUS_MAX && !(writer->named_cpu[cpu] & bit)) {
		writer->named_cpu[cpu] |= bit;
		snprintf(name, sizeof(name), "CPU%u", cpu);
		chrome_name(writer->chrome, "thread_name", pid, cpu, name);
	}
	return make_row(writer, pid, cpu);
}

static bool reserve_threads(struct writer *writer, uint32_t index)
{
	uint32_t count = writer->places ? writer->places : 64;
	struct place *larger;

	if (index < writer->places)
		return true;
	while (count <= index)
		count *= 2;
	larger = realloc(writer->place, count * sizeof(*larger));
	if (!larger) {
		writer->error = KTREAD_E_MEMORY;
		return false;
	}
	memset(larger + writer->places, 0, (count - writer->places) * sizeof(*larger));
	writer->place = larger;
	writer->places = count;
	return true;
}

/* The process that a thread's row is in. */
static uint32_t process_of_thread(const struct writer *writer, uint32_t thread)
{
	uint32_t id = processes_of(writer->processes, thread);

	return id ? ROW_PROCESSES + id : ROW_THREADS;
}

/* Names the process of a thread that has just been met. To be told so again by another thread does no harm. */
static void name_process(struct writer *writer, uint32_t thread)
{
	uint32_t id = processes_of(writer->processes, thread);
	const struct processes_process *process = processes_find(writer->processes, id);
	char name[PROCESSES_COMMAND + 16];

	if (id == 0)
		return;
	if (process && process->command[0] != '\0')
		snprintf(name, sizeof(name), "%.48s (%u)", process->command, id);
	else
		label_thread(writer, id, name, sizeof(name));
	chrome_name(writer->chrome, "process_name", ROW_PROCESSES + id, -1, name);
}

/* A thread's row is needed for the first time, or is not its own. */
static struct row *make_row_of_thread(struct writer *writer, uint32_t index, unsigned lane)
{
	uint32_t id = threads_at(writer->threads, index)->id;
	uint32_t pid = lane == LANE_WAITS ? ROW_WAITS : lane ? ROW_LOCKS : process_of_thread(writer, id);
	uint64_t tid = lane && lane != LANE_WAITS ? (uint64_t)id * LOCK_LANES + lane : id;
	uint8_t bit = (uint8_t)(NAMED_THREAD << lane);
	struct place *place;
	char name[64];

	if (!reserve_threads(writer, index))
		return make_row(writer, pid, tid);
	place = &writer->place[index];
	if (!(place->named & bit)) {
		place->named |= bit;
		label_thread(writer, id, name, sizeof(name));
		if (lane == 0)
			name_process(writer, id);
		chrome_name(writer->chrome, "thread_name", pid, (int64_t)tid, name);
	}
	if (lane != 0)
		return make_row(writer, pid, tid);
	place->row = (struct row){ .pid = pid, .tid = tid, .own = true };
	render_row(&place->row);
	return &place->row;
}

/* Lane 0 is the thread's own row, LANE_WAITS that of its waits, the others are its locks'. Valid until the next row is made. */
static inline struct row *row_of_thread(struct writer *writer, uint32_t index, unsigned lane)
{
	if (lane == 0 && index < writer->places && writer->place[index].row.own)
		return &writer->place[index].row;
	return make_row_of_thread(writer, index, lane);
}

static inline struct row *row_of(struct writer *writer, struct spans_owner owner, unsigned lane)
{
	if (!owner.cpu)
		return row_of_thread(writer, owner.number, lane);
	if (lane)
		return make_row(writer, ROW_LOCKS, ROW_CPU_LOCKS + owner.number * LOCK_LANES + lane);
	return row_of_cpu(writer, ROW_INTERRUPTS, owner.number);
}

/* {"ph":"B","ts":1.234,"pid":1,"tid":12 */
static inline __attribute__((always_inline)) char *put_head(struct writer *writer, char phase,
							    struct row *row, uint64_t stamp)
{
	/* It is never the first object: the names of processes come before it. */
	char *at = number_literal(output_line(&writer->chrome->out), ",\n{\"ph\":\"?\",\"ts\":");

	at[-8] = phase;
	at = chrome_put_time(writer->chrome, at, chrome_time(writer->chrome, stamp));
	memcpy(at, row->text, ROW_TEXT);
	return at + row->length;
}

/* "types":"size, fd, ptr, size" — what the kernel says the call's result and arguments are. */
static char *put_types(struct writer *writer, char *at, const struct ktread_event *event, bool comma)
{
	const struct wellknown *known = wellknown_of(&writer->known, event);
	const struct chrome_call *call;
	const char *types;
	uint64_t number;

	if (known->kind != WELLKNOWN_SYSCALL_ENTER ||
	    !wellknown_number(known, event, WELLKNOWN_NUMBER, &number) || number > UINT32_MAX)
		return at;
	call = chrome_call_of(&writer->texts, writer->chrome->trace, number);
	types = call ? NULL : ktread_syscall_types(writer->chrome->trace, (uint32_t)number);
	*at = ',';
	if (call && call->types.length)
		return chrome_put_piece(at + comma, call->types);
	return types ? json_put_name(number_literal(at + comma, "\"types\":"), types) : at;
}

static char *put_addresses(char *at, const struct ktread_event *event)
{
	if (event->callers) {
		at = number_hex(number_literal(at, ",\"caller\":\"0x"), event->caller[0]);
		*at++ = '"';
	}
	if (event->callers > 1) {
		at = number_hex(number_literal(at, ",\"caller's caller\":\"0x"), event->caller[1]);
		*at++ = '"';
	}
	if (event->site) {
		at = number_hex(number_literal(at, ",\"site\":\"0x"), event->site);
		*at++ = '"';
	}
	return at;
}

static const struct chrome_shape *shape_of(struct writer *writer, const struct ktread_event *event)
{
	return chrome_shape_of(&writer->texts, event, writer->version);
}

/* What the trace says elsewhere of what the event is about. `begin`: of the arguments. */
static char *put_inferred(struct writer *writer, char *at, const struct ktread_event *event,
			  const char *begin)
{
	if (writer->typed)
		at = put_types(writer, at, event, at > begin);
	if (writer->path.bytes) {
		*at = ',';
		at = json_put_string(number_literal(at + (at > begin), "\"path\":"), writer->path.bytes,
				     writer->path.length);
	}
	return at;
}

/* `shape`: of the event, or NULL. */
static inline char *put_arguments(struct writer *writer, char *at, const struct ktread_event *event,
				  const struct chrome_shape *shape)
{
	char *begin = number_literal(at, ",\"args\":{");

	at = shape ? chrome_put_fields(begin, shape, event) : json_put_fields(begin, event);
	if (__builtin_expect(writer->typed || writer->path.bytes, 0))
		at = put_inferred(writer, at, event, begin);
	*at = ',';
	at = shape ? chrome_put_piece(at + (at > begin), shape->cpu)
		   : number_literal(at + (at > begin), "\"cpu\":");
	at = number_decimal(at, event->cpu);
	if (event->callers || event->site)
		at = put_addresses(at, event);
	*at = '}';
	return at + 1;
}

static void finish(struct writer *writer, char *at)
{
	*at = '}';
	output_done(&writer->chrome->out, at + 1);
}

/* The span's name is `name`, or `rendered` if that is NULL. Returns NULL if nothing is written because memory is short. */
static char *put_begin(struct writer *writer, struct row *row, uint64_t stamp, struct chrome_piece rendered,
		       const char *name)
{
	struct chrome_rows_open *open =
		row->own ? &row->open : chrome_rows_find(&writer->rows, row->pid, row->tid, 1);

	if (open && (name ? chrome_rows_begin(open, name) : chrome_rows_begin_rendered(open, rendered)) == 0)
		return put_head(writer, 'B', row, stamp);
	writer->error = KTREAD_E_MEMORY;
	return NULL;
}

/* With its name. NULL: nothing is open there to end. */
static char *put_end(struct writer *writer, struct row *row, uint64_t stamp)
{
	struct chrome_rows_open *open =
		row->own ? &row->open : chrome_rows_find(&writer->rows, row->pid, row->tid, 0);
	const struct chrome_rows_span *span = open ? chrome_rows_end(open) : NULL;
	char *at;

	if (!span)
		return NULL;
	at = put_head(writer, 'E', row, stamp);
	return span->rendered.text ? chrome_put_piece(at, span->rendered)
				   : json_put_name(number_literal(at, ",\"name\":"), span->name);
}

static void name_span(struct writer *writer, const struct spans_span *span, const struct ktread_event *event,
		      char *text, size_t size)
{
	const struct wellknown *known = wellknown_of(&writer->known, event);
	unsigned long long key = span->key;
	struct ktread_value value = { .length = 0 };
	const char *call = NULL;
	int named = wellknown_string(known, event, WELLKNOWN_NAME, &value) ? (int)value.length : 0;

	named = named < 40 ? named : 40;
	switch (span->kind) {
	case WELLKNOWN_SYSCALL_ENTER:
		if (span->has_key && key <= UINT32_MAX)
			call = ktread_syscall_name(writer->chrome->trace, (uint32_t)key);
		chrome_call_name(text, size, call, key);
		break;
	case WELLKNOWN_IRQ_ENTER:
		snprintf(text, size, "irq %llu%s%.*s", key, named ? " " : "", named,
			 named ? value.string : "");
		break;
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
		snprintf(text, size, "%s ", span->kind == WELLKNOWN_LOCK_CONTEND ? "wait for" : "hold");
		if (named)
			snprintf(text + strlen(text), size - strlen(text), "%.*s", named, value.string);
		else
			snprintf(text + strlen(text), size - strlen(text), "0x%llx", key);
		break;
	default:
		snprintf(text, size, "page fault");
	}
}

static void span_begin(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		       const struct ktread_event *event)
{
	struct writer *writer = context;
	struct row *row = row_of(writer, owner, lane);
	const struct chrome_shape *shape = shape_of(writer, event);
	const struct chrome_call *call = NULL;
	struct chrome_piece rendered = { .text = NULL };
	char name[CHROME_ROWS_NAME], *at;

	/* Every second event of many traces is a call. */
	if (span->kind == WELLKNOWN_SYSCALL_ENTER && span->has_key)
		call = chrome_call_of(&writer->texts, writer->chrome->trace, span->key);
	if (call)
		rendered = call->name;
	else
		name_span(writer, span, event, name, sizeof(name));
	at = put_begin(writer, row, event->stamp, rendered, call ? NULL : name);
	if (!at)
		return;
	at = call ? chrome_put_piece(at, rendered) : json_put_name(number_literal(at, ",\"name\":"), name);
	at = shape ? chrome_put_piece(at, shape->category)
		   : json_put_name(number_literal(at, ",\"cat\":"), event->type->group);
	finish(writer, put_arguments(writer, at, event, shape));
}

static void span_end(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		     const struct ktread_event *event, uint64_t time)
{
	struct writer *writer = context;
	char *at = put_end(writer, row_of(writer, owner, lane), event ? event->stamp : time);

	(void)span;
	if (at)
		finish(writer, event ? put_arguments(writer, at, event, shape_of(writer, event))
				     : number_literal(at, ",\"args\":{\"end\":\"not recorded\"}"));
}

/* ,"name":"init (1)","cat":"sched","args":{"thread":1}} — how a slice in which a thread runs ends. */
static char *put_runs(struct writer *writer, char *at, uint32_t thread)
{
	char name[64];

	label_thread(writer, thread, name, sizeof(name));
	at = json_put_name(number_literal(at, ",\"name\":"), name);
	at = number_decimal(number_literal(at, ",\"cat\":\"sched\",\"args\":{\"thread\":"), thread);
	return number_literal(at, "}");
}

/* The same, from the second time on out of what was written first. */
static char *put_label(struct writer *writer, char *at, const struct slice *slice)
{
	struct place *place = slice->index < writer->places ? &writer->place[slice->index] : NULL;
	char *end;

	if (place && place->label)
		return (char *)memcpy(at, place->label, place->label_length) + place->label_length;
	end = put_runs(writer, at, slice->thread);
	if (place) {
		place->label_length = (uint32_t)(end - at);
		place->label = malloc(place->label_length);
		if (place->label)
			memcpy(place->label, at, place->label_length);
	}
	return end;
}

/* A slice is written once it is over. */
static void end_slice(struct writer *writer, uint32_t cpu, uint64_t time)
{
	struct slice *slice = &writer->running[cpu];
	uint64_t from = chrome_time(writer->chrome, slice->since), to = chrome_time(writer->chrome, time);
	char *at;

	if (!slice->open)
		return;
	slice->open = false;
	at = put_head(writer, 'X', row_of_cpu(writer, ROW_CPUS, cpu), slice->since);
	at = chrome_put_microseconds(number_literal(at, ",\"dur\":"), to > from ? to - from : 0);
	finish(writer, put_label(writer, at, slice));
}

/* A wait is written once it is over. */
static void end_wait(struct writer *writer, uint32_t index, uint64_t time, const char *end)
{
	struct wait *wait = &writer->place[index].wait;
	uint64_t from = chrome_time(writer->chrome, wait->since), to = chrome_time(writer->chrome, time);
	char *at;

	if (!wait->open)
		return;
	wait->open = false;
	at = put_head(writer, 'X', row_of_thread(writer, index, LANE_WAITS), wait->since);
	at = chrome_put_microseconds(number_literal(at, ",\"dur\":"), to > from ? to - from : 0);
	at = json_put_name(number_literal(at, ",\"name\":"),
			   wait->state == THREADS_WAITING ? "wait" : "sleep");
	at = number_literal(at, ",\"cat\":\"sched\",\"args\":{");
	if (wait->object) {
		at = number_hex(number_literal(at, "\"for\":\"0x"), wait->object);
		at = number_literal(at, "\",");
	}
	at = json_put_name(number_literal(at, "\"end\":"), end);
	finish(writer, number_literal(at, "}"));
}

static bool sleeps(enum threads_state state)
{
	return state == THREADS_SLEEPING || state == THREADS_WAITING;
}

/* An arrow from the wakeup to where the thread runs next. */
static void arrive(struct writer *writer, struct wait *wait, uint32_t cpu, uint64_t time)
{
	char *at;

	if (wait->flow == 0)
		return;
	at = put_head(writer, 'f', row_of_cpu(writer, ROW_CPUS, cpu), time);
	at = number_decimal(number_literal(at, ",\"id\":"), wait->flow);
	finish(writer, number_literal(at, ",\"name\":\"wakeup\",\"cat\":\"sched\",\"bp\":\"e\""));
	wait->flow = 0;
}

static void wait_changed(struct writer *writer, const struct threads_change *change)
{
	const struct threads_thread *thread = change->thread;
	struct wait *wait;

	if (!reserve_threads(writer, thread->index))
		return;
	wait = &writer->place[thread->index].wait;
	if (wait->open)
		end_wait(writer, thread->index, change->time, change->woken ? "woken" : "not recorded");
	/* An arrow needs an event that it begins at, and has one end: of several threads that one event wakes, the first. */
	if (change->woken && writer->wakes && !writer->woken)
		writer->woken = wait->flow = ++writer->flows.ids;
	if (thread->state == THREADS_RUNNING)
		arrive(writer, wait, change->cpu, change->time);
	if (sleeps((enum threads_state)thread->state))
		*wait = (struct wait){
			.since = change->time, .object = thread->object, .state = thread->state, .open = true
		};
}

static void thread_changed(void *context, const struct threads_change *change)
{
	struct writer *writer = context;
	const struct threads_thread *thread = change->thread;

	wait_changed(writer, change);
	if (change->cpu >= THREADS_CPUS_MAX)
		return;
	if (thread->state == THREADS_RUNNING) {
		end_slice(writer, change->cpu, change->time);
		writer->running[change->cpu] =
			(struct slice){ change->time, thread->id, thread->index, true };
	} else if (change->from == THREADS_RUNNING && writer->running[change->cpu].open &&
		   writer->running[change->cpu].thread == thread->id) {
		end_slice(writer, change->cpu, change->time);
	}
}

/* A slice without duration and an arrow's end bound to it: arrows hold on to slices only. */
static void write_flow(struct writer *writer, const struct ktread_event *event, struct flows_step step)
{
	struct row *row = row_of(writer, spans_owner_by(writer->threads, event), 0);
	char *at = put_head(writer, 'X', row, event->stamp);

	at = json_put_event_name(number_literal(at, ",\"dur\":0,\"name\":"), event->type, writer->version);
	at = json_put_name(number_literal(at, ",\"cat\":"), event->type->group);
	finish(writer, put_arguments(writer, at, event, shape_of(writer, event)));
	at = put_head(writer, step.ends ? 'f' : 's', row, event->stamp);
	at = number_decimal(number_literal(at, ",\"id\":"), step.id);
	at = json_put_name(number_literal(at, ",\"name\":"), step.name);
	at = json_put_name(number_literal(at, ",\"cat\":"), event->type->group);
	finish(writer, step.ends ? number_literal(at, ",\"bp\":\"e\"") : at);
}

static void write_instant(struct writer *writer, const struct ktread_event *event)
{
	const struct chrome_shape *shape = shape_of(writer, event);
	struct row *row = row_of(writer, spans_owner_by(writer->threads, event), 0);
	char *at = put_head(writer, 'i', row, event->stamp);

	if (shape) {
		at = chrome_put_piece(at, shape->instant);
	} else {
		at = json_put_event_name(number_literal(at, ",\"name\":"), event->type, writer->version);
		at = json_put_name(number_literal(at, ",\"cat\":"),
				   *event->type->group ? event->type->group : "other");
		at = number_literal(at, ",\"s\":\"t\"");
	}
	finish(writer, put_arguments(writer, at, event, shape));
}

static void write_gap(struct writer *writer, const struct ktread_event *event)
{
	uint64_t from = writer->ring[event->ring].seen;
	char *at;

	threads_gap(writer->threads, event->cpu, from);
	spans_gap(writer->spans, event->cpu, from);
	flows_gap(&writer->flows);
	at = put_head(writer, 'i', row_of_cpu(writer, ROW_CPUS, event->cpu), event->stamp);
	at = number_decimal(
		number_literal(at,
			       ",\"name\":\"lost slots\",\"cat\":\"loss\",\"s\":\"t\",\"args\":{\"slots\":"),
		event->lost);
	finish(writer, number_literal(at, "}"));
}

/* ---- Functions --------------------------------------------------------------------------------- */

static uint64_t add_track(void *context, const char *name, uint64_t stamp)
{
	struct writer *writer = context;
	const uint64_t track = writer->function_tracks++;

	(void)stamp;
	if (track == 0)
		chrome_name(writer->chrome, "process_name", ROW_FUNCTIONS, -1, "functions");
	chrome_name(writer->chrome, "thread_name", ROW_FUNCTIONS, (int64_t)track, name);
	return track;
}

static void draw_function(void *context, uint64_t track, enum functions_mark mark,
			  const struct ktread_event *event, uint64_t stamp)
{
	struct writer *writer = context;
	struct row *row = make_row(writer, ROW_FUNCTIONS, track);
	char name[CHROME_ROWS_NAME] = "?", *at;
	struct ktread_value value;

	if (mark == FUNCTIONS_END) {
		at = put_end(writer, row, stamp);
		if (at)
			finish(writer, at);
		return;
	}
	if (ktread_value(event, 0, &value) == 0 && value.type == KTRX_TYPE_STRING)
		snprintf(name, sizeof(name), "%.*s",
			 (int)base_utf8_cut(value.string, value.length, sizeof(name) - 1), value.string);
	at = mark == FUNCTIONS_BEGIN
		     ? put_begin(writer, row, stamp, (struct chrome_piece){ .text = NULL }, name)
		     : put_head(writer, 'i', row, stamp);
	if (!at)
		return;
	at = json_put_string(number_literal(at, ",\"name\":"), name, strlen(name));
	at = number_literal(at, ",\"cat\":\"hwt\"");
	if (mark == FUNCTIONS_INSTANT)
		at = number_literal(at, ",\"s\":\"t\"");
	finish(writer, put_arguments(writer, at, event, shape_of(writer, event)));
}

static int write_function(struct writer *writer, const struct ktread_event *event)
{
	const struct functions_sink sink = { add_track, draw_function, writer };

	writer->path = (struct files_path){ 0 };
	writer->chrome->report->events++;
	return functions_event(&writer->functions, &sink, event, event->stamp);
}

static int write_event(struct writer *writer, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&writer->known, event);
	struct flows_step flow;
	int result;

	if (writer->ring[event->ring].beside)
		return write_function(writer, event);
	if (event->lost)
		write_gap(writer, event);
	writer->ring[event->ring].seen = event->stamp;
	writer->path = files_event(writer->files, event, known);
	writer->wakes = known->kind == WELLKNOWN_WAKE || known->kind == WELLKNOWN_WAKE_QUEUE;
	writer->woken = 0;
	result = threads_event(writer->threads, event, known, event->stamp);
	if (result == 0)
		result = spans_event(writer->spans, event, known, event->stamp);
	flow = flows_event(&writer->flows, event, known);
	if (flow.id == 0 && writer->woken)
		flow = (struct flows_step){ .id = writer->woken, .name = "wakeup" };
	if (flow.id != 0)
		write_flow(writer, event, flow);
	else if (result == 0 && known->kind != WELLKNOWN_SWITCH)
		write_instant(writer, event);
	writer->chrome->report->events++;
	return result < 0 ? result : writer->error;
}

/* Ends what is open at the end of the trace. */
static void close_all(struct writer *writer, uint64_t last)
{
	const struct functions_sink sink = { add_track, draw_function, writer };

	for (uint32_t cpu = 0; cpu < THREADS_CPUS_MAX; cpu++)
		end_slice(writer, cpu, last);
	for (uint32_t index = 0; index < writer->places; index++)
		end_wait(writer, index, last, "not recorded");
	spans_finish(writer->spans);
	spans_close(writer->spans, last);
	functions_close(&writer->functions, &sink, last);
}

static int write_all(struct writer *writer)
{
	struct chrome *chrome = writer->chrome;
	const struct ktread_event *event;
	uint64_t last = chrome->base;
	int result, error = processes_read(&writer->processes, chrome->trace, &writer->known);

	if (error >= 0)
		error = scheduling_read(&writer->scheduling, chrome->trace);
	if (error < 0)
		return error;
	chrome_name(chrome, "process_name", ROW_CPUS, -1, "CPUs");
	chrome_name(chrome, "process_name", ROW_THREADS, -1, "threads");
	chrome_name(chrome, "process_name", ROW_INTERRUPTS, -1, "interrupts");
	chrome_name(chrome, "process_name", ROW_LOCKS, -1, "locks");
	chrome_name(chrome, "process_name", ROW_WAITS, -1, "waits");
	threads_learn(writer->threads, writer->scheduling);
	while ((result = ktread_next(chrome->trace, &event)) > 0 && !chrome->out.error) {
		error = write_event(writer, event);
		if (error)
			break;
		last = event->stamp;
	}
	close_all(writer, last);
	chrome->report->unpaired = spans_unpaired(writer->spans);
	chrome->report->states_unknown =
		scheduling_states_are_empty(writer->scheduling, &chrome->report->announced);
	return error ? error : result;
}

int chrome_write_events(struct chrome *chrome)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	const struct spans_sink sink = { writer, span_begin, span_end };
	int result = KTREAD_E_MEMORY;
	uint32_t rings;

	if (!writer)
		return result;
	rings = ktread_info(chrome->trace)->rings;
	writer->chrome = chrome;
	writer->typed = ktread_syscall_names(chrome->trace) != 0;
	writer->version = ktread_info(chrome->trace)->version;
	writer->ring = calloc((size_t)rings + 1, sizeof(*writer->ring));
	for (uint32_t n = 0; writer->ring && n < rings; n++)
		writer->ring[n].beside = ktread_ring(chrome->trace, n)->kind == KTREAD_RING_BESIDE;
	if (writer->ring && threads_create(&writer->threads, thread_changed, writer) == 0 &&
	    spans_create(&writer->spans, writer->threads, &sink) == 0 &&
	    spans_heed_switches(writer->spans, chrome->trace) == 0 &&
	    files_create(&writer->files, chrome->trace) == 0)
		result = write_all(writer);
	files_destroy(writer->files);
	spans_destroy(writer->spans);
	threads_destroy(writer->threads);
	scheduling_free(writer->scheduling);
	processes_free(writer->processes);
	functions_free(&writer->functions);
	chrome_rows_free(&writer->rows);
	chrome_texts_free(&writer->texts);
	for (uint32_t index = 0; index < writer->places; index++) {
		free(writer->place[index].row.open.span);
		free(writer->place[index].label);
	}
	free(writer->place);
	free(writer->ring);
	free(writer);
	return result;
}
