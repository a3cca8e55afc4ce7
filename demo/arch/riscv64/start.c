/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "start.h"

#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "machine.h"
#include "mmu.h"

/* The hart that boots; start.S makes all others wait. */
#define BOOT_HART 0

_Noreturn void boot_main(const void *device_tree)
{
	machine_read(device_tree, BOOT_HART);
	if (!machine.timebase_hz)
		machine.timebase_hz = PLATFORM_TIMEBASE_HZ;
	kmain();
}

void arch_init(void)
{
	console_init();
	machine_check();
	cpus[0].hardware_id = machine_hardware_id(0);
	mmu_init(machine.memory_base, machine.memory_size);
}

/* Nothing to initialize: start.S has done everything for this CPU. */
_Noreturn void secondary_main(void)
{
	cpu_main();
}

/* Prepares the first stack frame of a thread, from which arch_switch continues at `entry`. */
uintptr_t arch_thread_frame(void *stack_top, void (*entry)(void))
{
	uint64_t *frame = (uint64_t *)stack_top - 14;

	for (int i = 1; i < 14; i++)
		frame[i] = 0;
	frame[0] = (uintptr_t)entry;
	return (uintptr_t)frame;
}
