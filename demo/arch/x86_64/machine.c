/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Initializes each CPU, starts the other CPUs, idles, and switches off or resets the machine. */
#include "arch.h"
#include "cpu.h"
#include "string.h"
#include "thread.h"
#include "x86.h"

#define DEBUG_EXIT 0xf4 /* I/O port of QEMU's exit device: -device isa-debug-exit,iobase=0xf4 */
#define NO_DEVICE  0xff /* value that a read of a port returns if no device is connected to the port */

extern char trampoline_start[], trampoline_end[];

/* Called by boot.S. */
void boot_cpu_setup(void);
void ap_cpu_setup(void);

static struct cpu *starting; /* the CPU that arch_cpu_start started last */
uintptr_t ap_stack;	     /* stack of the CPU in `starting`; used by boot.S */

static void cpu_setup(struct cpu *cpu)
{
	descriptors_load(cpu);
	paging_protect();
	user_mode_init();
}

void boot_cpu_setup(void)
{
	pvh_copy();
	paging_init();
	cpus[0].self = &cpus[0];
	cpu_setup(&cpus[0]);
}

void arch_init(void)
{
	console_init();
	apic_init();
	acpi_init(pvh_rsdp());
	clock_init();
	cpus[0].hardware_id = apic_id();
	memcpy((void *)TRAMPOLINE, trampoline_start, (size_t)(trampoline_end - trampoline_start));
}

unsigned arch_cpu_count(void)
{
	return acpi_cpu_count();
}

bool arch_cpu_start(struct cpu *cpu)
{
	cpu->hardware_id = acpi_cpu_apic_id(cpu->id);
	starting = cpu;
	ap_stack = (uintptr_t)cpu->idle->stack + THREAD_STACK_SIZE;
	apic_start_cpu((uint32_t)cpu->hardware_id, TRAMPOLINE / PAGE_SIZE);
	return true;
}

void ap_cpu_setup(void)
{
	cpu_setup(starting);
	apic_init();
}

void arch_idle(void)
{
	/* STI takes effect after the next instruction, so no interrupt can occur between STI and HLT. */
	__asm__ volatile("sti; hlt; cli" : : : "memory");
}

void arch_halt(void)
{
	for (;;)
		__asm__ volatile("cli; hlt" : : : "memory");
}

void arch_exit(int status)
{
	if (inb(DEBUG_EXIT) != NO_DEVICE)
		outb(DEBUG_EXIT, (uint8_t)status);
	acpi_power_off();
	arch_halt();
}

void arch_reset(void)
{
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) no_table = { 0, 0 };

	/* An exception while there is no interrupt table causes a triple fault, which resets the machine. */
	__asm__ volatile("lidt %0; int3" : : "m"(no_table));
	arch_halt();
}
