/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Records of a process trace as events: their types, and payloads packed as the rings' are. */
#ifndef KTREAD_PROCESSES_EVENT_H
#define KTREAD_PROCESSES_EVENT_H

#include <stdbool.h>

#include "ktread/ktread.h"
#include "ktread/proc.h"
#include "ktrx/slot.h"
#include "names.h"

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
 * False: the record is no event (a name, a table). Long strings are cut, and say so. `calls`: names of system calls, for
 * the types of a trace that is beside another; NULL for one that is alone.
 */
bool ktread_processes_make(struct ktread_processes_event *event, const struct ktread_proc_record *record,
			   const struct ktread_names *calls);

#endif
