/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The inline part of arch.h for AArch64. Kernel code runs at EL1 on SP_EL1. TPIDR_EL1 contains the address of
 * this CPU's area.
 */
#ifndef DEMO_ARCH_CPU_H
#define DEMO_ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The window is the first 2 MiB of the highest GiB that 39-bit addresses can reach: one page table maps it.
 */
#define ARCH_WINDOW_BASE UINT64_C(0x7fc0000000)
#define ARCH_WINDOW_SIZE UINT64_C(0x200000)

struct cpu;

#define arch_sysreg_read(name)                                                  \
	({                                                                      \
		uint64_t value_;                                                \
		__asm__ volatile("mrs %0, " #name : "=r"(value_) : : "memory"); \
		value_;                                                         \
	})

#define arch_sysreg_write(name, value) \
	__asm__ volatile("msr " #name ", %0" : : "r"((uint64_t)(value)) : "memory")

static inline struct cpu *arch_this_cpu(void)
{
	return (struct cpu *)arch_sysreg_read(tpidr_el1);
}

/*
 * For ktrace: reads trace_context of struct cpu. An interrupt between the two instructions may move the
 * thread to another CPU; trap.c then makes the thread repeat both instructions. trap.c recognizes the two
 * instructions by `ldur`, which compilers do not use for this offset.
 */
#define KTRACE_PORT_THREAD
#define ktrace_arch_thread ktrace_arch_thread
static inline uint32_t ktrace_arch_thread(void)
{
	uint64_t context;

	__asm__ volatile("mrs %0, tpidr_el1\n\tldur %w0, [%0, #16]" : "=r"(context) : : "memory");
	return (uint32_t)context;
}

static inline uint64_t arch_clock(void)
{
	return arch_sysreg_read(cntvct_el0);
}

static inline bool arch_irq_enabled(void)
{
	return !(arch_sysreg_read(daif) & 1 << 7);
}

static inline void arch_irq_unmask(void)
{
	__asm__ volatile("msr daifclr, #2" : : : "memory");
}

static inline void arch_irq_mask(void)
{
	__asm__ volatile("msr daifset, #2" : : : "memory");
}

static inline void arch_relax(void)
{
	__asm__ volatile("yield" : : : "memory");
}

#endif
