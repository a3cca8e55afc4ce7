/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes Fuchsia traces. FXT has no tracks except threads. So each CPU, each lane of locks and each track of
 * functions is written as a thread of its own, with an id that no thread of the trace has.
 */
#ifndef EXPORT_FXT_H
#define EXPORT_FXT_H

#include "export/fxt_record.h"
#include "export/walk.h"

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

/* fxt_thread.c: threads, processes and scheduling; callbacks of struct walk_sink. */

void fxt_take_name(void *context, const struct threads_thread *thread, const char *name, size_t length,
		   uint32_t process);
void fxt_take_program(void *context, const struct threads_thread *thread, uint32_t process, const char *path,
		      size_t length);
void fxt_take_change(void *context, const struct threads_change *change);
void fxt_take_unknown(void *context, const struct walk_unknown *unknown);

/* Names the kernel as a process, once. */
void fxt_describe_kernel(struct fxt *fxt);
/* Returns the number of the FXT thread that shows this lane; 0 if out of memory. */
unsigned fxt_lane(struct fxt *fxt, struct spans_owner owner, unsigned lane);

#endif
