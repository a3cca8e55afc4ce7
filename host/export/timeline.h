/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Events as lines of text and as JSON: system calls as a programmer writes them, the timeline, and events for
 * programs.
 */
#ifndef EXPORT_TIMELINE_H
#define EXPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analyze/note.h"
#include "analyze/symbols.h"
#include "analyze/wellknown.h"
#include "base/put.h"
#include "base/output.h"
#include "base/ticks.h"
#include "ktread/ktread.h"
#include "ktrx/v2.h"

/* ---- System calls ---- */

/*
 * Prints system calls as a programmer writes them: "read(3, 0x7ffc1000, 512)", "read = -4 EINTR".
 * The trace's table of system calls gives the types of arguments and results. The description of each call is
 * parsed once.
 * If the table has no types, or the event lacks some arguments, the caller prints the kernel's own text
 * instead.
 */

#define CALLS_ARGUMENTS 8u
#define CALLS_NAME	40u
/* limit: the form (struct calls_form) of a call is cached if the call's number is below this */
#define CALLS_CACHED 1024u

/* The name of a system call, and how to print its arguments and result. */
struct calls_form {
	uint8_t state;	/* an enum state of calls.c: how much is known about the call */
	uint8_t length; /* length of the name, in bytes */
	uint8_t count;	/* number of arguments */
	uint8_t result; /* how to print the result: enum how in calls.c */
	uint8_t argument[CALLS_ARGUMENTS];
	char name[CALLS_NAME]; /* the escaped name, followed by a space */
};

/* Types and payload offsets of a call's arguments, or of its result, for events with the id `id`. */
struct calls_shape {
	uint16_t id; /* event id; 0 if this structure is not filled in yet */
	uint8_t count;
	uint8_t type[CALLS_ARGUMENTS]; /* KTRX_TYPE_* */
	uint16_t offset[CALLS_ARGUMENTS];
	uint16_t end; /* minimum size of the payload in bytes */
};

struct calls {
	const struct ktread *trace;
	struct calls_shape enter, exit;
	struct calls_form form[CALLS_CACHED];
};

/*
 * Prepares `calls`. Requires: all bytes of `calls` are zero. Call this before calls_put() and
 * calls_put_name().
 */
static inline void calls_init(struct calls *calls, const struct ktread *trace)
{
	calls->trace = trace;
}

/*
 * Prints the call that begins or returns with `event`, with typed values. Returns the end of the text.
 * Returns NULL if the types of the call are unknown, if its name is too long, or if the event lacks
 * arguments.
 */
char *calls_put(struct calls *calls, char *at, uint32_t number, const struct wellknown *known,
		const struct ktread_event *event);

/*
 * Prints the call's name and a space: "read ". Prints nothing if the call has no name. Returns the end of the
 * text.
 */
char *calls_put_name(struct calls *calls, char *at, uint32_t number);

/* Reads numbers at known offsets in an event's payload. After a string, offsets are not known in advance. */

/* Returns the width of a value in bytes; 0 for strings and unknown types. */
static inline uint32_t payload_width(uint8_t type)
{
	static const uint8_t width[] = {
		[KTRX_TYPE_U8] = 1,   [KTRX_TYPE_U16] = 2,  [KTRX_TYPE_U32] = 4,     [KTRX_TYPE_U64] = 8,
		[KTRX_TYPE_I8] = 1,   [KTRX_TYPE_I16] = 2,  [KTRX_TYPE_I32] = 4,     [KTRX_TYPE_I64] = 8,
		[KTRX_TYPE_BOOL] = 1, [KTRX_TYPE_CHAR] = 1, [KTRX_TYPE_POINTER] = 8,
	};

	return type < sizeof(width) ? width[type] : 0;
}

/* Returns the number as a signed value. An unsigned number of 32 bits is converted to int, as %d does. */
static inline int64_t payload_signed(uint8_t type, const unsigned char *from)
{
	switch (type) {
	case KTRX_TYPE_U8:
	case KTRX_TYPE_BOOL:
	case KTRX_TYPE_CHAR:
		return (int64_t)base_load(from, 1);
	case KTRX_TYPE_I8:
		return (int8_t)base_load(from, 1);
	case KTRX_TYPE_U16:
		return (int64_t)base_load(from, 2);
	case KTRX_TYPE_I16:
		return (int16_t)base_load(from, 2);
	case KTRX_TYPE_U32:
	case KTRX_TYPE_I32:
		return (int32_t)base_load(from, 4);
	default:
		return (int64_t)base_load(from, 8);
	}
}

/*
 * Returns the number as an unsigned value. A number of up to 32 bits is promoted to int and then converted
 * to unsigned, as %u does.
 */
static inline uint64_t payload_unsigned(uint8_t type, const unsigned char *from)
{
	int64_t number = payload_signed(type, from);

	return payload_width(type) <= 4 ? (uint32_t)number : (uint64_t)number;
}

/* ---- The timeline ---- */

/*
 * Prints a trace as text: one line per event, merged over all CPUs, with groups, thread names and contexts.
 * Where records are missing, a line reports the gap.
 */

#define TIMELINE_CPUS 4096u /* number of CPUs, and of bits in a map of CPUs */
/* a time in microseconds that is later than any time in a trace */
#define TIMELINE_NO_SECOND (UINT64_C(1) << 63)

/* Cached text of a second, "[    7.", and the time in microseconds at which that second begins. */
struct timeline_second {
	uint64_t begin;
	uint32_t length;
	char text[12];
};

/* The id of an event: the number of its ring, and the index of its first slot. */
struct timeline_id {
	uint32_t ring;
	uint64_t index;
};

struct timeline {
	struct ktread *trace;
	struct base_output *out;
	uint64_t limit; /* maximum number of events to show; 0: no limit */
	/* bit map of the CPUs whose lost slots are reported; NULL: all CPUs */
	const uint8_t *cpus;
	int filtered;		 /* 1 if the trace has a filter that excludes some events */
	int zero_ticks;		 /* 1: if the frequency is unknown, print zeros instead of ticks */
	struct symbols *symbols; /* symbols for addresses; NULL: no symbols */
	bool ids;		 /* print "RING.SLOT" of each event; this id can be given to `ktrace goto` */
	/* events that are marked: their lines begin with ">"; NULL: no event is marked */
	const struct timeline_id *marked;
	uint32_t marked_count;
	/* subtracts the cost of tracing from the times; NULL: times are printed as recorded */
	struct cost_meter *meter;
	uint64_t shown; /* result: number of events printed */
	uint64_t last;	/* result: timestamp of the last event printed */
	uint64_t lost;	/* result: number of slots in all rings that were lost or unreadable */
	/* Members that timeline_write() sets. */
	uint64_t base; /* timestamp that is printed as time 0 */
	struct base_ticks_scale scale;
	/* text of the second of the last line, cached for the next line */
	struct timeline_second second;
};

/*
 * Writes the events that pass the trace's filter.
 * Returns 0 at the end of the trace, 1 if `limit` or a failed write ended the output, or a negative
 * KTREAD_E_*.
 * The caller checks out->error.
 */
int timeline_write(struct timeline *timeline);

/* Prepares the output of times: the timestamp of the trace's first event is printed as time 0. */
void timeline_begin(struct timeline *timeline);

/* Writes "> " if the event is marked, otherwise "  ". Writes nothing if no events are marked. */
char *timeline_put_mark(const struct timeline *timeline, char *at, const struct ktread_event *event);

/* Writes the time and updates timeline->second. */
char *timeline_put_new_second(struct timeline *timeline, char *at, uint64_t ticks);

/* Writes "[    0.066302] " or, if the frequency is unknown, "[      123456] ". */
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

/* Writes "RING.SLOT": the number of an event's ring, and the index of its first slot. */
static inline char *timeline_put_id(char *at, const struct ktread_event *event)
{
	at = base_put_decimal(at, event->ring);
	*at = '.';
	return base_put_decimal(at + 1, event->index);
}

/*
 * Writes the timeline line by line, without reporting gaps, for callers that have their own source of events.
 * The trace must not change while the writer is open. timeline_writer_open() returns NULL if memory runs out.
 */
struct timeline_writer;
struct timeline_writer *timeline_writer_open(struct timeline *timeline);
void timeline_writer_event(struct timeline_writer *writer, const struct ktread_event *event);
/* Discards cached thread names. Call this when threads may have new names. */
void timeline_writer_forget_names(struct timeline_writer *writer);
void timeline_writer_close(struct timeline_writer *writer);

/*
 * Returns the timestamp to print for an event. Requires: this function is called once for each event, in the
 * order of the trace.
 */
static inline uint64_t timeline_stamp(const struct timeline *timeline, const struct ktread_event *event)
{
	return __builtin_expect(timeline->meter != NULL, 0) ? cost_taken_off(timeline->meter, event)
							    : event->stamp;
}

/* Returns whether the timeline reports lost slots of this ring. */
static inline int timeline_wants_ring(const struct timeline *timeline, const struct ktread_ring *ring)
{
	uint32_t cpu = ring->cpu;

	return !timeline->cpus || (cpu < TIMELINE_CPUS && timeline->cpus[cpu / 8] >> cpu % 8 & 1);
}

/* ---- Phrases: parsed texts of events ---- */

/*
 * A phrase is the parsed text of an event type. It formats values faster than ktread_format(), with the same
 * result. Callers use ktread_format() for texts with flags, widths or precisions, and for truncated payloads.
 */

#define PHRASE_BYTES 4096u /* maximum number of bytes that phrase_put() writes */

struct phrase;

/*
 * Parses the text of `type`, which must outlive the phrase.
 * Returns NULL if the text is empty, too long or not plain (flags, widths, precisions), or if out of memory.
 */
struct phrase *phrase_compile(const struct ktread_type *type);
void phrase_free(struct phrase *phrase);
/* Writes the text of the event. Returns its end, or NULL if the payload is too short. */
char *phrase_put(const struct phrase *phrase, char *at, const struct ktread_event *event);

/* ---- Repetitions of an event ---- */

/* Content of the event ktrace.repeat: how often an event repeated unchanged without being recorded. */
struct repeat {
	uint64_t id;	      /* id of the event that repeated */
	uint64_t more;	      /* number of repetitions */
	uint64_t first, last; /* timestamps of the first and last repetition, from the CPU's counter */
};

/* Returns the event descriptor of ktrace.repeat, or NULL if the trace's kernel has none. */
const struct ktread_type *repeat_type(const struct ktread *trace);
/* Reads a ktrace.repeat event. Returns false if the event is not ktrace.repeat or is damaged. */
bool repeat_of(const struct ktread_event *event, struct repeat *repeat);

/* ---- Repetitions as text: those that have a record, and those still in progress at the end ---- */

/*
 * Writes "lock.acquire: 199 more in 0.000175 s". Returns the end, or NULL if the event is not ktrace.repeat
 * or is damaged.
 */
char *repeats_put(char *at, const struct ktread *trace, const struct ktread_event *event);

/* Writes a line for each event that was still repeating at the end. Returns 0 or an error of the reader. */
int repeats_write(struct base_output *out, struct ktread *trace);

/* ---- A trace as bytes: each event's text, then its slots in hexadecimal, field by field ---- */

/*
 * Writes the timeline with the bytes of each event. Events whose slots cannot be read have only their text.
 * Returns the same values as timeline_write().
 */
int slots_write(struct timeline *timeline);

/* ---- Addresses of an event as text ---- */

/*
 * The addresses of an event, for people:
 *
 *	 <- mutex_lock+0x1c (lock.c:40) <- do_write+0x88 (file.c:113) @ sched_block+0x5a (sched.c:210)
 *
 * The first address is in the caller of the function that recorded the event, the second one in the caller of
 * that caller, the last one is that of the event itself. If the kernel's file is not given, these are
 * numbers, followed by the source line that declares the event. If the file is of another build, each name
 * has a question mark.
 */

/*
 * Appends the addresses of an event to a line. Appends nothing if the event has none. Writes at most 2 KiB.
 * Returns the end.
 */
char *places_put(char *at, const struct ktread_event *event, struct symbols *symbols);

/*
 * Writes the addresses of an event as members of a JSON object, each preceded by a comma. Writes at most 8
 * KiB. Returns the end.
 */
char *places_put_json(char *at, const struct ktread_event *event, struct symbols *symbols);

/* ---- Events as JSON ---- */

/*
 * Writes "group.name" in lower case. If the type has no group, or has `name_alone` set, writes the name
 * unchanged.
 */
char *json_put_event_name(char *at, const struct ktread_type *type);
/* Returns whether a field of this name and type contains the holder of a lock, which may be unknown. */
static inline bool timeline_is_holder(const struct ktread_field *field)
{
	return field->type == KTRX_TYPE_U32 && strcmp(field->name, KTRX_HOLDER) == 0;
}

/* Returns whether the value of the field is the holder of a lock, and the holder is unknown. */
static inline bool timeline_is_unknown(const struct ktread_field *field, const struct ktread_value *value)
{
	return value->number == KTRX_HOLDER_UNKNOWN && timeline_is_holder(field);
}

/* Writes the value of one field as JSON. A pointer becomes a string "0x…", an unknown holder null. */
char *json_put_value(char *at, const struct ktread_field *field, const struct ktread_value *value);
/*
 * Writes the fields of an event as "field":value pairs separated by commas, without braces. Omits a field
 * if the payload ends before it. Writes at most 8 KiB.
 */
char *json_put_fields(char *at, const struct ktread_event *event);

/* ---- The timeline as JSON: one object a line ---- */

/*
 * Writes the timeline as JSON lines. Lost slots are reported by separate objects: {"lost":4093,"cpu":2}.
 * Returns the same values as timeline_write().
 */
int lines_write(struct timeline *timeline);

#endif
