/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the files that write events in the Trace Event Format share. Rows, by process:
 *
 *	0  CPUs: which thread runs, a slice each time
 *	1  threads: system calls and faults as spans, whichever CPU they ran on, and all other events as instants
 *	2  interrupts, by CPU: their spans, and the events that fired in them
 *	3  locks, a row for each that a thread waits for or holds
 *	4  functions of hardware traces that are shown beside the events
 *	5  waits: a slice each time a thread sleeps, from when it leaves its CPU until it is woken
 *
 * Threads of a process that the kernel described have their rows in a process that is named after it, numbered ROW_PROCESSES and its
 * number.
 *
 * Every end that is written closes a beginning of its name on its row (export/chrome_rows.h); what is open at the end of the trace
 * is ended there. Slices, which have a duration, are written once they are over.
 *
 * analyze/ decides which spans and flows there are, and what a gap does to them; here they are only written.
 */
#ifndef EXPORT_CHROME_WRITER_H
#define EXPORT_CHROME_WRITER_H

#include <stdbool.h>

#include "analyze/files.h"
#include "analyze/flows.h"
#include "analyze/processes.h"
#include "analyze/scheduling.h"
#include "analyze/spans.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "export/chrome.h"
#include "export/chrome_rows.h"
#include "export/chrome_text.h"
#include "export/functions.h"
#include "base/json.h"

#define ROW_CPUS       0u
#define ROW_THREADS    1u
#define ROW_INTERRUPTS 2u
#define ROW_LOCKS      3u
#define ROW_FUNCTIONS  4u
#define ROW_WAITS      5u
#define ROW_PROCESSES  10000000u   /* above any thread's number */
#define LOCK_LANES     8u	   /* rows of process 3 that belong to one thread */
#define LANE_WAITS     7u	   /* no lock's: the thread's row in process 5 */
#define ROW_CPU_LOCKS  0x40000000u /* in process 3, above any thread's: locks that interrupts hold */

/* A thread runs on a CPU. */
struct chrome_slice {
	uint64_t since;
	uint32_t thread, index; /* its id, and its index */
	bool open;
};

/* A thread sleeps. */
struct chrome_wait {
	uint64_t since;
	uint64_t object; /* what for; 0: it did not announce it */
	uint64_t flow;	 /* of the wakeup that ended it, until the thread runs; 0: none */
	uint8_t state;	 /* enum threads_state while it sleeps */
	bool open;
};

#define CHROME_ROW_TEXT 48u /* bytes that are copied at once */

/* A row of the trace. */
struct chrome_row {
	struct chrome_rows_open open; /* if it is `own` */
	uint32_t pid;
	uint64_t tid;
	bool own;		    /* it is a thread's own row */
	uint8_t length;		    /* of `text`; 0: the row is not made yet */
	char text[CHROME_ROW_TEXT]; /* ,"pid":1,"tid":12 */
};

/* What is kept of a thread. */
struct chrome_place {
	struct chrome_row row; /* its own, once `row.own` is set */
	struct chrome_wait wait;
	char *label; /* ,"name":"init (1)","cat":"sched","args":{"thread":1}} or NULL */
	uint32_t label_length;
	uint8_t named; /* a bit for each lane whose row has a name */
};

struct chrome_ring {
	uint64_t seen; /* stamp of the last event, 0: none yet */
	bool beside;
};

struct chrome_writer {
	struct chrome *chrome;
	struct threads *threads;
	struct scheduling *scheduling;
	struct spans *spans;
	struct flows flows;
	struct files *files;
	struct files_path path; /* of the file that the current event uses */
	struct processes *processes;
	struct functions functions;
	uint64_t function_tracks;
	struct chrome_place *place; /* by index of the thread */
	uint32_t places;
	struct chrome_row row;	 /* the last one that was made, if it is no thread's own */
	struct chrome_rows rows; /* spans that are open on all rows but the threads' own */
	bool typed;		 /* the trace describes system calls */
	bool inferred;	/* it describes them, or files: arguments may have more than the event's fields */
	bool wakes;	/* the event at hand is a wakeup */
	uint64_t woken; /* flow that begins at it; 0: none */
	uint32_t version;
	uint64_t events; /* so far */
	int error;	 /* 0 or KTREAD_E_MEMORY */
	struct chrome_ring *ring;
	struct chrome_slice running[THREADS_CPUS_MAX];
	struct chrome_row cpu[THREADS_CPUS_MAX]; /* in process ROW_CPUS, once they are made */
	bool interrupts_named[THREADS_CPUS_MAX];
	struct wellknown_table known;
	struct chrome_texts texts;
};

/* ---- Rows (chrome_place.c) --------------------------------------------------------------------- */

/* Makes room for what is kept of a thread. False: out of memory. */
bool chrome_places_reserve(struct chrome_writer *writer, uint32_t index);
void chrome_places_free(struct chrome_writer *writer);
/* "init (1)" */
void chrome_thread_label(const struct chrome_writer *writer, uint32_t thread, char *text, size_t size);
/* Rows are valid until the next one is made; `cpu`: up to THREADS_CPUS_MAX, for an unknown one. */
struct chrome_row *chrome_row_make(struct chrome_writer *writer, uint32_t pid, uint64_t tid);
struct chrome_row *chrome_row_of_cpu(struct chrome_writer *writer, uint32_t cpu);
struct chrome_row *chrome_row_of_interrupts(struct chrome_writer *writer, uint32_t cpu);
/* Lane 0 is the thread's own row, LANE_WAITS that of its waits, the others are its locks'. */
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

/* ---- Objects (chrome_object.c) ----------------------------------------------------------------- */

/* The shape of an event, or NULL. */
static inline const struct chrome_shape *chrome_writer_shape(struct chrome_writer *writer,
							     const struct ktread_event *event)
{
	return chrome_shape_of(&writer->texts, event, writer->version);
}

static inline char *chrome_put_row(char *at, const struct chrome_row *row)
{
	memcpy(at, row->text, CHROME_ROW_TEXT);
	return at + row->length;
}

/* {"ph":"B","ts": */
static inline char *chrome_put_phase(struct chrome_writer *writer, char phase)
{
	/* It is never the first object: the names of processes come before it. */
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

/* Ends an object with the lead (which see) and the arguments of an event. `shape`: of the event, or NULL. */
void chrome_finish_event(struct chrome_writer *writer, char *at, const struct ktread_event *event,
			 const struct chrome_shape *shape, enum chrome_lead lead);

/*
 * Begins an object for a span that begins on a row. Its name, which the caller writes, is `name`, or `rendered` if that is NULL.
 * NULL: nothing is to be written, because memory is short.
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

/* Begins an object for a span that ends on a row, with its name. NULL: none is open there. */
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

/* ---- Spans (chrome_spans.c), hardware traces beside events (chrome_functions.c) ------------------ */

void chrome_span_begin(void *writer, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		       const struct ktread_event *event);
void chrome_span_end(void *writer, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		     const struct ktread_event *event, uint64_t time);
/* 0 or KTREAD_E_MEMORY. */
int chrome_write_function(struct chrome_writer *writer, const struct ktread_event *event);
void chrome_close_functions(struct chrome_writer *writer, uint64_t last);

/* ---- Threads that run and wait (chrome_sched.c) ------------------------------------------------ */

void chrome_thread_changed(void *writer, const struct threads_change *change);
/* Ends slices and waits that are open at the end of the trace. */
void chrome_close_sched(struct chrome_writer *writer, uint64_t last);

#endif
