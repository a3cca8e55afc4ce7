/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the process of each thread, and each process's parent and program, from process.fork, process.exec,
 * process.exit and sched.create. What an event shows also applies to the time before the event, so the whole
 * trace is read before the first result. If an id is reused, its first parent and program are kept.
 */
#ifndef ANALYZE_PROCESSES_H
#define ANALYZE_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

#define PROCESSES_COMMAND 128u

struct processes_process {
	uint32_t id;
	uint32_t parent; /* id of the parent process; 0: unknown */
	/* true if `command` comes from an exec of the process itself, not of its parent */
	bool exec;
	char command[PROCESSES_COMMAND]; /* the program that the process runs; "" if it is unknown */
};

struct processes;

/*
 * Reads the trace from its beginning and rewinds it. If its kernel declares no process events, the trace is
 * not read and nothing is known. Returns 0, KTREAD_E_MEMORY, or the error of ktread_next(). The caller frees
 * `*processes` in any case.
 */
int processes_read(struct processes **processes, struct ktread *trace, struct wellknown_table *table);
void processes_free(struct processes *processes);

/* Returns the process of a thread; 0 if it is unknown. */
uint32_t processes_of(const struct processes *processes, uint32_t thread);
/* Returns the process, or NULL if it is unknown. */
const struct processes_process *processes_find(const struct processes *processes, uint32_t id);
/* Returns process `n`, counted from 0; NULL after the last process. */
const struct processes_process *processes_at(const struct processes *processes, uint32_t n);

/*
 * Returns the process to which an event applies: the process in a field of the event; without such a field,
 * the process of the event's thread; 0 if the process is unknown.
 */
uint32_t processes_subject(const struct processes *processes, const struct ktread_event *event,
			   const struct wellknown *known);

#endif
