/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Process traces into files of the tree. The hooks of ktrace/proc.h stand where things happen; here is what the kernel
 * does for them, ktrace(2), and hooks in short.
 */
#ifndef DEMO_PROCESS_TRACE_H
#define DEMO_PROCESS_TRACE_H

#include <ktrace/proc.h>

#include "process.h"
#include "thread.h"

void process_trace_init(void); /* before any process */

/* ktrace(2), with what it was told; path is a kernel copy, "" with KTRACE_PROC_CLEAR. 0 or -errno. */
int process_trace_control(const char *path, uint32_t operation, uint32_t facilities, int64_t pid);
/* utrace(2). 0 or -errno. */
int process_trace_user(uintptr_t address, size_t size);

/* What the library calls an enum ktrace_error, as an errno below zero; 0 stays. */
int process_trace_errno(int error);

/* Who a process is, as the library wants to know it. Table locked. */
void process_trace_identify(const struct process *process, struct ktrace_proc_identity *identity);

/* The running process is denied something; kernel threads never are. Any context. */
static inline void trace_denied(uint32_t reason, uint64_t needed, uint64_t held, const char *what)
{
	struct thread *self = thread_self();

	if (self->process)
		ktrace_proc_denied(&self->process->trace, &self->trace, reason, needed, held, what);
}

/* Its bytes went from or to a descriptor: passes the result on. May sleep. */
static inline int64_t trace_transfer(int fd, int write, uintptr_t address, int64_t result)
{
	struct process *self = process_self();

	if (result > 0)
		ktrace_proc_genio(&self->trace, &thread_self()->trace, fd, write, address, (uint64_t)result);
	return result;
}

/* A struct of abi.h went in or out. May sleep. */
#define trace_struct(name, data)                                                         \
	ktrace_proc_struct(&process_self()->trace, &thread_self()->trace, #name, (data), \
			   sizeof(struct abi_##name))

#endif
