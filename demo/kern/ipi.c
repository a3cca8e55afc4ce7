/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdbool.h>

#include <ktrace/ktrace.h>

#include "arch.h"
#include "cpu.h"
#include "ipi.h"
#include "panic.h"

KTRACE_EVENT(ipi, send, "to CPU %u: %u (1 reschedule, 2 call, 4 stop, 8 clock)", (uint32_t, cpu),
	     (uint32_t, what));
KTRACE_EVENT(ipi, receive, "%u (1 reschedule, 2 call, 4 stop, 8 clock)", (uint32_t, what));

/* The one call in progress; its owner is the CPU that set busy. */
static struct {
	uint32_t busy; /* a word, for RISC-V has no atomic exchange of less */
	unsigned left; /* CPUs that have not returned */
	void (*function)(void *);
	void *argument;
} call;

void ipi_send(struct cpu *cpu, enum ipi ipi)
{
	KTRACE(ipi, send, cpu->id, ipi);
	/* With another request pending an interrupt is on its way already. */
	if (__atomic_fetch_or(&cpu->ipi_pending, (uint32_t)ipi, __ATOMIC_ACQ_REL) == 0)
		arch_ipi_send(cpu);
}

/*
 * Interrupts are off while we wait, for the call's owner must not be preempted; so we look after our own
 * requests here, or two callers would wait for each other for ever.
 */
void ipi_call_all(void (*function)(void *), void *argument)
{
	bool irq_on = arch_irq_save();
	struct cpu *self = arch_this_cpu();

	while (__atomic_exchange_n(&call.busy, 1, __ATOMIC_ACQUIRE)) {
		ipi_handle();
		arch_relax();
	}
	call.function = function;
	call.argument = argument;
	call.left = cpu_count - 1;
	for (unsigned i = 0; i < cpu_count; i++)
		if (&cpus[i] != self)
			ipi_send(&cpus[i], IPI_CALL);
	function(argument);
	while (__atomic_load_n(&call.left, __ATOMIC_ACQUIRE) > 0) {
		ipi_handle();
		arch_relax();
	}
	__atomic_store_n(&call.busy, 0, __ATOMIC_RELEASE);
	arch_irq_restore(irq_on);
}

void ipi_handle(void)
{
	struct cpu *self = arch_this_cpu();
	uint32_t pending = __atomic_exchange_n(&self->ipi_pending, 0, __ATOMIC_ACQ_REL);

	if (!pending)
		return;
	KTRACE(ipi, receive, pending);
	if (pending & IPI_STOP)
		panic_check();
	if (pending & IPI_CALL) {
		call.function(call.argument);
		__atomic_fetch_sub(&call.left, 1, __ATOMIC_RELEASE);
	}
	if (pending & IPI_CLOCK)
		ktrace_clock_serve();
	if (pending & IPI_RESCHEDULE)
		self->need_resched = true;
}
