/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Process traces into files: the demo kernel's use of ktrace/proc.h, the system call ktrace(2), and short
 * forms of the library's hooks, which kernel code calls when an event occurs.
 */
#ifndef DEMO_PROCESS_TRACE_H
#define DEMO_PROCESS_TRACE_H

#include <ktrace/proc.h>

#include "process.h"
#include "thread.h"

void process_trace_init(void); /* requires: no process has been created yet */

/*
 * Implements ktrace(2); the arguments are those of the system call. `path` is in kernel memory; it is not
 * used with KTRACE_PROC_CLEAR. Returns 0 or -errno.
 */
int process_trace_control(const char *path, uint32_t operation, uint32_t facilities, int64_t pid);
/* Implements utrace(2). Returns 0 or -errno. */
int process_trace_user(uintptr_t address, size_t size);

/* Converts an enum ktrace_error to -errno; 0 remains 0. */
int process_trace_errno(int error);

/*
 * Stores the identity of a process (ids, name, …) in the form that the library needs. Requires: table locked.
 */
void process_trace_identify(const struct process *process, struct ktrace_proc_identity *identity);

/*
 * Records in the running process's trace that an operation was denied. Does nothing in kernel threads. Any
 * context.
 */
static inline void trace_denied(uint32_t reason, uint64_t needed, uint64_t held, const char *what)
{
	struct thread *self = thread_self();

	if (self->process)
		ktrace_proc_denied(&self->process->trace, &self->trace, reason, needed, held, what);
}

/*
 * Records the data that read or write transferred: `result` is the number of bytes, or an error, which is not
 * recorded. Returns `result`. May sleep.
 */
static inline int64_t trace_transfer(int fd, int write, uintptr_t address, int64_t result)
{
	struct process *self = process_self();

	if (result > 0)
		ktrace_proc_genio(&self->trace, &thread_self()->trace, fd, write, address, (uint64_t)result);
	return result;
}

/* Records a struct of abi.h that was copied from or to user memory. May sleep. */
#define trace_struct(name, data)                                                         \
	ktrace_proc_struct(&process_self()->trace, &thread_self()->trace, #name, (data), \
			   sizeof(struct abi_##name))

#endif
