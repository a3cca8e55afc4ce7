/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The port of a kernel with a per-CPU area. Build tests use it to check the generated code. */
#ifndef TEST_KTRACE_PORT_H
#define TEST_KTRACE_PORT_H

#include <stdint.h>

struct per_cpu {
	struct per_cpu *self;
	uint64_t reserve;
	uint32_t thread;
};

static inline struct per_cpu *per_cpu(void)
{
	struct per_cpu *self;

#if defined(__x86_64__)
	__asm__ volatile("mov %%gs:0, %0" : "=r"(self));
#elif defined(__aarch64__)
	__asm__ volatile("mrs %0, tpidr_el1" : "=r"(self));
#else
	__asm__ volatile("mv %0, tp" : "=r"(self));
#endif
	return self;
}

#define KTRACE_PORT_RESERVE "%%gs:8"
#define KTRACE_PORT_THREAD  "%%gs:16"

#define ktrace_arch_reserve_word ktrace_arch_reserve_word
static inline uint64_t *ktrace_arch_reserve_word(void)
{
	return &per_cpu()->reserve;
}

#if !defined(__x86_64__)
#define ktrace_arch_thread ktrace_arch_thread
static inline uint32_t ktrace_arch_thread(void)
{
	return per_cpu()->thread;
}
#endif

#endif
