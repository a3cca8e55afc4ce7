/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Exceptions from user mode: system calls, page faults, interrupts. Other exceptions become signals. */
#include "arch_user.h"

#include "arch.h"
#include "gic.h"
#include "syndrome.h"
#include "user.h"

/* Exceptions taken from a lower exception level: their indices in the vector table. */
enum { VECTOR_USER_SYNC = 8, VECTOR_USER_IRQ = 9 };

static void user_abort(uintptr_t address, uintptr_t ip, uint32_t esr, unsigned flags)
{
	switch (esr >> 2 & 0xf) {
	case STATUS_TRANSLATION:
		user_page_fault(address, ip, flags);
		break;
	case STATUS_ACCESS_FLAG:
	case STATUS_PERMISSION:
		user_page_fault(address, ip, flags | FAULT_PRESENT);
		break;
	default: /* unaligned access, or no memory at the physical address */
		user_exception(SIGBUS, ip);
	}
}

static void user_synchronous(struct user_frame *frame, uint32_t esr, uintptr_t address)
{
	uintptr_t ip = frame->registers.elr;

	switch (esr >> ESR_CLASS_SHIFT) {
	case CLASS_SVC:
		user_system_call(frame);
		break;
	case CLASS_USER_DATA_ABORT:
		user_abort(address, ip, esr, esr & ESR_WRITE ? FAULT_WRITE : 0);
		break;
	case CLASS_USER_INSTRUCTION_ABORT:
		user_abort(address, ip, esr, FAULT_EXECUTE);
		break;
	case CLASS_UNALIGNED_PC:
	case CLASS_UNALIGNED_SP:
		user_exception(SIGBUS, ip);
		break;
	case CLASS_BRK:
		user_exception(SIGTRAP, ip);
		break;
	/* Also raised by instructions that are disabled in user mode, such as wfi. */
	default:
		user_exception(SIGILL, ip);
	}
}

void user_trap(struct user_frame *frame, unsigned vector)
{
	/* Reads these registers first: another exception may overwrite them as soon as interrupts are on. */
	uint32_t esr = (uint32_t)arch_sysreg_read(esr_el1);
	uintptr_t address = arch_sysreg_read(far_el1);

	if (vector == VECTOR_USER_IRQ) {
		gic_interrupt(frame->registers.elr);
	} else if (vector == VECTOR_USER_SYNC) {
		user_entered();
		arch_irq_enable();
		user_synchronous(frame, esr, address);
		arch_irq_disable();
	} else {
		trap_fatal(&frame->registers, vector);
	}
	user_return(frame);
}
