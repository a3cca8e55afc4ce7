/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Which process each thread belongs to, the parent of that process and what it runs, by process.fork,
 * process.exec, process.exit and sched.create. An event also applies to the time before it, so the whole
 * trace is read once for this. If an id is reused, its first parent and program are kept.
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
	uint32_t parent;		 /* 0: not known */
	bool exec;			 /* the command is its own, not its parent's */
	char command[PROCESSES_COMMAND]; /* what it runs; "": not known */
};

struct processes;

/*
 * 0, or KTREAD_E_MEMORY, or what ktread_next() said. The trace is read from its beginning and wound back; if
 * its kernel declares no process events it is not read, and nothing is known.
 */
int processes_read(struct processes **processes, struct ktread *trace, struct wellknown_table *table);
void processes_free(struct processes *processes);

/* The process a thread belongs to; 0: not known. */
uint32_t processes_of(const struct processes *processes, uint32_t thread);
/* Returns NULL if nothing is known of the process. */
const struct processes_process *processes_find(const struct processes *processes, uint32_t id);

/* The process that an event is about: its field, or without one the process of its thread; 0: not known. */
uint32_t processes_subject(const struct processes *processes, const struct ktread_event *event,
			   const struct wellknown *known);

#endif
