/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes Fuchsia traces: records, and the threads, spans and events of a trace as records. FXT has no tracks
 * except threads. So each CPU, each lane of locks and each track of functions is written as a thread of its
 * own, with an id that no thread of the trace has.
 */
#ifndef EXPORT_FXT_H
#define EXPORT_FXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/output.h"
#include "export/walk.h"

/*
 * Records of the Fuchsia trace format (FXT): a sequence of records, each of 64-bit words. A record is built
 * in the output buffer, so no more memory is needed than this buffer.
 *
 * Strings and threads have numbers, and a record must define each number before its first use. So a caller
 * first gets the numbers of all strings and threads that an event needs, and then begins the event.
 */

#define FXT_MAGIC     UINT64_C(0x0016547846040010)
#define FXT_PROVIDER  1u	/* number of the only provider */
#define FXT_STRINGS   32767u	/* maximum number of a string */
#define FXT_THREADS   255u	/* maximum number of a thread */
#define FXT_ARGS_MOST 15u	/* maximum number of arguments of an event */
#define FXT_IDLE      INT32_MIN /* scheduling weight of an idle thread */
/*
 * Maximum number of bytes of a record that arguments may fill. The remaining bytes are for the 64-bit words
 * after the arguments.
 */
#define FXT_ROOM (BASE_OUTPUT_LINE - 64)

enum fxt_record_type {
	FXT_METADATA = 0,
	FXT_INITIALIZATION = 1,
	FXT_STRING = 2,
	FXT_THREAD = 3,
	FXT_EVENT = 4,
	FXT_KERNEL_OBJECT = 7,
	FXT_SCHEDULING = 8,
};

enum fxt_event_type {
	FXT_INSTANT = 0,
	FXT_COUNTER = 1,
	FXT_BEGIN = 2,
	FXT_END = 3,
	FXT_FLOW_BEGIN = 8,
	FXT_FLOW_END = 10,
};

enum fxt_arg_type {
	FXT_ARG_I32 = 1,
	FXT_ARG_U32 = 2,
	FXT_ARG_I64 = 3,
	FXT_ARG_U64 = 4,
	FXT_ARG_STRING = 6,
	FXT_ARG_POINTER = 7,
	FXT_ARG_KOID = 8,
	FXT_ARG_BOOL = 9,
};

enum fxt_object { FXT_PROCESS_OBJECT = 1, FXT_THREAD_OBJECT = 2 };

/* States of threads in context switches. Readers ignore a state that they do not know. */
enum fxt_state {
	FXT_STATE_RUNNABLE = 1,
	FXT_STATE_SUSPENDED = 2,
	FXT_STATE_BLOCKED = 3,
	FXT_STATE_DEAD = 5,
	FXT_STATE_UNKNOWN = 15,
};

/* A thread, as it is identified in events. */
struct fxt_where {
	uint64_t process, thread;
};

struct fxt_stream {
	struct base_output out;
	unsigned char *start, *at; /* the record that is being built */
	uint64_t header; /* first 64-bit word of that record, without its size and its number of arguments */
	/* number of arguments so far, and the bit position of that number in `header` */
	unsigned args, args_shift;
	uint32_t strings; /* number of strings that have been given a number */
	/* threads that have a number in the output, indexed by this number */
	struct fxt_where thread[FXT_THREADS + 1];
	bool used[FXT_THREADS + 1];
};

/* Writes the head of the trace, which sets the unit of time to nanoseconds. Returns 0 or KTREAD_E_MEMORY. */
int fxt_stream_open(struct fxt_stream *stream, int fd);
int fxt_stream_close(struct fxt_stream *stream); /* Returns the errno of a failed write, or 0. */

/*
 * Returns the number of a string. If it has none yet (`*number` is 0), first writes a record that defines it.
 * Returns 0, the number of the empty string, if no numbers are left. The string is untrusted.
 */
uint16_t fxt_string(struct fxt_stream *stream, uint16_t *number, const char *text, size_t length);
/* Returns the number of a thread. If it has none yet, first writes a record that defines it. */
unsigned fxt_thread(struct fxt_stream *stream, struct fxt_where where);

/* Reports to readers that the provider lost records. */
void fxt_provider_lost(struct fxt_stream *stream);

/* Gives a name to a process or, if `process` is not 0, to a thread of that process. */
void fxt_object(struct fxt_stream *stream, enum fxt_object type, uint64_t id, const char *name, size_t length,
		uint64_t process);

void fxt_switch(struct fxt_stream *stream, uint64_t time, uint32_t cpu, uint32_t from, enum fxt_state state,
		bool from_idle, uint32_t to, bool to_idle);
void fxt_wakeup(struct fxt_stream *stream, uint64_t time, uint32_t cpu, uint32_t thread);

/* These functions begin and end an event. `category` and `name` are numbers of strings. */
void fxt_event_begin(struct fxt_stream *stream, enum fxt_event_type type, uint64_t time, unsigned thread,
		     uint16_t category, uint16_t name);
/* Does the same as fxt_event_begin(), for an untrusted name that has no number. */
void fxt_event_begin_named(struct fxt_stream *stream, enum fxt_event_type type, uint64_t time,
			   unsigned thread, uint16_t category, const char *name, size_t length);
void fxt_event_end(struct fxt_stream *stream);
/* Ends an event with one more 64-bit word after the arguments: the number of a counter or flow. */
void fxt_event_end_with(struct fxt_stream *stream, uint64_t word);

/*
 * These functions add arguments to the event. An argument that does not fit is left out; strings are
 * truncated.
 */
void fxt_arg_number(struct fxt_stream *stream, enum fxt_arg_type type, uint16_t name, uint64_t value);
void fxt_arg_string(struct fxt_stream *stream, uint16_t name, const char *text, size_t length);

#define FXT_TYPES  4096u
#define FXT_FIELDS 16u
/*
 * limit: the name of a system call or interrupt gets a string number only if the number of the call or
 * interrupt is below this
 */
#define FXT_NUMBERS	 1024u
#define FXT_PID_CPUS	 (WALK_KERNEL_PID + 1u)
#define FXT_PID_FUNCTION (WALK_KERNEL_PID + 2u)
#define FXT_TID_LANE	 (UINT64_C(1) << 23)
#define FXT_TID_CPU	 (UINT64_C(1) << 22)
#define FXT_TID_FUNCTION (UINT64_C(1) << 26)

_Static_assert((SPANS_LOCKS + 1) * FXT_TID_LANE + FXT_TID_CPU + KTRX_THREAD_MAX < FXT_TID_FUNCTION,
	       "ids do not overlap");

/* Numbers of the strings that an event type uses. */
struct fxt_type {
	uint16_t group, name, field[FXT_FIELDS];
};

/*
 * A thread that left its CPU. A later change with the same time may show which thread runs on the CPU next.
 */
struct fxt_leaving {
	uint32_t thread;
	enum fxt_state state;
	bool idle, waits;
};

/* What was already written about a thread or CPU. */
struct fxt_owner {
	uint32_t life;	   /* value of the thread's `life` when the thread was described */
	uint32_t process;  /* number of the thread's process; 0: not described yet */
	uint8_t described; /* bit map of the lanes that were described */
	bool idle;
	struct fxt_leaving leaving; /* the thread that leaves this CPU */
};

struct fxt {
	struct walk walk;
	struct fxt_stream stream;
	struct fxt_type type[FXT_TYPES];
	uint16_t call[FXT_NUMBERS], irq[FXT_NUMBERS];
	/* numbers of the strings that are names of arguments */
	uint16_t path, types, caller[2], site, payload, unit[4];
	uint16_t missing; /* number of the category for gaps */
	struct fxt_owner *thread, *cpu;
	uint32_t threads, cpus;
	uint64_t function_tracks;
	bool kernel_described, cpus_described;
};

#endif
