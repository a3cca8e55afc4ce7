/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Makes a process trace (ktread/proc.h) look like a ring of events, so that all code that reads traces can
 * read process traces: alone, or beside the trace of the kernel that ran the processes.
 *
 * The system calls become events syscall.enter and syscall.exit. If the process trace is shown beside a trace
 * that has such events of its own, they become proc.call and proc.return. All other records become events of
 * the group "proc".
 */
#ifndef KTREAD_PROCESSES_H
#define KTREAD_PROCESSES_H

#include <stdbool.h>

#include "ktread/ktread.h"
#include "ktread/proc.h"
#include "ktrx/slot.h"
#include "trace.h"

/* Returns true if the file begins with the magic of our own format for process traces. */
bool ktread_processes_is(struct ktread_memory *memory);

/* Opens the file at `path` as a trace of its own. Returns 0 or an error. */
int ktread_processes_open(struct ktread *trace, const char *path);

/*
 * Events that are made from the records of a process trace: their types, and their payloads, which are
 * encoded as in rings.
 */

#define KTREAD_PROCESSES_PAYLOAD 256u

struct ktread_processes_event {
	uint32_t type; /* number of the event type, less than ktread_processes_types */
	uint32_t cpu, thread;
	uint32_t size;
	uint64_t lost;
	unsigned char payload[KTREAD_PROCESSES_PAYLOAD];
};

extern const uint32_t ktread_processes_types;
/*
 * Returns event type `n`. `beside`: the events are shown beside another trace. In this case, the event types
 * for the beginning and the return of a system call have other names and fields.
 */
const struct ktread_type *ktread_processes_type(uint32_t n, bool beside);

/*
 * Event types 0 and 1, the beginning and the return of a system call, with the name of the call as a further
 * field. ktread_processes_add_call() adds this field to an event.
 */
#define KTREAD_PROCESSES_CALLS 2u
extern const struct ktread_type ktread_processes_called[KTREAD_PROCESSES_CALLS];
void ktread_processes_add_call(struct ktread_processes_event *event, const struct ktread_names *calls);

/*
 * Returns the thread of a record. For a record about a whole process, returns the process's first thread.
 */
static inline uint32_t ktread_processes_thread(const struct ktread_proc_record *record)
{
	return (record->tid ? record->tid : record->pid) & KTRX_THREAD_MAX;
}

/*
 * Makes an event from a record. Returns false if no event is made from records of this type (names, tables).
 * A string that is too long is truncated, and marked as truncated. `calls` are the names of system calls if
 * the process trace is shown beside another trace, otherwise NULL. `abi` is the ABI of the call, as for
 * KTREAD_PROC_CALL().
 */
bool ktread_processes_make(struct ktread_processes_event *event, const struct ktread_proc_record *record,
			   uint32_t abi, const struct ktread_names *calls);

#endif
