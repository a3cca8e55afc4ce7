/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * CPUs are threads of this process, and signals are their interrupts. The reserve word is in thread-local
 * storage and is changed by one instruction. So a signal can interrupt the record path at the same points as
 * an interrupt in a kernel.
 */
#ifndef TEST_THREADS_KTRACE_PORT_H
#define TEST_THREADS_KTRACE_PORT_H

#include <stdint.h>

#define KTRACE_MAX_CPUS	  4
#define KTRACE_BOOT_SLOTS 512

extern __thread uint64_t threads_reserve __attribute__((tls_model("local-exec")));
extern __thread uint32_t threads_cpu;

#define KTRACE_PORT_RESERVE "%%fs:threads_reserve@tpoff"

#define ktrace_arch_cpu ktrace_arch_cpu
static inline uint32_t ktrace_arch_cpu(void)
{
	return threads_cpu;
}

#define ktrace_arch_early_cpu ktrace_arch_cpu

#define ktrace_arch_thread ktrace_arch_thread
static inline uint32_t ktrace_arch_thread(void)
{
	return threads_cpu + 100;
}

#define ktrace_arch_reserve_word ktrace_arch_reserve_word
static inline uint64_t *ktrace_arch_reserve_word(void)
{
	return &threads_reserve;
}

#endif
