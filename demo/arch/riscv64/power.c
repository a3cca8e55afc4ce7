/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Starts CPUs, idles, and switches off or resets the machine by a store to the machine's "finisher" device.
 */
#include "arch.h"
#include "clint.h"
#include "cpu.h"
#include "machine.h"
#include "platform.h"
#include "start.h"
#include "thread.h"

enum { FINISH_PASS = 0x5555, FINISH_FAIL = 0x3333, FINISH_RESET = 0x7777 };

bool arch_cpu_start(struct cpu *cpu)
{
	struct cpu **stack_top = (struct cpu **)(cpu->idle->stack + THREAD_STACK_SIZE);

	cpu->hardware_id = machine_hardware_id(cpu->id);
	if (cpu->hardware_id >= PLATFORM_HARTS)
		return false;
	stack_top[-1] = cpu; /* start.S of the called hart reads this value */
	hart_calls[cpu->hardware_id] = stack_top;
	clint_interrupt_hart(cpu->hardware_id);
	return true;
}

void arch_idle(void)
{
	__asm__ volatile("wfi" : : : "memory");
	arch_irq_unmask();
	arch_irq_mask();
}

_Noreturn void arch_halt(void)
{
	arch_irq_mask();
	arch_csr_write(sie, 0);
	for (;;)
		__asm__ volatile("wfi");
}

static _Noreturn void finish(uint32_t how)
{
	*(volatile uint32_t *)(uintptr_t)PLATFORM_FINISHER = how;
	arch_halt();
}

_Noreturn void arch_exit(int status)
{
	finish(status ? (uint32_t)status << 16 | FINISH_FAIL : FINISH_PASS);
}

_Noreturn void arch_reset(void)
{
	finish(FINISH_RESET);
}
