/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The port of this kernel to ktrace, in C and C++: tp contains the hart's number. */
#ifndef CPLUSPLUS_KTRACE_PORT_H
#define CPLUSPLUS_KTRACE_PORT_H

#include <stdint.h>

#define ktrace_arch_cpu ktrace_arch_cpu
static inline uint32_t ktrace_arch_cpu(void)
{
	uint64_t hart;

	__asm__ volatile("mv %0, tp" : "=r"(hart));
	return hart & 0xffffffffu;
}
#define ktrace_arch_early_cpu ktrace_arch_cpu

#endif
