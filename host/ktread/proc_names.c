/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Processes by number: sets of a few rows each. */
#include <stdlib.h>

#include "proc_state.h"

#define SETS   4096u /* a power of two; process numbers follow one another, so that they need no hash */
#define PLACES 4u

void ktread_proc_processes_free(struct ktread_proc_processes *processes)
{
	free(processes->row);
}

void ktread_proc_processes_forget(struct ktread_proc_processes *processes)
{
	processes->session++;
}

static struct ktread_proc_process *set_of(const struct ktread_proc_processes *processes, uint32_t pid)
{
	return &processes->row[(pid & (SETS - 1)) * PLACES];
}

const struct ktread_proc_process *ktread_proc_process_look(struct ktread_proc_processes *processes,
							   uint32_t pid)
{
	const struct ktread_proc_process *set;

	if (!processes->row)
		return NULL;
	set = set_of(processes, pid);
	for (uint32_t i = 0; i < PLACES; i++)
		if (set[i].pid == pid && set[i].session == processes->session)
			return processes->last = &set[i];
	return NULL;
}

struct ktread_proc_process *ktread_proc_process_enter(struct ktread_proc_processes *processes, uint32_t pid)
{
	struct ktread_proc_process *set, *chosen = NULL;

	if (!processes->row)
		processes->row = calloc((size_t)SETS * PLACES, sizeof(*processes->row));
	if (!processes->row)
		return NULL;
	set = set_of(processes, pid);
	for (uint32_t i = 0; i < PLACES; i++) {
		if (set[i].session != processes->session)
			chosen = &set[i];
		else if (set[i].pid == pid)
			return &set[i];
	}
	if (!chosen)
		chosen = &set[processes->victim++ % PLACES];
	*chosen = (struct ktread_proc_process){ .pid = pid, .session = processes->session };
	return chosen;
}
