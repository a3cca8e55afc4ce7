/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "cpu.h"
#include "interrupt.h"
#include "ipi.h"
#include "panic.h"
#include "sched.h"
#include "thread.h"
#include "timer.h"
#include "trace.h"

void (*interrupt_observer)(enum irq irq);
void (*doorbell_handler)(void);

static const char *const names[] = {
	[IRQ_TIMER] = "timer", [IRQ_IPI] = "ipi",	    [IRQ_SPURIOUS] = "spurious",
	[IRQ_NMI] = "nmi",     [IRQ_DOORBELL] = "doorbell", [IRQ_TRACE_UNIT] = "trace unit",
};

static void observe(enum irq irq)
{
	void (*observer)(enum irq) = __atomic_load_n(&interrupt_observer, __ATOMIC_ACQUIRE);

	if (observer)
		observer(irq);
}

static void handle(enum irq irq, uintptr_t ip)
{
	switch (irq) {
	case IRQ_TIMER:
		ktrace_heartbeat(ip);
		timer_tick();
		break;
	case IRQ_IPI:
		ipi_handle();
		break;
	case IRQ_DOORBELL:
		doorbell_handler();
		break;
	default:
		break;
	}
}

/*
 * Returns false for a spurious interrupt, which may occur although the interrupt controller has no pending
 * interrupt.
 */
static bool is_real(enum irq irq)
{
	return irq != IRQ_SPURIOUS;
}

void interrupt_ended(enum irq irq)
{
	struct cpu *self = arch_this_cpu();
	uint32_t interrupted = trace_enter(self, KTRX_CONTEXT_INTERRUPT);

	if (is_real(irq))
		ktrace_eoi(irq);
	self->trace_context = interrupted;
}

void doorbell_end(void)
{
	arch_doorbell_end();
	interrupt_ended(IRQ_DOORBELL);
}

void interrupt(enum irq irq, uintptr_t ip)
{
	struct cpu *self = arch_this_cpu();
	uint32_t interrupted = trace_enter(self, KTRX_CONTEXT_INTERRUPT);

	if (is_real(irq))
		ktrace_interrupt_enter(irq, names[irq], ip);
	else
		ktrace_nmi_enter(irq, names[irq], ip);
	thread_check_stack(self->current, ip);
	observe(irq);
	handle(irq, ip);
	if (is_real(irq))
		ktrace_interrupt_exit(irq);
	else
		ktrace_nmi_exit(irq);
	self->trace_context = interrupted;
	if (self->need_resched) {
		schedule();
		/* From here on, this thread runs again. It had interrupts on when it was interrupted. */
		ktrace_interrupts(1);
	}
}

void nmi(uintptr_t ip)
{
	struct cpu *self = arch_this_cpu();
	uint32_t interrupted = trace_enter(self, KTRX_CONTEXT_NMI);

	ktrace_nmi_enter(IRQ_NMI, names[IRQ_NMI], ip);
	observe(IRQ_NMI);
	panic_check();
	ktrace_nmi_exit(IRQ_NMI);
	self->trace_context = interrupted;
}
