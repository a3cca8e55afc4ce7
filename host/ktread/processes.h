/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A process trace (ktread/proc.h) as a ring of events, so that whatever reads traces reads it, too: by
 * itself, or beside the trace of the kernel that it was recorded on. Its system calls are then events
 * syscall.enter and syscall.exit, or, beside a trace that has its own, proc.call and proc.return; all else is
 * of the group proc.
 */
#ifndef KTREAD_PROCESSES_H
#define KTREAD_PROCESSES_H

#include <stdbool.h>

#include "ktread/ktread.h"
#include "ktread/proc.h"
#include "ktrx/slot.h"
#include "trace.h"

/* Does it begin as one that can be told by its first bytes? */
bool ktread_processes_is(struct ktread_memory *memory);

/* The file at `path` alone. */
int ktread_processes_open(struct ktread *trace, const char *path);

/* Records of a process trace as events: their types, and payloads packed as the rings' are. */

#define KTREAD_PROCESSES_PAYLOAD 256u

struct ktread_processes_event {
	uint32_t type; /* below ktread_processes_types */
	uint32_t cpu, thread;
	uint32_t size;
	uint64_t lost;
	unsigned char payload[KTREAD_PROCESSES_PAYLOAD];
};

extern const uint32_t ktread_processes_types;
/* `beside` a trace that has system calls of its own, they are called otherwise. */
const struct ktread_type *ktread_processes_type(uint32_t n, bool beside);

/* Whose record it is: one of a process as a whole is its first thread's. */
static inline uint32_t ktread_processes_thread(const struct ktread_proc_record *record)
{
	return (record->tid ? record->tid : record->pid) & KTRX_THREAD_MAX;
}

/*
 * False: the record is no event (a name, a table). Long strings are cut, and say so. `calls`: names of system
 * calls, for the types of a trace that is beside another; NULL for one that is alone. `abi`: of the calls, as
 * KTREAD_PROC_CALL() has it.
 */
bool ktread_processes_make(struct ktread_processes_event *event, const struct ktread_proc_record *record,
			   uint32_t abi, const struct ktread_names *calls);

#endif
