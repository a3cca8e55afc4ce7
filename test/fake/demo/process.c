/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Replaces the process functions. No process runs in these tests, so no process is traced, and no threads
 * share memory.
 */
#include <stddef.h>

#include "arch.h"
#include "ipi.h"
#include "mutex.h"
#include "process.h"
#include "thread.h"

struct process *process_self(void)
{
	return NULL;
}

struct thread *thread_self(void)
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

void mutex_lock_at(struct mutex *mutex, uintptr_t place)
{
	(void)mutex, (void)place;
	__builtin_trap();
}

void mutex_unlock(struct mutex *mutex)
{
	(void)mutex;
	__builtin_trap();
}

void ipi_call_all(void (*function)(void *), void *argument)
{
	(void)function, (void)argument;
	__builtin_trap();
}

void arch_tlb_flush(uintptr_t address)
{
	(void)address;
	__builtin_trap();
}
