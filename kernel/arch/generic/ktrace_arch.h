/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Defines everything that neither ktrace_port.h nor the CPU's header defines. The defaults are one CPU, no
 * threads, the compiler's atomics, and an atomic addition that reserves slots in the CPU's ring. Each CPU's
 * header includes this one at its end. A CPU without a header of its own uses this header alone;
 * ktrace_port.h must then define the clock.
 */
#ifndef KTRACE_ARCH_GENERIC_H
#define KTRACE_ARCH_GENERIC_H

#ifndef ktrace_arch_clock
#error "ktrace supports x86_64, aarch64, riscv64; on another CPU ktrace_port.h must define ktrace_arch_clock"
#endif

#ifndef KTRACE_ARCH_MACHINE
#define KTRACE_ARCH_MACHINE 0
#endif

#ifndef KTRACE_ARCH_UNALIGNED
#define KTRACE_ARCH_UNALIGNED 0
#endif

#ifndef ktrace_arch_stack_end
#define ktrace_arch_stack_end ktrace_arch_stack_end
static inline uintptr_t ktrace_arch_stack_end(uintptr_t here)
{
	(void)here;
	return 0;
}
#endif

/* The frame contains the caller's frame pointer, and above it the return address. */
#ifndef ktrace_arch_frame
#define KTRACE_ARCH_FRAME_OFFSET 0
#define ktrace_arch_frame	 ktrace_arch_frame
static inline void ktrace_arch_frame(uintptr_t frame, uintptr_t *next, uintptr_t *address)
{
	const volatile uintptr_t *word = (const volatile uintptr_t *)frame;

	*next = word[0];
	*address = word[1];
}
#endif

#ifndef ktrace_arch_frequency
#define ktrace_arch_frequency ktrace_arch_frequency
static inline uint64_t ktrace_arch_frequency(void)
{
	return 0;
}
#endif

#ifndef ktrace_arch_cpu
#define ktrace_arch_cpu ktrace_arch_cpu
static inline uint32_t ktrace_arch_cpu(void)
{
	return 0;
}
#endif

#ifndef ktrace_arch_early_cpu
#define ktrace_arch_early_cpu ktrace_arch_early_cpu
static inline uint32_t ktrace_arch_early_cpu(void)
{
	return 0;
}
#endif

#ifndef ktrace_arch_thread
#define ktrace_arch_thread ktrace_arch_thread
static inline uint32_t ktrace_arch_thread(void)
{
	return 0;
}
#endif

/*
 * A port may define these as macros that use variables of the kernel, such as `cpu` or `thread`. They are
 * expanded in these functions, which have no variables of their own that could hide the kernel's variables.
 */
KTRACE_INLINE uint32_t ktrace_port_cpu(void)
{
	return ktrace_arch_cpu();
}
#undef ktrace_arch_cpu
#define ktrace_arch_cpu ktrace_port_cpu

KTRACE_INLINE uint32_t ktrace_port_early_cpu(void)
{
	return ktrace_arch_early_cpu();
}
#undef ktrace_arch_early_cpu
#define ktrace_arch_early_cpu ktrace_port_early_cpu

/*
 * Cuts the port's value to the 24 bits of the id and the context: other bits would make the check of a slot
 * wrong. A variable of KTRACE_PORT_THREAD is not cut, because this costs an instruction.
 */
KTRACE_INLINE uint32_t ktrace_port_thread(void)
{
#ifdef KTRACE_PORT_THREAD
	return ktrace_arch_thread();
#else
	return (ktrace_arch_thread()) & 0xffffffu;
#endif
}
#undef ktrace_arch_thread
#define ktrace_arch_thread ktrace_port_thread

#ifndef ktrace_arch_store_barrier
#define ktrace_arch_store_barrier ktrace_arch_store_barrier
static inline void ktrace_arch_store_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}
#endif

#ifndef ktrace_arch_clock_fence
#define ktrace_arch_clock_fence ktrace_arch_clock_fence
static inline void ktrace_arch_clock_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif

#ifndef ktrace_arch_publish
#define ktrace_arch_publish ktrace_arch_publish
static inline void ktrace_arch_publish(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}
#endif

#ifndef ktrace_arch_fetch_add
#define ktrace_arch_fetch_add ktrace_arch_fetch_add
static inline uint64_t ktrace_arch_fetch_add(uint64_t *word, uint64_t n)
{
	return __atomic_fetch_add(word, n, __ATOMIC_RELAXED);
}
#endif

#ifndef ktrace_arch_compare_swap
#define ktrace_arch_compare_swap ktrace_arch_compare_swap
static inline int ktrace_arch_compare_swap(uint64_t *word, uint64_t expected, uint64_t desired)
{
	return __atomic_compare_exchange_n(word, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
#endif

#ifndef ktrace_arch_reserve_word
#define ktrace_arch_reserve_word ktrace_arch_reserve_word
/*
 * CPUs with a number of KTRACE_MAX_CPUS or more use the spare entry after the others. The reserve word in
 * that entry always selects the boot ring.
 */
static inline uint64_t *ktrace_arch_reserve_word(void)
{
	uint32_t cpu = ktrace_arch_cpu();

	return &ktrace_ring[(cpu < KTRACE_MAX_CPUS ? cpu : KTRACE_MAX_CPUS) + 1].word;
}
#endif

#ifndef ktrace_arch_ring_add
#define ktrace_arch_ring_add ktrace_arch_fetch_add
#endif

#ifndef ktrace_arch_reserve
#define ktrace_arch_reserve ktrace_arch_reserve
static inline uint64_t ktrace_arch_reserve(uint64_t n)
{
	return ktrace_arch_ring_add(ktrace_arch_reserve_word(), n);
}
#endif

#ifndef ktrace_arch_reserve_read
#define ktrace_arch_reserve_read ktrace_arch_reserve_read
static inline uint64_t ktrace_arch_reserve_read(void)
{
	return *(volatile uint64_t *)ktrace_arch_reserve_word();
}
#endif

#ifndef ktrace_arch_ring
#define ktrace_arch_ring ktrace_arch_ring
static inline struct ktrx_ring *ktrace_arch_ring(uint64_t word)
{
	return &ktrace_ring[KTRX_WORD_RING(word)];
}
#endif

#ifndef ktrace_arch_online
#define ktrace_arch_online ktrace_arch_online
static inline void ktrace_arch_online(uint32_t ring)
{
	(void)ring;
}
#endif

#ifndef ktrace_arch_pin
#define ktrace_arch_pin ktrace_arch_pin
static inline unsigned long ktrace_arch_pin(void)
{
	return 0;
}

static inline void ktrace_arch_unpin(unsigned long state)
{
	(void)state;
}
#endif

#endif
