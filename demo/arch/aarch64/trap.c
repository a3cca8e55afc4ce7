/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Exceptions in the kernel itself. Interrupts are passed to the GIC's driver, page faults to the portable
 * kernel.
 */
#include "trap.h"

#include "arch.h"
#include "gic.h"
#include "panic.h"
#include "syndrome.h"

/* Exceptions taken at EL1 with SP_EL1: their indices in the vector table. */
enum { VECTOR_SYNC = 4, VECTOR_IRQ = 5 };

/* Instructions that this file recognizes. */
#define HLT_SEMIHOSTING	   0xd45e0000u
#define MRS_TPIDR_EL1(reg) (0xd538d080u | (reg))
#define LDUR_W_16(reg)	   (0xb8410000u | (reg) << 5 | (reg)) /* ldur wN, [xN, #16] */
#define REGISTER_MASK	   0x1fu

_Noreturn void trap_fatal(const struct trap_frame *frame, unsigned vector)
{
	panic("exception: vector %u esr 0x%lx elr 0x%lx far 0x%lx", vector,
	      (unsigned long)arch_sysreg_read(esr_el1), (unsigned long)frame->elr,
	      (unsigned long)arch_sysreg_read(far_el1));
}

static void abort_taken(const struct trap_frame *frame, uint32_t esr, unsigned flags)
{
	unsigned status = esr >> 2 & 0xf;

	if (status == STATUS_ACCESS_FLAG || status == STATUS_PERMISSION)
		flags |= FAULT_PRESENT;
	else if (status != STATUS_TRANSLATION)
		trap_fatal(frame, VECTOR_SYNC);
	page_fault(arch_sysreg_read(far_el1), frame->elr, flags, frame->x[30]);
}

/*
 * Handles an undefined instruction. If it is a semihosting call without a debugger, makes the call return -1.
 */
static void undefined(struct trap_frame *frame)
{
	if (*(const uint32_t *)frame->elr != HLT_SEMIHOSTING)
		trap_fatal(frame, VECTOR_SYNC);
	frame->x[0] = UINT64_MAX;
	frame->elr += 4;
}

static void synchronous(struct trap_frame *frame)
{
	uint32_t esr = (uint32_t)arch_sysreg_read(esr_el1);

	switch (esr >> ESR_CLASS_SHIFT) {
	case CLASS_DATA_ABORT:
		abort_taken(frame, esr, esr & ESR_WRITE ? FAULT_WRITE : 0);
		break;
	case CLASS_INSTRUCTION_ABORT:
		abort_taken(frame, esr, FAULT_EXECUTE);
		break;
	case CLASS_UNKNOWN:
		undefined(frame);
		break;
	default:
		trap_fatal(frame, VECTOR_SYNC);
	}
}

/*
 * If the interrupt came between the two instructions of ktrace_arch_thread(), makes the thread repeat both,
 * because it may continue on another CPU.
 */
static void restart_context_read(struct trap_frame *frame)
{
	const uint32_t *next = (const uint32_t *)frame->elr;
	uint32_t reg = next[0] & REGISTER_MASK;

	if (next[0] == LDUR_W_16(reg) && next[-1] == MRS_TPIDR_EL1(reg))
		frame->elr -= sizeof(*next);
}

void trap(struct trap_frame *frame, unsigned vector)
{
	if (vector == VECTOR_IRQ) {
		restart_context_read(frame);
		gic_interrupt(frame->elr);
	} else if (vector == VECTOR_SYNC) {
		synchronous(frame);
	} else {
		trap_fatal(frame, vector);
	}
}
