/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A port to user space on x86_64 Linux, for benchmarks. Each thread acts as a CPU. A thread's reserve word
 * and the address of its ring are thread-local variables, at fixed offsets from the register fs. A kernel has
 * them at fixed offsets from gs.
 */
#ifndef BENCH_KTRACE_PORT_H
#define BENCH_KTRACE_PORT_H

#include <stdint.h>

extern __thread uint64_t bench_reserve __attribute__((tls_model("local-exec")));
extern __thread struct ktrx_ring *bench_ring __attribute__((tls_model("local-exec")));
extern __thread uint32_t bench_thread __attribute__((tls_model("local-exec")));
extern __thread uint32_t bench_cpu;

#define KTRACE_PORT_RESERVE "%%fs:bench_reserve@tpoff"
#define KTRACE_PORT_THREAD  "%%fs:bench_thread@tpoff"

/*
 * Each ring belongs to one thread, and no signal handler records. So no other writer can overtake a writer in
 * its ring, and the ring can be found without the reserve word.
 */
#ifndef BENCH_CHECKED
#define KTRACE_PORT_PINNED

#define ktrace_arch_ring ktrace_arch_ring
static inline struct ktrx_ring *ktrace_arch_ring(uint64_t word)
{
	struct ktrx_ring *ring;

	(void)word;
	__asm__ volatile("movq %%fs:bench_ring@tpoff, %0" : "=r"(ring));
	return ring;
}
#endif

#define ktrace_arch_online ktrace_arch_online
static inline void ktrace_arch_online(uint32_t ring)
{
	bench_ring = ktrace_ring + ring;
}

#define ktrace_arch_cpu ktrace_arch_cpu
static inline uint32_t ktrace_arch_cpu(void)
{
	return bench_cpu;
}

#define ktrace_arch_reserve_word ktrace_arch_reserve_word
static inline uint64_t *ktrace_arch_reserve_word(void)
{
	return &bench_reserve;
}

/* Replaces the counter by a variable, to measure a record without the cost of the counter. */
#ifdef BENCH_NO_CLOCK
extern volatile uint64_t bench_clock;
#define ktrace_arch_clock ktrace_arch_clock
static inline uint64_t ktrace_arch_clock(void)
{
	return bench_clock;
}
#endif

#endif
