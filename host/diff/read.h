/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The parts of read.c: how the events of a trace become steps, waits and noise. */
#ifndef DIFF_READ_H
#define DIFF_READ_H

#include "analyze/wellknown.h"
#include "diff/trace.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

#define READ_NUMBERS 8u	   /* numbers at the beginning of a payload whose places are known */
#define READ_CALLS   4096u /* calls with a number below this have their types cached */

enum read_use {
	READ_UNBOUND,
	READ_STEP,
	READ_NOISE,
	READ_CALL,
	READ_RETURN,
	READ_PATH,  /* the path of the open call */
	READ_BEGIN, /* a process begins, in a process trace */
	READ_END,
};

/* What an event type is used for. */
struct read_type {
	uint8_t use;   /* enum read_use */
	uint8_t noise; /* enum diff_noise */
	uint8_t numbers;
	uint8_t first;	  /* the first argument of a call, as an index of `offset` */
	int8_t result;	  /* index of the field with the result; -1: none */
	uint32_t strings; /* bit n: field n is a string that belongs to the meaning */
	uint32_t kind;
	uint16_t offset[READ_NUMBERS];
	uint8_t width[READ_NUMBERS];
	uint8_t is_signed; /* bit n: number n has a sign */
};

struct read_call {
	uint32_t kind;
	bool bound;
	struct diff_types types;
};

struct reader {
	struct ktread *from;
	struct diff_trace *trace;
	struct wellknown_table known;
	struct read_type type[KTRX_EVENT_MAX + 1];
	struct read_call call[READ_CALLS], spare;
	uint64_t *last;	    /* by ring: stamp of its last event */
	uint64_t gap_stamp; /* nothing is paired with an event before this stamp */
};

const struct read_type *read_type_of(struct reader *reader, const struct ktread_event *event,
				     const struct wellknown *known);
void read_call_enter(struct reader *reader, const struct ktread_event *event, const struct read_type *type,
		     const struct wellknown *known, uint32_t thread);
void read_call_exit(struct reader *reader, const struct ktread_event *event, const struct read_type *type,
		    uint32_t thread);
void read_call_path(struct reader *reader, const struct ktread_event *event, uint32_t thread);
/* Follows which threads run, sleep and wake others. Call for each event. `thread` may be DIFF_NONE. */
void read_scheduling(struct reader *reader, const struct ktread_event *event, const struct wellknown *known,
		     uint32_t thread);
/* Ends the open wait of a thread, if there is one. `wake`: the wakeup that ended it, or DIFF_NONE. */
void read_wait_end(struct diff_trace *trace, uint32_t thread, uint64_t stamp, uint32_t wake);

#endif
