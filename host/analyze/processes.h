/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Which process each thread belongs to, whose child that is and what it runs, as process.fork, process.exec,
 * process.exit and sched.create tell. What is told late holds for what came before as well, so a trace is
 * gone through once for this. Of an id that is used again the first parent and program count.
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
/* NULL: nothing was told of it. */
const struct processes_process *processes_find(const struct processes *processes, uint32_t id);

/* The process that an event of one is about: the field, or else that of the thread; 0: not known. */
uint32_t processes_subject(const struct processes *processes, const struct ktread_event *event,
			   const struct wellknown *known);

#endif
