/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Starts CPUs, idles, and switches off or resets the machine by PSCI calls to the firmware. A semihosting
 * call passes the exit status to QEMU.
 */
#include "arch.h"
#include "calls.h"
#include "cpu.h"
#include "machine.h"
#include "start.h"
#include "thread.h"

#define PSCI_CPU_ON	  0xc4000003
#define PSCI_SYSTEM_OFF	  0x84000008
#define PSCI_SYSTEM_RESET 0x84000009

#define SEMIHOSTING_EXIT_EXTENDED    0x20
#define SEMIHOSTING_APPLICATION_EXIT 0x20026

static int64_t psci(uint64_t function, uint64_t a1, uint64_t a2, uint64_t a3)
{
	return (machine.psci_uses_smc ? psci_smc : psci_hvc)(function, a1, a2, a3);
}

bool arch_cpu_start(struct cpu *cpu)
{
	struct cpu **stack_top = (struct cpu **)(cpu->idle->stack + THREAD_STACK_SIZE);

	cpu->hardware_id = machine_hardware_id(cpu->id);
	stack_top[-1] = cpu; /* secondary_start reads this value */
	__asm__ volatile("dsb ish" : : : "memory");
	return psci(PSCI_CPU_ON, cpu->hardware_id, (uintptr_t)secondary_start, (uintptr_t)stack_top) == 0;
}

void arch_idle(void)
{
	__asm__ volatile("dsb sy; wfi" : : : "memory");
	arch_irq_unmask();
	__asm__ volatile("isb");
	arch_irq_mask();
}

_Noreturn void arch_halt(void)
{
	arch_irq_mask();
	for (;;)
		__asm__ volatile("wfi");
}

_Noreturn void arch_exit(int status)
{
	const uint64_t block[2] = { SEMIHOSTING_APPLICATION_EXIT, (uint64_t)status };

	semihosting(SEMIHOSTING_EXIT_EXTENDED, block);
	psci(PSCI_SYSTEM_OFF, 0, 0, 0);
	arch_halt();
}

_Noreturn void arch_reset(void)
{
	psci(PSCI_SYSTEM_RESET, 0, 0, 0);
	arch_halt();
}
