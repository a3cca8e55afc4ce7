/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Page faults. Faults of programs are resolved from the process's memory areas. A fault of the kernel is
 * resolved only if it is in the window; otherwise it is a bug.
 */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "clock.h"
#include "panic.h"
#include "print.h"
#include "process.h"
#include "signal.h"
#include "timer.h"
#include "user.h"
#include "vm.h"
#include "window.h"

#define RETRY_NS (10 * NS_PER_MS)

static const char *access_name(unsigned flags)
{
	if (flags & FAULT_EXECUTE)
		return "execute";
	return flags & FAULT_WRITE ? "write" : "read";
}

void page_fault(uintptr_t address, uintptr_t ip, unsigned flags, uintptr_t caller)
{
	bool resolved;

	ktrace_fault_enter(address, ip, (uint8_t)flags);
	resolved = !(flags & (FAULT_PRESENT | FAULT_EXECUTE)) && window_fill(address);
	ktrace_fault_exit(address, vm_how_name(resolved ? VM_ZERO : VM_BAD_ADDRESS));
	if (resolved)
		return;
	if (flags & FAULT_EXECUTE)
		panic("cannot execute %#lx, called from %#lx", address, caller);
	panic("cannot %s %#lx, instruction at %#lx", access_name(flags), address, ip);
}

static unsigned access_wanted(unsigned flags)
{
	if (flags & FAULT_EXECUTE)
		return ACCESS_EXECUTE;
	return flags & FAULT_WRITE ? ACCESS_WRITE : ACCESS_READ;
}

/*
 * Ends the process, unless it is the first process, because the machine would end with the first process: it
 * sleeps for a while instead, and then tries the access again.
 */
static void out_of_memory(struct process *self)
{
	if (self->pid == THREAD_ID_INIT) {
		timer_sleep(RETRY_NS);
		return;
	}
	kprintf("out of memory: process %u (%s) was killed\n", self->pid, self->name);
	signal_force(SIGKILL);
}

void user_page_fault(uintptr_t address, uintptr_t ip, unsigned flags)
{
	struct process *self = process_self();
	enum vm_how how;

	ktrace_fault_enter(address, ip, (uint8_t)flags);
	ktrace_proc_fault(&self->trace, &thread_self()->trace, address, access_wanted(flags), 1);
	how = vm_fault(&self->vm, address, access_wanted(flags));
	ktrace_proc_fault_end(&self->trace, &thread_self()->trace, vm_error(how));
	ktrace_proc_trap_end(&self->trace, &thread_self()->trace);
	ktrace_fault_exit(address, vm_how_name(how));
	if (how == VM_NO_MEMORY)
		out_of_memory(self);
	else if (!vm_resolved(how))
		signal_force(SIGSEGV);
}
