/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Traps from user mode: system calls, page faults, interrupts. Other traps become signals. */
#include "arch_user.h"

#include "arch.h"
#include "cause.h"
#include "mmu.h"
#include "user.h"

/*
 * Handles a page fault. The hart's TLB may contain an outdated entry for the address, so this function
 * finally flushes the address from the TLB.
 */
static void fault(uintptr_t address, uintptr_t ip, unsigned flags)
{
	if (mmu_is_present(address))
		flags |= FAULT_PRESENT;
	user_page_fault(address, ip, flags);
	arch_tlb_flush(address);
}

static void system_call(struct user_frame *frame)
{
	frame->registers.sepc += ECALL_SIZE;
	user_system_call(frame);
}

static void exception(struct user_frame *frame, uint64_t cause, uintptr_t value)
{
	uintptr_t ip = frame->registers.sepc;

	switch (cause) {
	case CAUSE_USER_CALL:
		system_call(frame);
		break;
	case CAUSE_LOAD_PAGE_FAULT:
		fault(value, ip, 0);
		break;
	case CAUSE_STORE_PAGE_FAULT:
		fault(value, ip, FAULT_WRITE);
		break;
	case CAUSE_FETCH_PAGE_FAULT:
		fault(value, ip, FAULT_EXECUTE);
		break;
	case CAUSE_BREAKPOINT:
		user_exception(SIGTRAP, ip);
		break;
	/* Also raised by floating-point instructions and by access to supervisor registers. */
	case CAUSE_ILLEGAL_INSTRUCTION:
		user_exception(SIGILL, ip);
		break;
	default: /* unaligned access, or no memory at the physical address */
		user_exception(SIGBUS, ip);
	}
}

void user_trap(struct user_frame *frame)
{
	/* Reads these registers first: another trap may overwrite them as soon as interrupts are on. */
	uint64_t cause = arch_csr_read(scause);
	uintptr_t value = arch_csr_read(stval);

	if (cause & CAUSE_IS_INTERRUPT) {
		trap_interrupt(&frame->registers, cause & ~CAUSE_IS_INTERRUPT);
	} else {
		user_entered();
		arch_irq_enable();
		exception(frame, cause, value);
		arch_irq_disable();
	}
	user_return(frame);
}
