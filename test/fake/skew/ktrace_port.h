/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * CPUs are threads of this process. Each CPU has its own clock, to which a test gives an offset and a drift.
 */
#ifndef TEST_SKEW_KTRACE_PORT_H
#define TEST_SKEW_KTRACE_PORT_H

#include <stdint.h>

#define KTRACE_MAX_CPUS	  4
#define KTRACE_BOOT_SLOTS 512

extern __thread uint64_t skew_reserve;
extern __thread uint32_t skew_cpu;

/* Returns the time that this CPU's clock shows, in nanoseconds. */
uint64_t skew_clock(void);

#define ktrace_arch_clock     skew_clock
#define ktrace_arch_frequency skew_frequency
static inline uint64_t skew_frequency(void)
{
	return 1000000000;
}

#define ktrace_arch_cpu ktrace_arch_cpu
static inline uint32_t ktrace_arch_cpu(void)
{
	return skew_cpu;
}

#define ktrace_arch_early_cpu ktrace_arch_cpu

#define ktrace_arch_reserve_word ktrace_arch_reserve_word
static inline uint64_t *ktrace_arch_reserve_word(void)
{
	return &skew_reserve;
}

#endif
