/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "clint.h"

#include "arch.h"
#include "cpu.h"
#include "machine.h"
#include "platform.h"

/* Time of each CPU's next tick; each CPU uses only its own entry. */
static uint64_t deadline[CPU_MAX];

uint64_t arch_clock_hz(void)
{
	return machine.timebase_hz;
}

/*
 * Sets this hart's timer by an ecall to machine mode. This is the only service of machine mode, so it has no
 * number.
 */
static void set_timer(uint64_t when)
{
	/* No function call may come between here and the ecall, because it could change a0. */
	register uint64_t a0 __asm__("a0") = when;

	__asm__ volatile("ecall" : : "r"(a0) : "memory");
}

static void tick_at(uint64_t when)
{
	deadline[arch_this_cpu()->id] = when;
	set_timer(when);
}

void arch_timer_start(void)
{
	tick_at(arch_clock() + arch_clock_hz() / TICK_HZ);
}

void arch_timer_stop(void)
{
	tick_at(UINT64_MAX);
}

/* If the hart handles a tick more than one period too late, drops the ticks that it has missed. */
void clint_timer_next(void)
{
	uint64_t period = arch_clock_hz() / TICK_HZ;
	uint64_t next = deadline[arch_this_cpu()->id] + period;
	uint64_t now = arch_clock();

	tick_at(next > now ? next : now + period);
}

void clint_interrupt_hart(uint64_t hart)
{
	volatile uint32_t *software_interrupt = (volatile uint32_t *)(uintptr_t)CLINT_SOFTWARE_INTERRUPT;

	/* Earlier stores must be visible before the interrupt. */
	__asm__ volatile("fence w, o" : : : "memory");
	software_interrupt[hart] = 1;
}

/*
 * A hart has only one software interrupt, which serves IPIs and doorbells. doorbells[n] is 1 if another
 * CPU rang the doorbell of CPU n.
 */
static uint32_t doorbells[CPU_MAX];

bool clint_doorbell_rang(void)
{
	return __atomic_exchange_n(&doorbells[arch_this_cpu()->id], 0, __ATOMIC_ACQUIRE);
}

void arch_doorbell_ring(const struct cpu *cpu)
{
	__atomic_store_n(&doorbells[cpu->id], 1, __ATOMIC_RELEASE);
	clint_interrupt_hart(cpu->hardware_id);
}

/* Does nothing: no interrupt controller needs to know that the interrupt was handled. */
void arch_doorbell_end(void)
{
}

void arch_ipi_send(const struct cpu *cpu)
{
	clint_interrupt_hart(cpu->hardware_id);
}

/* Supervisor mode has no non-maskable interrupts. */
bool arch_nmi_send(const struct cpu *cpu)
{
	(void)cpu;
	return false;
}
