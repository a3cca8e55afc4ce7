/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes Chrome JSON: cached text, the rows of the viewer, spans, and the objects of events. */
#ifndef EXPORT_CHROME_H
#define EXPORT_CHROME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analyze/flows.h"
#include "analyze/names.h"
#include "analyze/scheduling.h"
#include "analyze/spans.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "base/index.h"
#include "base/json.h"
#include "base/output.h"
#include "base/put.h"
#include "base/ticks.h"
#include "export/timeline.h"
#include "export/export.h"
#include "export/shown.h"
#include "ktread/ktread.h"

/* Cached JSON text. It depends on an event descriptor or a system call, but not on a single event. */

#define CHROME_PIECE 32u /* number of bytes that one copy operation copies */

/*
 * Text to copy. At least CHROME_PIECE bytes after its end must be readable. If `text` is NULL, there is no
 * cached text.
 */
struct chrome_piece {
	const char *text;
	uint32_t length;
};

enum chrome_form {
	CHROME_UNSIGNED,
	CHROME_SIGNED,
	CHROME_ADDRESS,
	CHROME_OTHER, /* a value that is not written as a plain number */
};

/* How to write the value of a field. */
struct chrome_field {
	/* text before the digits of the value: ,"result": (the first field has no comma) */
	struct chrome_piece name;
	uint8_t form;	/* an enum chrome_form */
	uint8_t unused; /* number of unused bits: 64 minus the number of bits of the value */
	/*
	 * width of the value in the payload, in bytes; 0 if it has no fixed width or `form` is CHROME_OTHER
	 */
	uint8_t width;
};

/* The lead of an event: the text between the common beginning of an object and the object's arguments. */
enum chrome_lead {
	CHROME_INSTANT, /* instant: ,"name":"sched.switch","cat":"sched","s":"t","args":{ */
	CHROME_BEGIN,	/* beginning of a span: ,"cat":"syscall","args":{ */
	CHROME_END,	/* end of a span: ,"args":{ */
	CHROME_LEADS,
};

/* Cached text of an event descriptor. */
struct chrome_shape {
	const struct ktread_type *type;
	uint32_t fields;
	/*
	 * size of all fields together, in bytes; UINT32_MAX if there are no fields, or if some field is not a
	 * plain number
	 */
	uint32_t size;
	struct chrome_piece lead[CHROME_LEADS];
	struct chrome_piece lead_field[CHROME_LEADS]; /* the lead, followed by the name of the first field */
	/*
	 * text before the event's CPU number: usually ,"cpu": but ,"event cpu": if the event has a field that
	 * is named cpu
	 */
	struct chrome_piece cpu;
	char *text;		     /* memory that contains the text of all members of this structure */
	struct chrome_field field[]; /* how to write each field: array of type->fields elements */
};

/* Cached text of a system call. */
struct chrome_call {
	struct chrome_piece name; /* the name as a member of an object: ,"name":"read" */
	/* for example "types":"size, fd, ptr, size"; the length is 0 if the types are unknown */
	struct chrome_piece types;
	char text[];
};

/* All cached text. A structure whose bytes are all zero is ready for use. */
struct chrome_texts {
	struct chrome_shape *shape[4096]; /* cached texts of event descriptors, indexed by event id */
	struct chrome_call *call[CALLS_CACHED];
};

void chrome_texts_free(struct chrome_texts *texts);

/* Makes the cached text of a descriptor. Returns NULL if the event is unknown, or if out of memory. */
const struct chrome_shape *chrome_shape_render(struct chrome_texts *texts, const struct ktread_type *type);
/*
 * Makes the text of a system call. Requires: `number` is below CALLS_CACHED. Returns NULL if out of memory.
 */
const struct chrome_call *chrome_call_render(struct chrome_texts *texts, const struct ktread *trace,
					     uint32_t number);

#define CHROME_CALL_NAME 60u
/*
 * Writes the name of a system call, truncated to CHROME_CALL_NAME bytes; "syscall_12" if `name` is NULL.
 * Requires: `size` is at least 40.
 */
void chrome_call_name(char *text, size_t size, const char *name, uint64_t number);

/*
 * Writes a lead, then the event's "field":value pairs as json_put_fields() writes them. Sets `*comma` to true
 * if it has written a pair, because the next argument then needs a comma.
 */
char *chrome_put_fields(char *at, const struct chrome_shape *shape, enum chrome_lead lead,
			const struct ktread_event *event, bool *comma);

static inline const struct chrome_shape *chrome_shape_of(struct chrome_texts *texts,
							 const struct ktread_event *event)
{
	const struct chrome_shape *shape = texts->shape[event->id & 4095u];

	return shape && shape->type == event->type ? shape : chrome_shape_render(texts, event->type);
}

static inline const struct chrome_call *chrome_call_of(struct chrome_texts *texts, const struct ktread *trace,
						       uint64_t number)
{
	if (number >= CALLS_CACHED)
		return NULL;
	return texts->call[number] ? texts->call[number] : chrome_call_render(texts, trace, (uint32_t)number);
}

/* Writes the value of a field. Requires: the field's width is not 0. */
static inline __attribute__((always_inline)) char *
chrome_put_number(char *at, const struct chrome_field *field, const unsigned char *from)
{
	uint64_t number = base_load(from, field->width);

	if (field->form == CHROME_ADDRESS) {
		at = base_put_hex(at, number);
		*at = '"';
		return at + 1;
	}
	if (field->form == CHROME_SIGNED && (int64_t)(number << field->unused) < 0) {
		*at++ = '-';
		number = (0 - number) << field->unused >> field->unused;
	}
	/* The two functions below are inlined, because callers would have to save registers for a call. */
	return number < 1000000 ? base_put_middle(at, (uint32_t)number) : base_put_large(at, number);
}

/* Copies the text of a piece. Overwrites up to CHROME_PIECE bytes after the copied text. */
static inline char *chrome_put_piece(char *at, struct chrome_piece piece)
{
	memcpy(at, piece.text, CHROME_PIECE);
	for (uint32_t done = CHROME_PIECE; __builtin_expect(done < piece.length, 0); done += CHROME_PIECE)
		memcpy(at + done, piece.text + done, CHROME_PIECE);
	return at + piece.length;
}

/*
 * The open spans of each row of a Chrome trace. Viewers pair the end of a span with the newest open span of
 * the same row; some viewers require that both have the same name. So the name is stored when a span begins,
 * and is written again at the span's end. If no span is open, no end is written.
 */

#define CHROME_ROWS_NAME 96u

struct chrome_rows_span {
	/* cached text ,"name":"…"; if `rendered.text` is NULL, `name` is used instead */
	struct chrome_piece rendered;
	char name[CHROME_ROWS_NAME]; /* name of the span, if `rendered.text` is NULL */
};

/*
 * The open spans of one row; the last span is the innermost span. A structure whose bytes are all zero is
 * ready for use.
 */
struct chrome_rows_open {
	struct chrome_rows_span *span;
	uint32_t depth, room;
};

struct chrome_rows_row {
	uint32_t pid;
	uint64_t tid;
	struct chrome_rows_open open;
};

/*
 * Open spans of all rows except the threads' own rows. A structure whose bytes are all zero is ready for use.
 */
struct chrome_rows {
	struct chrome_rows_row *row;
	uint32_t rows, room;
	struct base_index index; /* the rows; each is found by its pid and tid */
};

/*
 * Returns the row with this pid and tid. If it does not exist and `make` is set, makes it. Returns NULL if
 * the row does not exist and `make` is 0, or if out of memory. The row is valid until the next call with
 * `make` set.
 */
struct chrome_rows_open *chrome_rows_find(struct chrome_rows *rows, uint32_t pid, uint64_t tid, int make);
void chrome_rows_free(struct chrome_rows *rows);

/* Allocates space for one more span. Returns 0 or KTREAD_E_MEMORY. */
int chrome_rows_grow(struct chrome_rows_open *open);
/*
 * Begins a span with a copy of `name`, truncated to CHROME_ROWS_NAME - 1 bytes. Returns 0 or KTREAD_E_MEMORY.
 */
int chrome_rows_begin(struct chrome_rows_open *open, const char *name);

/*
 * Begins a span with a cached name, whose text must live until the span ends. Returns 0 or KTREAD_E_MEMORY.
 */
static inline int chrome_rows_begin_rendered(struct chrome_rows_open *open, struct chrome_piece rendered)
{
	if (__builtin_expect(open->depth == open->room, 0) && chrome_rows_grow(open) < 0)
		return KTREAD_E_MEMORY;
	open->span[open->depth++].rendered = rendered;
	return 0;
}

/*
 * Ends the span that began last. Returns this span, or NULL if none is open. The returned span is valid until
 * another span begins.
 */
static inline const struct chrome_rows_span *chrome_rows_end(struct chrome_rows_open *open)
{
	return open->depth ? &open->span[--open->depth] : NULL;
}

/* The Trace Event Format: one object per line, times in microseconds. */

struct chrome {
	struct ktread *trace;
	struct export_report *report;
	struct base_output out;
	uint64_t base;
	/* converts ticks to nanoseconds; if the frequency is unknown, a tick is written as a nanosecond */
	struct base_ticks_scale scale;
	/* 1 if an object was written, so that the next object needs a comma before it */
	int begun;
	/* start, in nanoseconds, of the microsecond whose text is in `digits` */
	uint64_t microsecond;
	char digits[BASE_PUT_SCRATCH]; /* text of that microsecond, with the decimal point */
	uint32_t digits_length;	       /* length of `digits`; 0 if there is no text yet */
};

/* Returns the time since the first event in nanoseconds. */
static inline uint64_t chrome_time(const struct chrome *chrome, uint64_t stamp)
{
	uint64_t ticks = stamp > chrome->base ? stamp - chrome->base : 0;

	return chrome->scale.frequency ? base_ticks_nanoseconds(&chrome->scale, ticks) : ticks;
}

/* Writes nanoseconds as microseconds: "12345.678". */
static inline char *chrome_put_microseconds(char *at, uint64_t nanoseconds)
{
	at = base_put_decimal(at, nanoseconds / 1000);
	*at = '.';
	return base_put_three(at + 1, (uint32_t)(nanoseconds % 1000));
}

/* Writes a time that is not in the cached microsecond, and caches the microsecond of this time. */
char *chrome_put_new_time(struct chrome *chrome, char *at, uint64_t nanoseconds);

/* Writes the time of an event. Caches the digits, because the next event is often in the same microsecond. */
static inline char *chrome_put_time(struct chrome *chrome, char *at, uint64_t nanoseconds)
{
	if (__builtin_expect(nanoseconds - chrome->microsecond >= 1000 || chrome->digits_length == 0, 0))
		return chrome_put_new_time(chrome, at, nanoseconds);
	memcpy(at, chrome->digits, sizeof(chrome->digits));
	return base_put_three(at + chrome->digits_length, (uint32_t)(nanoseconds - chrome->microsecond));
}

/* Starts an object on a line of its own. */
static inline char *chrome_begin(struct chrome *chrome)
{
	char *at = base_output_line(&chrome->out);

	memcpy(at, ",\n", 2);
	at += chrome->begun ? 2 : 0;
	chrome->begun = 1;
	return at;
}

/*
 * Names the row of a process or, if `tid` is not negative, of a thread. `what` is "process_name" or
 * "thread_name".
 */
void chrome_name(struct chrome *chrome, const char *what, int64_t pid, int64_t tid, const char *name);

/*
 * Shared by the files that write events in the Trace Event Format. Rows by process:
 *
 *	0  CPUs: a slice for each time that a thread runs
 *	1  threads: system calls and faults as spans, on whatever CPU they ran, and all other events as
 *	   instants
 *	2  interrupts, by CPU: their spans, and the events that occurred in them
 *	3  locks: a row for each lock that a thread waits for or holds
 *	4  functions of hardware traces that are merged into the trace
 *	5  waits: a slice for each time that a thread sleeps, from leaving its CPU to its wakeup
 *
 * If the kernel described a process, its threads have their rows in a process with that name, whose number is
 * ROW_PROCESSES plus the process's number.
 *
 * Each end of a span has a beginning with the same name on the same row (struct chrome_rows). Spans that are
 * open at the end of the trace are ended there. Slices have a duration, so they are written when they end.
 *
 * host/analyze decides which spans and flows exist and how gaps affect them; this code only writes them.
 */

#define ROW_CPUS       0u
#define ROW_THREADS    1u
#define ROW_INTERRUPTS 2u
#define ROW_LOCKS      3u
#define ROW_FUNCTIONS  4u
#define ROW_WAITS      5u
/* number to add to the id of a process that the kernel described; larger than any thread id */
#define ROW_PROCESSES 10000000u
#define LOCK_LANES    8u /* number of rows of process 3 that are reserved for each thread */
/* lane for the waits of a thread (a lane is one of the rows of a thread); no lock uses this lane */
#define LANE_WAITS 7u
/*
 * number of the first row of process 3 that shows locks of interrupts; larger than the number of any thread's
 * row
 */
#define ROW_CPU_LOCKS 0x40000000u

/* A period in which a thread runs on a CPU. */
struct chrome_slice {
	uint64_t since;
	uint32_t thread, index; /* `thread`: id of the thread; `index`: its index, as for threads_at() */
	bool open;
};

/* A period in which a thread sleeps. */
struct chrome_wait {
	uint64_t since;
	uint64_t object; /* object for which the thread waits; 0 if the trace does not contain it */
	/* id of the flow from the wakeup to the next time that the thread runs; 0 if there is none */
	uint64_t flow;
	uint8_t state; /* enum threads_state of the thread while it sleeps */
	bool open;
};

#define CHROME_ROW_TEXT 48u /* number of bytes that one copy operation copies */

/* A row of the viewer. */
struct chrome_row {
	struct chrome_rows_open open; /* open spans of the row; used only if `own` is true */
	uint32_t pid;
	uint64_t tid;
	bool own;		    /* true if the row is a thread's own row */
	uint8_t length;		    /* length of `text`; 0 if the row does not exist yet */
	char text[CHROME_ROW_TEXT]; /* the members that identify the row: ,"pid":1,"tid":12 */
};

/* Data about one thread. */
struct chrome_place {
	struct chrome_row row; /* the thread's own row; valid if `row.own` is true */
	struct chrome_wait wait;
	/*
	 * cached text that ends the object of a slice:
	 * ,"name":"init (1)","cat":"sched","args":{"thread":1}}; NULL if it is not cached
	 */
	char *label;
	uint32_t label_length;
	uint8_t named; /* bit map of the thread's lanes whose rows have been given a name */
};

struct chrome_ring {
	uint64_t seen; /* timestamp of the ring's last event; 0: no event yet */
	uint64_t held; /* number of slots that were lost before hidden events, and are not reported yet */
	uint64_t lost; /* number of slots that were lost before the ring's events so far */
	uint32_t cpu;  /* if `shown` is true: CPU of the last event that is not hidden */
	bool shown;    /* true if there is a filter, and an event of the ring was read that is not hidden */
	bool beside;
	/*
	 * true if slots are missing around the ring's next event. This event is the first event of a ring
	 * whose beginning was overwritten, or a rare event that is older than the first event of such a ring.
	 */
	bool apart;
};

struct chrome_writer {
	struct chrome *chrome;
	struct threads *threads;
	struct gaps *gaps;
	struct spans *spans;
	struct flows flows;
	struct files *files;
	struct files_path path; /* path of the file to which the current event applies */
	struct processes *processes;
	struct functions functions;
	struct shown shown;
	uint64_t function_tracks;
	struct chrome_place *place; /* the threads, indexed by the thread's index */
	uint32_t places;
	struct chrome_row row;	 /* the row that chrome_row_make() made last */
	struct chrome_rows rows; /* open spans of all rows except the threads' own rows */
	/* true if the trace has a table of system calls, which may contain types of arguments and results */
	bool typed;
	/* true if types or paths may be added to the arguments of events */
	bool inferred;
	bool wakes;	 /* true if the current event is a wakeup */
	uint64_t woken;	 /* id of the flow that begins at the current event; 0 if none begins */
	uint64_t events; /* number of events written so far */
	int error;	 /* the first error: 0 or KTREAD_E_MEMORY */
	struct chrome_ring *ring;
	/* ids of ktrace.switched and ktrace.stopped; UINT32_MAX if the trace does not have them */
	uint32_t switched, stopped;
	struct threads_heads heads;
	struct chrome_slice running[THREADS_CPUS_MAX];
	/* indexed by CPU: the CPU's row in process ROW_CPUS, if it has been made */
	struct chrome_row cpu[THREADS_CPUS_MAX];
	bool interrupts_named[THREADS_CPUS_MAX];
	struct wellknown_table known;
	struct chrome_texts texts;
};

/* ---- Rows (chrome_text.c) --------------------------------------------------------------------- */

/* Allocates the data about a thread. Returns false if out of memory. */
bool chrome_places_reserve(struct chrome_writer *writer, uint32_t index);
void chrome_places_free(struct chrome_writer *writer);
/* Writes the name and the number of a thread, such as "init (1)". */
void chrome_thread_label(const struct chrome_writer *writer, uint32_t thread, char *text, size_t size);
/*
 * Each of these functions returns a row, and makes it if it does not exist. The row is valid until the next
 * row is made. For an unknown CPU, `cpu` is THREADS_CPUS_MAX.
 */
struct chrome_row *chrome_row_make(struct chrome_writer *writer, uint32_t pid, uint64_t tid);
struct chrome_row *chrome_row_of_cpu(struct chrome_writer *writer, uint32_t cpu);
struct chrome_row *chrome_row_of_interrupts(struct chrome_writer *writer, uint32_t cpu);
/*
 * Returns a row of a thread. Lane 0 is the thread's own row, lane LANE_WAITS is the row of its waits, and
 * every other lane is the row of a lock.
 */
struct chrome_row *chrome_row_of_lane(struct chrome_writer *writer, uint32_t index, unsigned lane);

static inline struct chrome_row *chrome_row_of(struct chrome_writer *writer, struct spans_owner owner,
					       unsigned lane)
{
	if (owner.cpu && lane)
		return chrome_row_make(writer, ROW_LOCKS, ROW_CPU_LOCKS + owner.number * LOCK_LANES + lane);
	if (owner.cpu)
		return chrome_row_of_interrupts(writer, owner.number);
	if (lane == 0 && owner.number < writer->places && writer->place[owner.number].row.own)
		return &writer->place[owner.number].row;
	return chrome_row_of_lane(writer, owner.number, lane);
}

/* ---- Objects (chrome.c) ----------------------------------------------------------------- */

/* Returns the cached text of an event's descriptor; NULL if there is none. */
static inline const struct chrome_shape *chrome_writer_shape(struct chrome_writer *writer,
							     const struct ktread_event *event)
{
	return chrome_shape_of(&writer->texts, event);
}

static inline char *chrome_put_row(char *at, const struct chrome_row *row)
{
	memcpy(at, row->text, CHROME_ROW_TEXT);
	return at + row->length;
}

/* Writes the common beginning: {"ph":"B","ts": */
static inline char *chrome_put_phase(struct chrome_writer *writer, char phase)
{
	/*
	 * begins with a comma, because the names of processes precede all events, so this object is never the
	 * first object
	 */
	char *at = base_put_literal(base_output_line(&writer->chrome->out), ",\n{\"ph\":\"?\",\"ts\":");

	at[-8] = phase;
	return at;
}

/* Begins an object: {"ph":"B","ts":1.234,"pid":1,"tid":12 */
static inline __attribute__((always_inline)) char *
chrome_put_head(struct chrome_writer *writer, char phase, const struct chrome_row *row, uint64_t stamp)
{
	char *at = chrome_put_phase(writer, phase);

	return chrome_put_row(chrome_put_time(writer->chrome, at, chrome_time(writer->chrome, stamp)), row);
}

/* Begins a slice: {"ph":"X","ts":1.234,"pid":1,"tid":12,"dur":5.678 */
static inline char *chrome_put_slice(struct chrome_writer *writer, const struct chrome_row *row,
				     uint64_t since, uint64_t until)
{
	const uint64_t from = chrome_time(writer->chrome, since), to = chrome_time(writer->chrome, until);
	char *at = chrome_put_microseconds(chrome_put_phase(writer, 'X'), from);

	at = base_put_literal(chrome_put_row(at, row), ",\"dur\":");
	return chrome_put_microseconds(at, to > from ? to - from : 0);
}

/* Ends an object. */
static inline void chrome_finish(struct chrome_writer *writer, char *at)
{
	*at = '}';
	base_output_done(&writer->chrome->out, at + 1);
}

/*
 * Completes an object with a lead and the arguments of an event. `shape`: cached text of the event's
 * descriptor; NULL if there is none.
 */
void chrome_finish_event(struct chrome_writer *writer, char *at, const struct ktread_event *event,
			 const struct chrome_shape *shape, enum chrome_lead lead);

/*
 * Begins the object for the beginning of a span on a row. The caller then writes the span's name, which is
 * `name` or, if `name` is NULL, `rendered`. Returns NULL if out of memory: the caller must then write
 * nothing.
 */
static inline char *chrome_put_begin(struct chrome_writer *writer, struct chrome_row *row, uint64_t stamp,
				     struct chrome_piece rendered, const char *name)
{
	struct chrome_rows_open *open =
		row->own ? &row->open : chrome_rows_find(&writer->rows, row->pid, row->tid, 1);

	if (open && (name ? chrome_rows_begin(open, name) : chrome_rows_begin_rendered(open, rendered)) == 0)
		return chrome_put_head(writer, 'B', row, stamp);
	writer->error = KTREAD_E_MEMORY;
	return NULL;
}

/*
 * Begins the object for the end of a span on a row, and writes the span's name. Returns NULL if no span is
 * open on the row.
 */
static inline char *chrome_put_end(struct chrome_writer *writer, struct chrome_row *row, uint64_t stamp)
{
	struct chrome_rows_open *open =
		row->own ? &row->open : chrome_rows_find(&writer->rows, row->pid, row->tid, 0);
	const struct chrome_rows_span *span = open ? chrome_rows_end(open) : NULL;
	char *at;

	if (!span)
		return NULL;
	at = chrome_put_head(writer, 'E', row, stamp);
	return span->rendered.text ? chrome_put_piece(at, span->rendered)
				   : base_json_name(base_put_literal(at, ",\"name\":"), span->name);
}

/* ---- Spans (chrome_spans.c) -------------------------------------------------------------------- */

void chrome_span_begin(void *writer, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		       const struct ktread_event *event);
void chrome_span_end(void *writer, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		     const struct ktread_event *event, uint64_t time);

/* ---- Threads that run and wait (chrome_spans.c) ------------------------------------------------ */

void chrome_thread_changed(void *writer, const struct threads_change *change);
/* Ends the slices and waits that are open at the end of the trace. */
void chrome_close_sched(struct chrome_writer *writer, uint64_t last);

/* Writes that slots of a CPU were lost before this time. */
void chrome_put_lost(struct chrome_writer *writer, uint32_t cpu, uint64_t stamp, uint64_t slots);
/*
 * Writes the slots that were lost before the last hidden events of each ring, and those that are missing at
 * its end. `whole`: true if the trace was read to its end.
 */
void chrome_write_losses(struct chrome_writer *writer, uint64_t last, bool whole);

#endif
