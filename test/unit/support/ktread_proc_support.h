/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions that the tests of process traces share. */
#ifndef KTREAD_PROC_SUPPORT_H
#define KTREAD_PROC_SUPPORT_H

#include "golden/proc/put.h"
#include "ktread/proc.h"

#define PROC_FOLDER "test/golden/proc/"

/*
 * Paths of the golden traces, in the order of enum put_format. It has the same order as enum
 * ktread_proc_format, without the first value.
 */
#define PROC_FORMATS 5
extern const char *const proc_golden[PROC_FORMATS];
extern const enum ktread_proc_format proc_format[PROC_FORMATS];

/* Loads a whole file. */
void proc_load(const char *path, struct bytes *bytes);

struct ktread_proc *proc_open(const char *path, enum ktread_proc_format format);
/* Opens a trace that was written with put_*(), and frees its bytes. */
struct ktread_proc *proc_open_put(struct put *put);
/* Returns the next record, which must exist. */
const struct ktread_proc_record *proc_next(struct ktread_proc *trace);
/*
 * proc_ends() checks that there are no more records. proc_fails() checks that the next result is an error
 * whose message contains `words`. Both functions close the trace.
 */
void proc_ends(struct ktread_proc *trace);
void proc_fails(struct ktread_proc *trace, const char *words);

/* Summary of a whole trace: offsets of its records, and the number of errors. */
#define PROC_OFFSETS 256
struct proc_outline {
	uint64_t offset[PROC_OFFSETS];
	unsigned records, errors;
	uint64_t stepped_over;
	char last_error[512];
};
void proc_read_outline(struct ktread_proc *trace, struct proc_outline *outline);

#endif
