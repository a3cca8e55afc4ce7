/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Page faults with how long they took, and what a process was denied. */
#ifndef KDUMP_FAULTS_H
#define KDUMP_FAULTS_H

#include "kdump/context.h"

/* Faults under way, one a thread; when two threads meet in one place the later one is known. */
#define KDUMP_FAULTS 256u
struct kdump_faults {
	struct {
		uint64_t stamp;
		uint32_t pid, tid;
		bool begun;
	} of[KDUMP_FAULTS];
};

/* For every record of the trace, before its line. */
void kdump_faults_note(struct kdump_faults *faults, const struct ktread_proc_record *record);

char *kdump_put_fault(char *at, const struct kdump_context *context, const struct ktread_proc_record *record);
char *kdump_put_fault_end(char *at, struct kdump_faults *faults, const struct kdump_context *context,
			  const struct ktread_proc_record *record);
char *kdump_put_denied(char *at, const struct kdump_context *context,
		       const struct ktread_proc_record *record);

#endif
