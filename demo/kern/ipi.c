/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdbool.h>

#include <ktrace/ktrace.h>

#include "arch.h"
#include "cpu.h"
#include "ipi.h"
#include "panic.h"

/* The call in progress: only one at a time. Its owner is the CPU that set `busy`. */
static struct {
	uint32_t busy; /* 32 bits, because RISC-V has no smaller atomic exchange */
	unsigned left; /* number of other CPUs on which the function has not returned yet */
	void (*function)(void *);
	void *argument;
} call;

/*
 * Sends an interrupt only if no other request to that CPU is pending: otherwise the sender of that request
 * sends the interrupt. Therefore a sender must not be preempted between setting its bit and sending the
 * interrupt.
 */
void ipi_send(struct cpu *cpu, enum ipi ipi)
{
	bool irq_on = arch_irq_save();

	ktrace_ipi_send(cpu->id, ipi);
	if (__atomic_fetch_or(&cpu->ipi_pending, (uint32_t)ipi, __ATOMIC_ACQ_REL) == 0)
		arch_ipi_send(cpu);
	arch_irq_restore(irq_on);
}

/*
 * Waits until no other call is in progress. Returns true if interrupts were on. On return interrupts are off,
 * because the owner of the call must not be preempted.
 * The wait may be long. If interrupts were on, they are turned on between two attempts. If they were off,
 * this function calls ipi_handle() to handle requests to this CPU: otherwise two callers could wait for each
 * other for ever.
 */
static bool claim_call(uintptr_t place)
{
	bool irq_on = arch_irq_save_at(place);

	if (__atomic_exchange_n(&call.busy, 1, __ATOMIC_ACQUIRE)) {
		ktrace_lock_wait_at(&call, "call of all CPUs", KTRACE_BY_THREAD, KTRACE_NOBODY, place);
		do {
			ipi_handle();
			arch_irq_restore(irq_on);
			arch_relax();
			arch_irq_save_at(place);
		} while (__atomic_exchange_n(&call.busy, 1, __ATOMIC_ACQUIRE));
	}
	ktrace_lock_acquire_at(&call, KTRACE_BY_THREAD, place);
	return irq_on;
}

static void release_call(void)
{
	ktrace_lock_release(&call, KTRACE_BY_THREAD);
	__atomic_store_n(&call.busy, 0, __ATOMIC_RELEASE);
}

static void wait_for_answers(void)
{
	while (__atomic_load_n(&call.left, __ATOMIC_ACQUIRE) > 0) {
		ipi_handle();
		arch_relax();
	}
	ktrace_ipi_wait_end();
}

/* Runs the function on one CPU, `only`, or on all CPUs if `only` is NULL. */
static void call_cpus(const struct cpu *only, void (*function)(void *), void *argument, uintptr_t place)
{
	bool irq_on = claim_call(place);
	struct cpu *self = arch_this_cpu();

	call.function = function;
	call.argument = argument;
	call.left = only ? only != self : cpu_count - 1;
	ktrace_ipi_wait_at(only ? only->id : KTRX_ALL_CPUS, IPI_CALL, place);
	for (unsigned i = 0; i < cpu_count; i++)
		if (&cpus[i] != self && (!only || only == &cpus[i]))
			ipi_send(&cpus[i], IPI_CALL);
	if (!only || only == self)
		function(argument);
	wait_for_answers();
	release_call();
	arch_irq_restore(irq_on);
}

void ipi_call_all(void (*function)(void *), void *argument)
{
	call_cpus(NULL, function, argument, KTRACE_RETURN_ADDRESS);
}

void ipi_call(const struct cpu *cpu, void (*function)(void *), void *argument)
{
	call_cpus(cpu, function, argument, KTRACE_RETURN_ADDRESS);
}

void ipi_handle(void)
{
	struct cpu *self = arch_this_cpu();
	uint32_t pending = __atomic_exchange_n(&self->ipi_pending, 0, __ATOMIC_ACQ_REL);

	if (!pending)
		return;
	ktrace_ipi_receive(pending);
	if (pending & IPI_STOP)
		panic_check();
	if (pending & IPI_CALL) {
		call.function(call.argument);
		ktrace_ipi_answer();
		__atomic_fetch_sub(&call.left, 1, __ATOMIC_RELEASE);
	}
	if (pending & IPI_CLOCK)
		ktrace_clock_serve();
	if (pending & IPI_RESCHEDULE)
		self->need_resched = true;
}
