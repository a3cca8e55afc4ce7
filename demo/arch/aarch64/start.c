/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "start.h"

#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "gic.h"
#include "machine.h"
#include "mmu.h"
#include "platform.h"

/* The affinity fields of MPIDR_EL1. The firmware and the device tree identify a CPU by them. */
#define MPIDR_AFFINITY UINT64_C(0xff00ffffff)

_Noreturn void boot_main(const void *device_tree)
{
	/* QEMU passes no address to an ELF kernel, but the device tree is at the start of RAM. */
	if (!device_tree)
		device_tree = (const void *)(uintptr_t)PLATFORM_RAM;
	machine_read(device_tree, arch_sysreg_read(mpidr_el1) & MPIDR_AFFINITY);
	kmain();
}

void arch_init(void)
{
	console_init();
	machine_check();
	cpus[0].hardware_id = machine_hardware_id(0);
	mmu_init(machine.memory_base, machine.memory_size);
	gic_init();
}

_Noreturn void secondary_main(void)
{
	gic_init_cpu();
	cpu_main();
}

/* Prepares the first stack frame of a thread, from which arch_switch continues at `entry`. */
uintptr_t arch_thread_frame(void *stack_top, void (*entry)(void))
{
	uint64_t *frame = (uint64_t *)stack_top - 12;

	for (int i = 0; i < 11; i++)
		frame[i] = 0;
	frame[11] = (uintptr_t)entry;
	return (uintptr_t)frame;
}
