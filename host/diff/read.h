/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations that the source files of the reader share. The reader turns the events of a trace into steps,
 * waits and noise.
 */
#ifndef DIFF_READ_H
#define DIFF_READ_H

#include "analyze/wellknown.h"
#include "diff/trace.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* maximum number of integer fields, at the beginning of a payload, whose offsets are stored */
#define READ_NUMBERS 8u
#define READ_CALLS   4096u /* types are cached for system calls with a number below this */

enum read_use {
	READ_UNBOUND,
	READ_STEP,
	READ_NOISE,
	READ_CALL,
	READ_RETURN,
	READ_PATH,  /* a path that the current call uses */
	READ_BEGIN, /* in a process trace: a process begins, or runs another program */
	READ_END,
};

/* The purpose of an event type in a comparison, and the places of its fields. */
struct read_type {
	uint8_t use;   /* enum read_use */
	uint8_t noise; /* enum diff_noise */
	uint8_t numbers;
	uint8_t first;	  /* index in `offset` of the first argument of a call */
	int8_t result;	  /* index of the field with the result; -1: none */
	uint32_t strings; /* bit n: field n is a string that is part of the step's key */
	uint32_t kind;
	uint16_t offset[READ_NUMBERS];
	uint8_t width[READ_NUMBERS];
	uint8_t is_signed; /* bit n: the integer field with `offset[n]` is signed */
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
	uint64_t *last;	    /* indexed by ring: timestamp of the ring's last event */
	uint64_t gap_stamp; /* no event is paired with an event before this timestamp */
};

void read_call_enter(struct reader *reader, const struct ktread_event *event, const struct read_type *type,
		     const struct wellknown *known, uint32_t thread);
void read_call_exit(struct reader *reader, const struct ktread_event *event, const struct read_type *type,
		    uint32_t thread);
void read_call_path(struct reader *reader, const struct ktread_event *event, uint32_t thread);
/*
 * Updates which threads run, sleep and wake other threads. Call it for each event. `thread`: thread of the
 * event, or DIFF_NONE.
 */
void read_scheduling(struct reader *reader, const struct ktread_event *event, const struct wellknown *known,
		     uint32_t thread);
/*
 * Ends the current wait of a thread, if there is one. `wake`: the wakeup that ended the wait, or DIFF_NONE.
 */
void read_wait_end(struct diff_trace *trace, uint32_t thread, uint64_t stamp, uint32_t wake);

#endif
