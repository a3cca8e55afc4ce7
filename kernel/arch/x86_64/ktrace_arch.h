/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * x86_64. A kernel whose per-CPU area is addressed with gs defines the reserve word as an assembler operand
 * in ktrace_port.h:
 *
 *	#define KTRACE_PORT_RESERVE "%%gs:8"	// or "%%gs:symbol(%%rip)"
 *	#define KTRACE_PORT_THREAD  "%%gs:16"	// 32-bit word: thread id | context << 22, below 2^24
 *
 * With -masm=intel, the operands are "qword ptr gs:[8]" and "dword ptr gs:[16]".
 *
 * One xadd on the reserve word is atomic against interrupts of the same CPU without a lock prefix. The value
 * of the word contains the number of the ring. So a thread that migrates to another CPU directly after the
 * xadd still uses the slot that it has reserved.
 */
#ifndef KTRACE_ARCH_X86_64_H
#define KTRACE_ARCH_X86_64_H

#if !defined(__x86_64__)
#error "kernel/arch/x86_64 is on the include path, but this is another CPU"
#endif

#define KTRACE_ARCH_MACHINE   62
#define KTRACE_ARCH_UNALIGNED 1

/* Selects the syntax of inline assembler: AT&T, or Intel with -masm=intel. */
#define KTRACE_ARCH_DIALECT(att, intel) "{" att "|" intel "}"

/* Assembler that loads the address of a label of the image into a register. */
#define KTRACE_ARCH_ADDRESS(register, label) \
	KTRACE_ARCH_DIALECT("leaq " label "(%%rip), " register, "lea " register ", " label "[rip]")

#ifndef ktrace_arch_clock
#define ktrace_arch_clock ktrace_arch_clock
static inline uint64_t ktrace_arch_clock(void)
{
	uint64_t low, high; /* rdtsc clears the upper halves of rax and rdx */

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (high << 32) + low; /* with `|`, gcc needs one more instruction */
}
#endif

struct ktrace_arch_cpuid {
	uint32_t a, b, c, d;
};

static inline struct ktrace_arch_cpuid ktrace_arch_cpuid_read(uint32_t leaf)
{
	struct ktrace_arch_cpuid regs;

	__asm__ volatile("cpuid"
			 : "=a"(regs.a), "=b"(regs.b), "=c"(regs.c), "=d"(regs.d)
			 : "0"(leaf), "2"(0));
	return regs;
}

/*
 * Computes the counter's frequency from a CPUID leaf that contains the frequency of a crystal and the ratio
 * of the counter's frequency to that of the crystal. On many CPUs that leaf is empty. On some machines,
 * leaves above the highest supported leaf return garbage.
 */
#ifndef ktrace_arch_frequency
#define ktrace_arch_frequency ktrace_arch_frequency
static inline uint64_t ktrace_arch_frequency(void)
{
	struct ktrace_arch_cpuid ratio;

	if (ktrace_arch_cpuid_read(0).a < 0x15)
		return 0;
	ratio = ktrace_arch_cpuid_read(0x15);
	return ratio.a ? (uint64_t)ratio.c * ratio.b / ratio.a : 0;
}
#endif

#if defined(KTRACE_PORT_RESERVE) && !defined(ktrace_arch_reserve_word)
#error "KTRACE_PORT_RESERVE is defined: ktrace_arch_reserve_word() must give the address of that word"
#endif

#if defined(KTRACE_PORT_RESERVE) && !defined(ktrace_arch_reserve)
#define ktrace_arch_reserve ktrace_arch_reserve
static inline uint64_t ktrace_arch_reserve(uint64_t n)
{
	__asm__ volatile(
		KTRACE_ARCH_DIALECT("xaddq %0, " KTRACE_PORT_RESERVE, "xadd " KTRACE_PORT_RESERVE ", %0")
		: "+r"(n)
		:
		: "memory", "cc");
	return n;
}

#define ktrace_arch_reserve_read ktrace_arch_reserve_read
static inline uint64_t ktrace_arch_reserve_read(void)
{
	uint64_t word;

	__asm__ volatile(
		KTRACE_ARCH_DIALECT("movq " KTRACE_PORT_RESERVE ", %0", "mov %0, " KTRACE_PORT_RESERVE)
		: "=r"(word)
		:
		: "memory");
	return word;
}
#endif

#if defined(KTRACE_PORT_THREAD) && !defined(ktrace_arch_thread)
#define ktrace_arch_thread ktrace_arch_thread
static inline uint32_t ktrace_arch_thread(void)
{
	uint32_t thread;

	__asm__ volatile(KTRACE_ARCH_DIALECT("movl " KTRACE_PORT_THREAD ", %0", "mov %0, " KTRACE_PORT_THREAD)
			 : "=r"(thread));
	return thread;
}
#endif

/* The CPU makes stores visible in program order, so only the compiler must not reorder them. */
#ifndef ktrace_arch_store_barrier
#define ktrace_arch_store_barrier ktrace_arch_store_barrier
static inline void ktrace_arch_store_barrier(void)
{
	__asm__ volatile("" : : : "memory");
}
#endif

#ifndef ktrace_arch_fetch_add
#define ktrace_arch_fetch_add ktrace_arch_fetch_add
static inline uint64_t ktrace_arch_fetch_add(uint64_t *word, uint64_t n)
{
	__asm__ volatile(KTRACE_ARCH_DIALECT("lock xaddq %0, %1", "lock xadd %1, %0")
			 : "+r"(n), "+m"(*word)
			 :
			 : "memory", "cc");
	return n;
}
#endif

/* rdtsc does not wait for earlier loads. lfence waits for them, and later instructions wait for lfence. */
#ifndef ktrace_arch_clock_fence
#define ktrace_arch_clock_fence ktrace_arch_clock_fence
static inline void ktrace_arch_clock_fence(void)
{
	__asm__ volatile("lfence" : : : "memory");
}
#endif

#include "../generic/ktrace_arch.h"

#endif
