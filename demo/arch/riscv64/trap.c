/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Traps in the kernel itself: interrupts that machine mode forwards, page faults, and fatal exceptions. */
#include "trap.h"

#include "arch.h"
#include "cause.h"
#include "clint.h"
#include "machine_mode.h"
#include "mmu.h"
#include "panic.h"

/* slli x0, x0, 0x1f; ebreak; srai x0, x0, 7: these three instructions are a semihosting call. */
#define SEMIHOSTING_MARK 0x01f01013u
#define EBREAK		 0x00100073u

static _Noreturn void fatal(const struct trap_frame *frame, uint64_t cause)
{
	panic("trap: cause %lu sepc 0x%lx stval 0x%lx ra 0x%lx", (unsigned long)cause,
	      (unsigned long)frame->sepc, (unsigned long)arch_csr_read(stval), (unsigned long)frame->x[1]);
}

/*
 * Clears the pending bit before checking the reason, so that no later interrupt is lost. After a doorbell,
 * sets the pending bit again, because an IPI may have arrived as well.
 */
static void software_interrupt(const struct trap_frame *frame)
{
	arch_csr_clear(sip, INTERRUPT_SUPERVISOR_SOFTWARE);
	if (clint_doorbell_rang()) {
		arch_csr_set(sip, INTERRUPT_SUPERVISOR_SOFTWARE);
		interrupt(IRQ_DOORBELL, frame->sepc);
	} else {
		interrupt_ended(IRQ_IPI);
		interrupt(IRQ_IPI, frame->sepc);
	}
}

void trap_interrupt(const struct trap_frame *frame, uint64_t number)
{
	if (number == INTERRUPT_TIMER) {
		clint_timer_next();
		interrupt_ended(IRQ_TIMER);
		interrupt(IRQ_TIMER, frame->sepc);
	} else if (number == INTERRUPT_SOFTWARE) {
		software_interrupt(frame);
	} else {
		interrupt(IRQ_SPURIOUS, frame->sepc);
	}
}

/*
 * Handles a page fault in the kernel. This hart's TLB may still contain an invalid entry although another
 * hart has mapped the page since. In that case, only flushes this hart's TLB.
 */
static void page_fault_taken(const struct trap_frame *frame, unsigned flags)
{
	uintptr_t address = arch_csr_read(stval);
	enum mmu_verdict verdict = mmu_judge(address, flags);

	if (verdict == MMU_FORBIDDEN)
		flags |= FAULT_PRESENT;
	if (verdict != MMU_ALLOWED)
		page_fault(address, frame->sepc, flags, frame->x[1]);
	arch_tlb_flush(address);
}

/*
 * Handles a breakpoint exception. If it is a semihosting call without a debugger, makes the call return -1.
 */
static void breakpoint(struct trap_frame *frame)
{
	const uint32_t *instruction = (const uint32_t *)frame->sepc;

	if (frame->sepc % 4 || instruction[0] != EBREAK || instruction[-1] != SEMIHOSTING_MARK)
		fatal(frame, CAUSE_BREAKPOINT);
	frame->x[10] = UINT64_MAX;
	frame->sepc += 4;
}

void trap(struct trap_frame *frame)
{
	uint64_t cause = arch_csr_read(scause);

	if (cause & CAUSE_IS_INTERRUPT)
		trap_interrupt(frame, cause & ~CAUSE_IS_INTERRUPT);
	else if (cause == CAUSE_LOAD_PAGE_FAULT)
		page_fault_taken(frame, 0);
	else if (cause == CAUSE_STORE_PAGE_FAULT)
		page_fault_taken(frame, FAULT_WRITE);
	else if (cause == CAUSE_FETCH_PAGE_FAULT)
		page_fault_taken(frame, FAULT_EXECUTE);
	else if (cause == CAUSE_BREAKPOINT)
		breakpoint(frame);
	else
		fatal(frame, cause);
}
