/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Passes traps to the handlers of the portable kernel, and builds the first frame of a thread. */
#include <ktrace/hwt.h>

#include "arch.h"
#include "panic.h"
#include "thread.h"
#include "trap.h"
#include "user.h"
#include "x86.h"

#define PAGE_FAULT_PRESENT 0x01u
#define PAGE_FAULT_WRITE   0x02u
#define PAGE_FAULT_FETCH   0x10u

static uintptr_t fault_address(void)
{
	uintptr_t address;

	__asm__ volatile("mov %%cr2, %0" : "=r"(address));
	return address;
}

static unsigned fault_flags(uint64_t error)
{
	return (error & PAGE_FAULT_PRESENT ? FAULT_PRESENT : 0) |
	       (error & PAGE_FAULT_WRITE ? FAULT_WRITE : 0) | (error & PAGE_FAULT_FETCH ? FAULT_EXECUTE : 0);
}

/* Handles the trap if it is an interrupt; otherwise returns false. */
static bool interrupt_trap(const struct trap_frame *frame)
{
	switch (frame->vector) {
	case VECTOR_TIMER:
		apic_acknowledge();
		interrupt_ended(IRQ_TIMER);
		interrupt(IRQ_TIMER, frame->rip);
		return true;
	case VECTOR_IPI:
		apic_acknowledge();
		interrupt_ended(IRQ_IPI);
		interrupt(IRQ_IPI, frame->rip);
		return true;
	case VECTOR_TRACE_UNIT: /* the APIC masks this interrupt when it occurs */
		ktrace_hwt_interrupt();
		apic_trace_unit_unmask();
		apic_acknowledge();
		interrupt_ended(IRQ_TRACE_UNIT);
		interrupt(IRQ_TRACE_UNIT, frame->rip);
		return true;
	case VECTOR_DOORBELL:
		interrupt(IRQ_DOORBELL, frame->rip);
		return true;
	case VECTOR_SPURIOUS: /* a spurious interrupt must not be acknowledged */
		interrupt(IRQ_SPURIOUS, frame->rip);
		return true;
	default:
		return false;
	}
}

static int exception_signal(uint64_t vector)
{
	switch (vector) {
	case VECTOR_DIVIDE:
		return SIGFPE;
	case VECTOR_DEBUG:
	case VECTOR_BREAKPOINT:
		return SIGTRAP;
	case VECTOR_INVALID_OPCODE:
	case VECTOR_NO_COPROCESSOR: /* raised by floating-point instructions, which are disabled */
		return SIGILL;
	case VECTOR_ALIGNMENT:
		return SIGBUS;
	default:
		return SIGSEGV;
	}
}

/*
 * Some hypervisors emulate the SYSCALL instruction wrongly: it jumps to the kernel's entry without leaving
 * user mode. The first system call of the first program then faults at the kernel's entry. Without this
 * check, the fault would look like a mistake of the program.
 */
static void check_system_calls(const struct trap_frame *frame)
{
	static bool work;

	if (frame->vector == VECTOR_SYSTEM_CALL)
		__atomic_store_n(&work, true, __ATOMIC_RELAXED);
	else if (!__atomic_load_n(&work, __ATOMIC_RELAXED) && frame->rip == (uintptr_t)system_call_entry)
		panic("SYSCALL does not leave user mode: this virtual machine cannot run user programs");
}

/*
 * Handles a trap from user mode. Reads the fault's address first, because another fault can overwrite the
 * register.
 */
static void user_trap(struct trap_frame *frame)
{
	uintptr_t address = fault_address();

	user_entered();
	check_system_calls(frame);
	arch_irq_enable();
	if (frame->vector == VECTOR_SYSTEM_CALL)
		user_system_call(user_frame_of(thread_self()));
	else if (frame->vector == VECTOR_PAGE_FAULT)
		user_page_fault(address, frame->rip, fault_flags(frame->error));
	else
		user_exception(exception_signal(frame->vector), frame->rip);
	arch_irq_disable();
}

static _Noreturn void bad_trap(const struct trap_frame *frame)
{
	panic("trap %u error %#lx at %#lx, stack %#lx", (unsigned)frame->vector, frame->error, frame->rip,
	      frame->rsp);
}

static void kernel_trap(const struct trap_frame *frame)
{
	if (frame->vector != VECTOR_PAGE_FAULT)
		bad_trap(frame);
	/*
	 * The word at the stack pointer is the return address if a call to a bad address led to the fault;
	 * otherwise it has no meaning.
	 */
	page_fault(fault_address(), frame->rip, fault_flags(frame->error), *(const uintptr_t *)frame->rsp);
}

void trap(struct trap_frame *frame)
{
	bool from_user = frame->cs & SELECTOR_LEVEL;

	if (!interrupt_trap(frame)) {
		if (from_user)
			user_trap(frame);
		else
			kernel_trap(frame);
	}
	if (from_user)
		user_return(user_frame_of(thread_self()));
}

void trap_own_stack(struct trap_frame *frame)
{
	if (frame->vector != VECTOR_NMI)
		bad_trap(frame);
	nmi(frame->rip);
}

uintptr_t arch_thread_frame(void *stack_top, void (*entry)(void))
{
	/*
	 * The frame contains, from the lowest address: the registers that arch_switch pops, the return
	 * address of arch_switch, and a null return address for `entry`, so that `entry` gets the stack
	 * alignment of a called function.
	 */
	uint64_t *sp = (uint64_t *)stack_top - 8;

	for (int i = 0; i < 6; i++)
		sp[i] = 0;
	sp[6] = (uintptr_t)entry;
	sp[7] = 0;
	return (uintptr_t)sp;
}
