/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* From a trap's vector to the portable kernel's handler, and the first frame of a thread. */
#include "arch.h"
#include "panic.h"
#include "trap.h"
#include "x86.h"

#define PAGE_FAULT_PRESENT 0x01u
#define PAGE_FAULT_WRITE   0x02u
#define PAGE_FAULT_FETCH   0x10u

static void page_fault_trap(const struct trap_frame *frame)
{
	uintptr_t address;
	unsigned flags = 0;

	__asm__ volatile("mov %%cr2, %0" : "=r"(address));
	if (frame->error & PAGE_FAULT_PRESENT)
		flags |= FAULT_PRESENT;
	if (frame->error & PAGE_FAULT_WRITE)
		flags |= FAULT_WRITE;
	if (frame->error & PAGE_FAULT_FETCH)
		flags |= FAULT_EXECUTE;
	page_fault(address, frame->rip, flags);
}

void trap(struct trap_frame *frame)
{
	switch (frame->vector) {
	case VECTOR_TIMER:
		apic_acknowledge();
		interrupt(IRQ_TIMER, frame->rip);
		break;
	case VECTOR_IPI:
		apic_acknowledge();
		interrupt(IRQ_IPI, frame->rip);
		break;
	case VECTOR_SPURIOUS: /* is not acknowledged */
		interrupt(IRQ_SPURIOUS, frame->rip);
		break;
	case VECTOR_NMI:
		nmi(frame->rip);
		break;
	case VECTOR_PAGE_FAULT:
		page_fault_trap(frame);
		break;
	default:
		panic("trap %u error %#lx at %#lx, stack %#lx", (unsigned)frame->vector, frame->error,
		      frame->rip, frame->rsp);
	}
}

uintptr_t arch_thread_frame(void *stack_top, void (*entry)(void))
{
	/* Upwards: what arch_switch pops, its return address, and a null return address for entry, which
	 * thereby starts with the stack alignment of a called function. */
	uint64_t *sp = (uint64_t *)stack_top - 8;

	for (int i = 0; i < 6; i++)
		sp[i] = 0;
	sp[6] = (uintptr_t)entry;
	sp[7] = 0;
	return (uintptr_t)sp;
}
