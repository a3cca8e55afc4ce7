/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations that the files of this directory share: instructions that C does not offer, and the
 * functions of each file.
 */
#ifndef DEMO_X86_H
#define DEMO_X86_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

struct cpu;

static inline void outb(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline void outw(uint16_t port, uint16_t value)
{
	__asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port));
}

static inline uint8_t inb(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline void wrmsr(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

static inline uint64_t rdmsr(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}

/* In descriptors.c: loads this CPU's GDT, TSS and IDT and sets GS. After that, traps work. */
void descriptors_load(struct cpu *cpu);
/* Sets the stack on which the CPU handles traps from user mode. */
void descriptors_set_stack(const struct cpu *cpu, uintptr_t top);

/* In user.c: enables the SYSCALL instruction on this CPU. */
void user_mode_init(void);

/* The following functions are in apic.c. */
void apic_init(void); /* enables this CPU's local APIC; masks its timer */
void apic_acknowledge(void);
/*
 * Unmasks the interrupt of the performance monitors, which the trace unit uses. Must be called after each
 * such interrupt, because the APIC then masks the interrupt.
 */
void apic_trace_unit_unmask(void);
uint32_t apic_id(void);
void apic_start_cpu(uint32_t id, uint32_t page); /* sends the interrupts INIT, SIPI, SIPI */

/* In clock.c: measures the frequencies of the TSC and the APIC timer. Called once, on the boot CPU. */
void clock_init(void);
void clock_delay_us(uint64_t us);
uint32_t apic_timer_count(void);
void apic_timer_run(uint32_t initial, bool periodic);

/* In acpi.c: reads the firmware's tables. Called once, on the boot CPU. */
void acpi_init(uintptr_t rsdp);
unsigned acpi_cpu_count(void);
uint32_t acpi_cpu_apic_id(unsigned n); /* CPU 0 is the boot CPU */
void acpi_power_off(void);	       /* returns only if the machine has no power register */

/* The following functions are in console.c. */
void console_init(void);

/* The following functions are in paging.c. */
void paging_init(void); /* called once, on the boot CPU; unmaps page 0 */
/*
 * Enables this CPU's features that prevent the execution of data pages, and accidental use of user memory by
 * the kernel.
 */
void paging_protect(void);

/* The following functions are in pvh.c. */
void pvh_copy(void); /* copies the start info; called before the other functions of pvh.c */
uintptr_t pvh_rsdp(void);

#endif
