/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A trace as text, a line an event, merged over all CPUs, with groups, thread names, contexts, and a line of
 * its own wherever records are missing.
 */
#ifndef EXPORT_TIMELINE_H
#define EXPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cost.h"
#include "analyze/symbols.h"
#include "base/output.h"
#include "base/put.h"
#include "base/ticks.h"
#include "ktread/ktread.h"

#define TIMELINE_CPUS	   4096u	       /* bits in a map of CPUs */
#define TIMELINE_NO_SECOND (UINT64_C(1) << 63) /* far from the microseconds of any trace */

/* "[    7." and the microsecond at which that second begins. */
struct timeline_second {
	uint64_t begin;
	uint32_t length;
	char text[12];
};

struct timeline {
	struct ktread *trace;
	struct base_output *out;
	uint64_t limit;		  /* events to show, 0: all */
	const uint8_t *cpus;	  /* bit map of the CPUs that are wanted, NULL: all; their losses are told */
	int filtered;		  /* some events are not wanted */
	int zero_ticks;		  /* with an unknown frequency show zeros instead of ticks */
	struct symbols *symbols;  /* names for addresses, NULL: none */
	int colour;		  /* gaps stand out on a terminal */
	struct cost_meter *meter; /* takes the trace's own cost off the times, NULL: it stays in them */
	uint64_t shown;		  /* result: events shown */
	uint64_t last;		  /* result: stamp of the last one */
	uint64_t lost;		  /* result: slots known to be lost or unreadable, all rings */
	/* Set by timeline_write(). */
	uint64_t base; /* the stamp shown as zero */
	struct base_ticks_scale scale;
	struct timeline_second second; /* the one that lines are in now */
};

/*
 * Writes the events that pass the trace's filter. Returns what the last ktread_next() said: 0 at the end, 1
 * if `limit` or a failed write ended it, or a negative KTREAD_E_*. The caller looks at out->error.
 */
int timeline_write(struct timeline *timeline);

/* Has the times begin with the trace's first event. */
void timeline_begin(struct timeline *timeline);

/* The exact way: renders anew what timeline->second holds. */
char *timeline_put_new_second(struct timeline *timeline, char *at, uint64_t ticks);

/* "[    0.066302] " or, for an unknown frequency, "[      123456] ". */
static inline char *timeline_put_time(struct timeline *timeline, char *at, uint64_t stamp)
{
	const struct timeline_second *second = &timeline->second;
	uint64_t ticks = stamp > timeline->base ? stamp - timeline->base : 0;
	uint64_t past = base_ticks_microseconds(&timeline->scale, ticks) - second->begin;

	if (__builtin_expect(past >= 1000000, 0))
		return timeline_put_new_second(timeline, at, ticks);
	memcpy(at, second->text, sizeof(second->text));
	at = base_put_six(at + second->length, (uint32_t)past);
	return base_put_literal(at, "] ");
}

/*
 * For who has events from elsewhere, one by one: the lines of the timeline, without gaps. Its trace may not
 * change while it is open. NULL: without memory.
 */
struct timeline_writer;
struct timeline_writer *timeline_writer_open(struct timeline *timeline);
void timeline_writer_event(struct timeline_writer *writer, const struct ktread_event *event);
/* Threads may have got other names since. */
void timeline_writer_forget_names(struct timeline_writer *writer);
void timeline_writer_close(struct timeline_writer *writer);

/* The stamp to be shown for an event. Each event once, in order. */
static inline uint64_t timeline_stamp(const struct timeline *timeline, const struct ktread_event *event)
{
	return __builtin_expect(timeline->meter != NULL, 0) ? cost_taken_off(timeline->meter, event)
							    : event->stamp;
}

/* Are losses of this ring of interest? */
static inline int timeline_wants_ring(const struct timeline *timeline, const struct ktread_ring *ring)
{
	uint32_t cpu = ring->cpu;

	return !timeline->cpus || (cpu < TIMELINE_CPUS && timeline->cpus[cpu / 8] >> cpu % 8 & 1);
}

/* ---- Phrases ---- */

/*
 * An event's text taken apart once, so that filling in values costs little. Says exactly what ktread_format()
 * says; texts with flags, widths or precisions, and payloads cut short, are left to that.
 */

#define PHRASE_BYTES 4096u /* most that phrase_put() writes */

struct phrase;

/* NULL if the text is not plain, or without memory. The type must outlive the phrase. */
struct phrase *phrase_compile(const struct ktread_type *type);
void phrase_free(struct phrase *phrase);
/* The end of the text at `at`, or NULL if the payload is too short for it. */
char *phrase_put(const struct phrase *phrase, char *at, const struct ktread_event *event);

/* ---- Repetitions ---- */

/* The library's event ktrace.repeat: how often an event came again, unchanged, without a record. */
struct repeat {
	uint64_t id;	      /* of the event */
	uint64_t more;	      /* how often */
	uint64_t first, last; /* stamps of the CPU's counter, as recorded */
};

/* Its row; NULL: the trace's kernel has none. */
const struct ktread_type *repeat_type(const struct ktread *trace);
/* False: it is another event, or damaged. */
bool repeat_of(const struct ktread_event *event, struct repeat *repeat);

/* In words: repetitions that a record tells, and those that nothing has ended. */

/* "lock.acquire: 199 more in 0.000175 s"; NULL: the event does not tell repetitions. */
char *repeats_put(char *at, const struct ktread *trace, const struct ktread_event *event);

/* A line for each event that was still repeating. 0, or an error of the reader. */
int repeats_write(struct base_output *out, struct ktread *trace);

/* ---- A trace as bytes: each event's text, then its slots in hexadecimal, field by field ---- */

/* As timeline_write(). Events whose slots cannot be read are their text alone. */
int slots_write(struct timeline *timeline);

/* ---- Places ---- */

/*
 * The addresses that an event carries, as people read them:
 *
 *	 <- mutex_lock+0x1c (lock.c:40) <- do_write+0x88 (file.c:113) @ sched_block+0x5a (sched.c:210)
 *
 * first who called the function with the event, then who called that, then where the event stands. Without
 * the kernel's file: addresses, and the line that declares the event. A file of another build: each name with
 * a question mark.
 */

/* Appends them to a line; nothing if it carries none. At most 2 KiB. */
char *places_put(char *at, const struct ktread_event *event, struct symbols *symbols);

/* The same as members of a JSON object, each with a comma before it. At most 8 KiB. */
char *places_put_json(char *at, const struct ktread_event *event, struct symbols *symbols);

#endif
