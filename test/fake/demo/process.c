/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* No process runs here, so none is traced. */
#include <stddef.h>

#include "process.h"

struct process *process_self(void)
{
	return NULL;
}

void ktrace_proc_record_fault(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			      uint64_t address, uint32_t access, int user)
{
	(void)process, (void)thread, (void)address, (void)access, (void)user;
	__builtin_trap();
}

void ktrace_proc_record_fault_end(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				  int32_t result)
{
	(void)process, (void)thread, (void)result;
	__builtin_trap();
}
