/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The inline part of arch.h for RISC-V. The kernel runs in supervisor mode. tp contains the address of this
 * CPU's area; it belongs to the CPU, not to the thread.
 */
#ifndef DEMO_ARCH_CPU_H
#define DEMO_ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* The window is the first 2 MiB of the highest GiB of Sv39's lower half: one page table maps it. */
#define ARCH_WINDOW_BASE UINT64_C(0x3fc0000000)
#define ARCH_WINDOW_SIZE UINT64_C(0x200000)

#define SSTATUS_SIE 2

struct cpu;

#define arch_csr_read(name)                                                      \
	({                                                                       \
		uint64_t value_;                                                 \
		__asm__ volatile("csrr %0, " #name : "=r"(value_) : : "memory"); \
		value_;                                                          \
	})

#define arch_csr_write(name, value) \
	__asm__ volatile("csrw " #name ", %0" : : "rK"((uint64_t)(value)) : "memory")
#define arch_csr_set(name, bits) __asm__ volatile("csrs " #name ", %0" : : "rK"((uint64_t)(bits)) : "memory")
#define arch_csr_clear(name, bits) \
	__asm__ volatile("csrc " #name ", %0" : : "rK"((uint64_t)(bits)) : "memory")

static inline struct cpu *arch_this_cpu(void)
{
	struct cpu *cpu;

	__asm__ volatile("mv %0, tp" : "=r"(cpu) : : "memory");
	return cpu;
}

/*
 * For ktrace: reads trace_context of struct cpu with one instruction, so that the thread cannot move to
 * another CPU in between.
 */
#define KTRACE_PORT_THREAD
#define ktrace_arch_thread ktrace_arch_thread
static inline uint32_t ktrace_arch_thread(void)
{
	uint32_t context;

	__asm__ volatile("lw %0, 16(tp)" : "=r"(context) : : "memory");
	return context;
}

static inline uint64_t arch_clock(void)
{
	return arch_csr_read(time);
}

static inline bool arch_irq_enabled(void)
{
	return arch_csr_read(sstatus) & SSTATUS_SIE;
}

static inline void arch_irq_unmask(void)
{
	arch_csr_set(sstatus, SSTATUS_SIE);
}

static inline void arch_irq_mask(void)
{
	arch_csr_clear(sstatus, SSTATUS_SIE);
}

/* The PAUSE hint. Processors without it execute it as an empty fence. */
static inline void arch_relax(void)
{
	__asm__ volatile(".4byte 0x0100000f" : : : "memory");
}

#endif
