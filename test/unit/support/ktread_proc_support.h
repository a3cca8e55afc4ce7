/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the tests of process traces have in common. */
#ifndef KTREAD_PROC_SUPPORT_H
#define KTREAD_PROC_SUPPORT_H

#include "golden/proc/put.h"
#include "ktread/proc.h"

#define PROC_FOLDER "test/golden/proc/"

/* The goldens, in the order of enum put_format, and of enum ktread_proc_format but for its first. */
#define PROC_FORMATS 5
extern const char *const proc_golden[PROC_FORMATS];
extern const enum ktread_proc_format proc_format[PROC_FORMATS];

/* All of a file. */
void proc_load(const char *path, struct bytes *bytes);

struct ktread_proc *proc_open(const char *path, enum ktread_proc_format format);
/* The same of what was put, which is freed. */
struct ktread_proc *proc_open_put(struct put *put);
/* The next record, which there must be. */
const struct ktread_proc_record *proc_next(struct ktread_proc *trace);
/* There is none, or none to be read: an error that says the words. Closes. */
void proc_ends(struct ktread_proc *trace);
void proc_fails(struct ktread_proc *trace, const char *words);

/* Of a whole trace: where its records lie, and how often it failed on the way. */
#define PROC_OFFSETS 256
struct proc_outline {
	uint64_t offset[PROC_OFFSETS];
	unsigned records, errors;
	uint64_t stepped_over;
	char last_error[512];
};
void proc_read_outline(struct ktread_proc *trace, struct proc_outline *outline);

#endif
