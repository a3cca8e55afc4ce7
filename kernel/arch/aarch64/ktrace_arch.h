/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * AArch64, EL1 to EL3. A kernel with a per-CPU area defines ktrace_arch_reserve_word() in ktrace_port.h, for
 * instance as tpidr_el1 plus an offset. The addition to that word is atomic, so it does no harm if the thread
 * migrates between computing the address and the addition.
 *
 * Atomics are written in assembler, because the compiler may turn its builtins into calls of libgcc. They
 * also have a path without exclusive accesses, because these may never succeed while the MMU is off.
 */
#ifndef KTRACE_ARCH_AARCH64_H
#define KTRACE_ARCH_AARCH64_H

#if !defined(__aarch64__)
#error "kernel/arch/aarch64 is on the include path, but this is another CPU"
#endif

#define KTRACE_ARCH_MACHINE 183

/* Assembler that loads the address of a label of the image into a register. */
#define KTRACE_ARCH_ADDRESS(register, label) \
	"adrp " register ", " label "\n\tadd " register ", " register ", :lo12:" label

/*
 * There is no isb before the read, because an isb would take more time than the rest of a record. Without it
 * the counter may be read a few instructions early. Readers accept this, because the timestamps in a ring are
 * not strictly monotonic in any case.
 */
#ifndef ktrace_arch_clock
#define ktrace_arch_clock ktrace_arch_clock
static inline uint64_t ktrace_arch_clock(void)
{
	uint64_t count;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
	return count;
}
#endif

#ifndef ktrace_arch_frequency
#define ktrace_arch_frequency ktrace_arch_frequency
static inline uint64_t ktrace_arch_frequency(void)
{
	uint64_t hertz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
	return hertz;
}
#endif

#ifndef ktrace_arch_store_barrier
#define ktrace_arch_store_barrier ktrace_arch_store_barrier
static inline void ktrace_arch_store_barrier(void)
{
	__asm__ volatile("dmb ishst" : : : "memory");
}
#endif

/*
 * Returns nonzero if the MMU of the current exception level is on. While it is off, the CPU treats all memory
 * as device memory. A kernel that uses several CPUs with the MMU off, on a machine on which exclusive
 * accesses work nevertheless, defines it as 1.
 */
#ifndef ktrace_arch_mmu_on
#define ktrace_arch_mmu_on ktrace_arch_mmu_on
static inline int ktrace_arch_mmu_on(void)
{
	uint64_t level, control;

	__asm__ volatile("mrs %0, CurrentEL" : "=r"(level));
	if (level == 3 << 2)
		__asm__ volatile("mrs %0, sctlr_el3" : "=r"(control));
	else if (level == 2 << 2)
		__asm__ volatile("mrs %0, sctlr_el2" : "=r"(control));
	else
		__asm__ volatile("mrs %0, sctlr_el1" : "=r"(control));
	return control & 1;
}
#endif

/* Reserves slots in a ring. Requires: exclusive accesses work; the MMU is usually on after ktrace_init(). */
#define ktrace_arch_ring_add ktrace_arch_ring_add
#if defined(__ARM_FEATURE_ATOMICS)
static inline uint64_t ktrace_arch_ring_add(uint64_t *word, uint64_t n)
{
	uint64_t old;

	__asm__ volatile("ldadd %2, %0, %1" : "=r"(old), "+Q"(*word) : "r"(n) : "memory");
	return old;
}
#else
static inline uint64_t ktrace_arch_ring_add(uint64_t *word, uint64_t n)
{
	uint64_t old, sum;
	uint32_t failed;

	__asm__ volatile("1:	ldxr	%0, %3\n"
			 "	add	%1, %0, %4\n"
			 "	stxr	%w2, %1, %3\n"
			 "	cbnz	%w2, 1b"
			 : "=&r"(old), "=&r"(sum), "=&r"(failed), "+Q"(*word)
			 : "r"(n)
			 : "memory");
	return old;
}
#endif

/*
 * Also used while the MMU is off. In that case only one CPU runs, or the kernel ensures that no other CPU
 * calls this function.
 */
#ifndef ktrace_arch_fetch_add
#define ktrace_arch_fetch_add ktrace_arch_fetch_add
static inline uint64_t ktrace_arch_fetch_add(uint64_t *word, uint64_t n)
{
	volatile uint64_t *plain = word;
	uint64_t old;

	if (ktrace_arch_mmu_on())
		return ktrace_arch_ring_add(word, n);
	old = *plain;
	*plain = old + n;
	return old;
}
#endif

#ifndef ktrace_arch_compare_swap
#define ktrace_arch_compare_swap ktrace_arch_compare_swap
static inline int ktrace_arch_compare_swap(uint64_t *word, uint64_t expected, uint64_t desired)
{
	volatile uint64_t *plain = word;
	uint64_t old;
	uint32_t failed = 1;

	if (!ktrace_arch_mmu_on()) {
		old = *plain;
		if (old == expected)
			*plain = desired;
		return old == expected;
	}
	__asm__ volatile("1:	ldxr	%0, %2\n"
			 "	cmp	%0, %3\n"
			 "	b.ne	2f\n"
			 "	stxr	%w1, %4, %2\n"
			 "	cbnz	%w1, 1b\n"
			 "2:"
			 : "=&r"(old), "+&r"(failed), "+Q"(*word)
			 : "r"(expected), "r"(desired)
			 : "memory", "cc");
	return old == expected;
}
#endif

/*
 * After a branch that depends on a loaded value, isb makes sure that the counter is read after the load.
 * A store is never executed before an earlier isb.
 */
#ifndef ktrace_arch_clock_fence
#define ktrace_arch_clock_fence ktrace_arch_clock_fence
static inline void ktrace_arch_clock_fence(void)
{
	__asm__ volatile("isb" : : : "memory");
}
#endif

/* Return addresses may be signed. The instruction that strips the signature has no effect on older CPUs. */
#ifndef ktrace_arch_frame
#define KTRACE_ARCH_FRAME_OFFSET 0
#define ktrace_arch_frame	 ktrace_arch_frame
static inline void ktrace_arch_frame(uintptr_t frame, uintptr_t *next, uintptr_t *address)
{
	const volatile uintptr_t *word = (const volatile uintptr_t *)frame;
	register uintptr_t signed_address __asm__("x30") = word[1];

	/* hint #7 is xpaclri, which removes the signature from x30 */
	__asm__("hint #7" : "+r"(signed_address));
	*next = word[0];
	*address = signed_address;
}
#endif

#include "../generic/ktrace_arch.h"

#endif
