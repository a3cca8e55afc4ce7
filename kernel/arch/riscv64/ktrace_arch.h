/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * RISC-V 64 with the M and A extensions, M or S mode. A kernel with a per-CPU area defines
 * ktrace_arch_reserve_word() in ktrace_port.h, for instance as tp plus an offset. The addition to that word
 * is atomic, so it does no harm if the thread migrates between computing the address and the addition.
 */
#ifndef KTRACE_ARCH_RISCV64_H
#define KTRACE_ARCH_RISCV64_H

#if !defined(__riscv) || __riscv_xlen != 64
#error "kernel/arch/riscv64 is on the include path, but this is another CPU"
#endif

#define KTRACE_ARCH_MACHINE 243

/* Assembler that loads the address of a label of the image into a register. */
#define KTRACE_ARCH_ADDRESS(register, label) "lla " register ", " label
/* Prefix of an assembler operand that prints a bare number. gcc rejects the usual %c for RISC-V. */
#define KTRACE_ARCH_NUMBER "%"

#ifndef ktrace_arch_clock
#define ktrace_arch_clock ktrace_arch_clock
static inline uint64_t ktrace_arch_clock(void)
{
	uint64_t count;

	__asm__ volatile("rdtime %0" : "=r"(count));
	return count;
}
#endif

#ifndef ktrace_arch_store_barrier
#define ktrace_arch_store_barrier ktrace_arch_store_barrier
static inline void ktrace_arch_store_barrier(void)
{
	__asm__ volatile("fence w, w" : : : "memory");
}
#endif

/* Orders only stores, which is sufficient here. For a release store, gcc would generate an atomic swap. */
#ifndef ktrace_arch_publish
#define ktrace_arch_publish ktrace_arch_publish
static inline void ktrace_arch_publish(uint64_t *word, uint64_t value)
{
	ktrace_arch_store_barrier();
	*(volatile uint64_t *)word = value;
}
#endif

#ifndef ktrace_arch_fetch_add
#define ktrace_arch_fetch_add ktrace_arch_fetch_add
static inline uint64_t ktrace_arch_fetch_add(uint64_t *word, uint64_t n)
{
	uint64_t old;

	__asm__ volatile("amoadd.d %0, %2, %1" : "=r"(old), "+A"(*word) : "r"(n) : "memory");
	return old;
}
#endif

/* For the fence, a read of the counter is an access to a device (i, o). */
#ifndef ktrace_arch_clock_fence
#define ktrace_arch_clock_fence ktrace_arch_clock_fence
static inline void ktrace_arch_clock_fence(void)
{
	__asm__ volatile("fence iorw, iorw" : : : "memory");
}
#endif

/*
 * The frame pointer is the address just after the two saved words (frame pointer and return address). A leaf
 * function that was interrupted may have saved only the frame pointer, in the place where other functions
 * save the return address.
 */
#ifndef ktrace_arch_frame
#define KTRACE_ARCH_FRAME_OFFSET (-16)
#define ktrace_arch_frame	 ktrace_arch_frame
static inline void ktrace_arch_frame(uintptr_t frame, uintptr_t *next, uintptr_t *address)
{
	const volatile uintptr_t *word = (const volatile uintptr_t *)frame;
	uintptr_t upper = word[-1];
	int is_frame = upper % 16 == 0 && upper > frame && upper - frame < KTRACE_STACK_REACH;

	*next = is_frame ? upper : word[-2];
	*address = is_frame ? 0 : upper;
}
#endif

#include "../generic/ktrace_arch.h"

#endif
