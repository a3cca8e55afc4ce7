/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What earlier records said of processes: their names, and FreeBSD's flags. A table of constant size in which a process may
 * have one of a few places, so that of very many those told of the longest ago are forgotten.
 */
#ifndef KTREAD_PROC_NAMES_H
#define KTREAD_PROC_NAMES_H

#include <stdint.h>

#include "ktread/proc.h"

struct ktread_proc_process {
	uint32_t pid;
	uint32_t session; /* it was told in; rows of earlier ones are free */
	uint32_t abi;
	char name[sizeof(((struct ktread_proc_record *)0)->name)];
};

struct ktread_proc_processes {
	struct ktread_proc_process *row; /* NULL: none was told of */
	uint32_t session;		 /* from 1 on */
	uint32_t victim;		 /* place of the next one to be forgotten */
	const struct ktread_proc_process
		*last; /* that was found: as a rule it is looked for again; NULL: none */
};

void ktread_proc_processes_free(struct ktread_proc_processes *processes);
void ktread_proc_processes_forget(struct ktread_proc_processes *processes);
/* In the table, whoever was found last. NULL: nothing is known of it. */
const struct ktread_proc_process *ktread_proc_process_look(struct ktread_proc_processes *processes,
							   uint32_t pid);

static inline const struct ktread_proc_process *
ktread_proc_process_find(struct ktread_proc_processes *processes, uint32_t pid)
{
	const struct ktread_proc_process *last = processes->last;

	if (last && last->pid == pid && last->session == processes->session)
		return last;
	return ktread_proc_process_look(processes, pid);
}

/* Its row, a new one if need be. NULL: out of memory. */
struct ktread_proc_process *ktread_proc_process_enter(struct ktread_proc_processes *processes, uint32_t pid);

#endif
