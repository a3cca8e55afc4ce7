/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The inline part of kern/arch.h for x86_64. GS points to this CPU's struct cpu. */
#ifndef DEMO_ARCH_CPU_H
#define DEMO_ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The window, at the start of the second 512 GiB of the address space. The first 512 GiB contain the identity
 * map.
 */
#define ARCH_WINDOW_BASE 0x8000000000ul
#define ARCH_WINDOW_SIZE (64ul << 20)

#define RFLAGS_IF 0x200ul

/* Assembly operands with which ktrace accesses trace_reserve and trace_context of struct cpu. */
#define KTRACE_PORT_RESERVE "%%gs:8"
#define KTRACE_PORT_THREAD  "%%gs:16"

struct cpu;

static inline struct cpu *arch_this_cpu(void)
{
	struct cpu *self;

	__asm__ volatile("mov %%gs:0, %0" : "=r"(self)); /* reads the field self of struct cpu */
	return self;
}

static inline uint64_t arch_clock(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static inline bool arch_irq_enabled(void)
{
	uint64_t flags;

	__asm__ volatile("pushfq; pop %0" : "=r"(flags) : : "memory");
	return flags & RFLAGS_IF;
}

static inline void arch_irq_unmask(void)
{
	__asm__ volatile("sti" : : : "memory");
}

static inline void arch_irq_mask(void)
{
	__asm__ volatile("cli" : : : "memory");
}

static inline void arch_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

#endif
