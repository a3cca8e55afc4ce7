/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads a trace once, and calls an output format's callbacks for states of threads, spans, instants,
 * counters, and missing events. The models of host/analyze find the states and spans, and handle losses; the
 * format only writes them.
 *
 *	struct walk walk;
 *	error = walk_open(&walk, trace, &sink);
 *	if (!error)
 *		error = walk_run(&walk);
 *	walk_close(&walk, report);
 */
#ifndef EXPORT_WALK_H
#define EXPORT_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/flows.h"
#include "analyze/names.h"
#include "analyze/scheduling.h"
#include "analyze/spans.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "base/ticks.h"
#include "export/export.h"
#include "export/shown.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/*
 * Converts ticks of the counter to nanoseconds since the counter was zero. Each event gets a time at least 2
 * ns later than the previous event, even if a slow counter gave both the same timestamp. So events keep their
 * order if a reader sorts them by time.
 */

struct walk_clock {
	struct base_ticks_scale scale;
	uint64_t last; /* time returned for the previous event */
};

/* maximum time that is written, far below the largest signed 64-bit number */
#define WALK_TIME_MAX (INT64_MAX / 2)

/* Prepares a clock. If the frequency is unknown (0), a tick is converted to a nanosecond. */
static inline void walk_clock_init(struct walk_clock *clock, uint64_t frequency)
{
	clock->last = 0;
	base_ticks_scale_init(&clock->scale, frequency ? frequency : 1000000000u);
}

static inline uint64_t walk_clock_ns(const struct walk_clock *clock, uint64_t stamp)
{
	const uint64_t time = base_ticks_nanoseconds(&clock->scale, stamp);

	return time < WALK_TIME_MAX / 1000000000u * 1000000000u ? time : WALK_TIME_MAX;
}

static inline uint64_t walk_clock_event(struct walk_clock *clock, uint64_t stamp)
{
	uint64_t time = walk_clock_ns(clock, stamp);

	if (time < clock->last + 2)
		time = clock->last + 2;
	clock->last = time;
	return time;
}

/* A report that something is missing in the trace. */
enum walk_missing_kind {
	WALK_LOST,	  /* slots that were lost, except those of WALK_OVERWRITTEN */
	WALK_OVERWRITTEN, /* slots at the beginning of a ring, which newer records replaced by design */
	WALK_DROPPED,	  /* records that a full ring refused */
	WALK_LEFT_OUT,	  /* events of threads or CPUs that the models do not track; these have no CPU */
};

struct walk_missing {
	enum walk_missing_kind kind;
	uint32_t cpu; /* CPU of the missing events; THREADS_CPUS_MAX if unknown */
	uint64_t count;
	uint64_t from; /* time of the CPU's last event before the gap; 0 if there was none */
	uint64_t until;
};

/*
 * The state of a thread that does not run is unknown, because slots of any CPU are missing or events were
 * switched off, so that events at that time may have changed the state, or because a hidden event changed it.
 */
struct walk_unknown {
	const struct threads_thread *thread; /* never thread 0 */
	/* `until`: time of the thread's next state; WALK_TIME_MAX if there is none */
	uint64_t from, until;
	/*
	 * CPU whose slots are missing from `from` to `cpu_until`, so that nothing is known about it either;
	 * THREADS_CPUS_MAX if there is none
	 */
	uint32_t cpu;
	uint64_t cpu_until;
};

/* Words that describe each kind of gap, for example "lost" and "slots". */
struct walk_missing_words {
	const char *name, *unit;
};
extern const struct walk_missing_words walk_missing_words[];

/*
 * The format's callbacks; `context` is the first argument of each. A callback may set walk->error. Callbacks
 * that a format does not need, other than `thread`, `begin` and `end`, may be NULL.
 */
struct walk_sink {
	void *context;
	/*
	 * true if the format judges with walk->gaps which durations are certain, as `ktrace sql` does. Then
	 * only lost slots between two events of a ring end states and spans.
	 */
	bool judges;
	/* Called for each event that is not hidden, before the other callbacks for this event. */
	void (*event)(void *context, const struct ktread_event *event);
	/* The state of a thread changed. */
	threads_changed *thread;
	/*
	 * The state of a thread that does not run is unknown for some time. Called directly before the report
	 * of the thread's next state, so events of later times may have been reported already.
	 */
	void (*unknown)(void *context, const struct walk_unknown *unknown);
	/*
	 * A thread got a name or a process. `length` is 0 if the name is unknown; `process` is 0 if the event
	 * names none.
	 */
	void (*named)(void *context, const struct threads_thread *thread, const char *name, size_t length,
		      uint32_t process);
	/* A process has begun to run another program. */
	void (*runs)(void *context, const struct threads_thread *thread, uint32_t process, const char *path,
		     size_t length);
	/* The beginning and the end of a span, as in struct spans_sink. */
	void (*begin)(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		      const struct ktread_event *event);
	void (*end)(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		    const struct ktread_event *event, uint64_t time);
	/* An event that neither begins nor ends a span, and that calls of `thread` do not show completely. */
	void (*instant)(void *context, struct spans_owner owner, const struct ktread_event *event);
	/* An event of group "counter". */
	void (*counters)(void *context, const struct ktread_event *event);
	void (*missing)(void *context, const struct walk_missing *missing);
	/* Functions of hardware traces, as in struct functions_sink. */
	uint64_t (*function_track)(void *context, const char *name, uint64_t time);
	void (*function)(void *context, uint64_t track, enum functions_mark mark,
			 const struct ktread_event *event, uint64_t time);
};

struct walk_ring {
	uint64_t lost; /* number of the ring's lost slots before its events so far */
	/* gaps that are reported at the ring's next event that is not hidden */
	struct walk_missing *held;
	uint32_t helds, room;
	uint32_t cpu; /* CPU of the ring's last event that is not hidden */
	bool begun;   /* true if an event of the ring was read */
	bool shown;   /* true if an event of the ring was read that is not hidden */
	bool beside;  /* true if the ring holds functions of a hardware trace */
};

struct walk {
	struct ktread *trace;
	struct walk_sink sink;
	struct walk_clock clock;
	struct threads *threads;
	struct gaps *gaps;
	struct spans *spans;
	struct wellknown_table known;
	struct flows flows;
	struct files *files;
	struct flows_step flow; /* flow that begins or ends at the current event */
	struct files_path path; /* path of the file to which the current event applies */
	struct processes *processes;
	struct span_names names;
	struct walk_ring *rings;
	struct functions functions;
	struct shown shown;
	/*
	 * indexed by thread: time since when its state is unknown, if that is not reported yet; otherwise 0
	 */
	uint64_t *unknown;
	uint32_t unknowns;
	uint64_t stamp;			 /* timestamp of the current event */
	uint64_t seen[THREADS_CPUS_MAX]; /* time of the last event of each CPU; 0: no event yet */
	struct threads_heads heads;
	bool around;   /* true if slots of the current event's CPU are missing before and after it */
	uint64_t time; /* time of the current event in ns */
	uint64_t events;
	int error;	   /* 0, or the KTREAD_E_* that a callback has stored */
	const int *output; /* errno of the output; nonzero ends the walk early; may be NULL */
};

/* Creates the models. Returns 0 or a negative KTREAD_E_*. Call walk_close() even after an error. */
int walk_open(struct walk *walk, struct ktread *trace, const struct walk_sink *sink);
/*
 * Passes all events to the format, then what is missing at the end of the trace, and then the ends of all
 * spans and functions that are still open. Returns 0 or a negative KTREAD_E_*.
 */
int walk_run(struct walk *walk);
/* Frees the models, and stores their results. Requires: all bytes of `walk` were zero before walk_open(). */
void walk_close(struct walk *walk, struct export_report *report);

/*
 * Id of the kernel as a process. All threads for which no event names a process belong to it. The id is
 * larger than any thread id. In a trace with records_only, each thread is a process of its own instead.
 */
#define WALK_KERNEL_PID (KTRX_THREAD_MAX + 1u)

/* Returns the number of a CPU that the machine does not have. */
static inline uint32_t walk_spare_cpu(const struct walk *walk)
{
	const uint32_t cpus = ktread_info(walk->trace)->cpus;

	return cpus < THREADS_CPUS_MAX ? cpus : THREADS_CPUS_MAX - 1;
}

/* Returns the process to use for a thread if the event that creates the thread names no process. */
uint32_t walk_process_of(const struct walk *walk, uint32_t thread);

/* ---- Names of spans ---- */

#define WALK_NAME_MAX 128u /* maximum number of bytes of a name from the trace that are used */

enum walk_name_kind {
	WALK_NAME_TEXT,
	WALK_NAME_CALL, /* the name is that of system call `number` */
	WALK_NAME_IRQ,	/* the name is that of interrupt `number`, which has no name in the trace */
};

struct walk_name {
	enum walk_name_kind kind;
	uint64_t number; /* for WALK_NAME_CALL and WALK_NAME_IRQ: number of the call or interrupt */
	/* length of `text`; for WALK_NAME_CALL and WALK_NAME_IRQ, 0 before walk_name_text() is called */
	size_t length;
	char text[SPAN_NAMES_MOST]; /* text of the name: not escaped, and not terminated by a NUL */
};

/* Names the span that `event` begins. */
void walk_name_span(struct walk *walk, struct walk_name *name, const struct spans_span *span,
		    const struct ktread_event *event);
/* Writes the text of a name of any kind. */
void walk_name_text(const struct walk *walk, struct walk_name *name);

#endif
