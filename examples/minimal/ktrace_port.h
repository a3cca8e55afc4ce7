/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The port of this kernel to ktrace: tp contains the hart's number. */
#define ktrace_arch_cpu()                                   \
	({                                                  \
		uint64_t hart;                              \
		__asm__ volatile("mv %0, tp" : "=r"(hart)); \
		(uint32_t) hart;                            \
	})
#define ktrace_arch_early_cpu ktrace_arch_cpu
