/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Device access on RISC-V: memory only. */
#ifndef KTRACE_ARCH_IO_H
#define KTRACE_ARCH_IO_H

/* Between memory that a device reads or wrote and the register or index that hands it over. */
static inline void ktrace_io_barrier(void)
{
	__asm__ volatile("fence iorw, iorw" : : : "memory");
}

/* In the body of a poll. */
static inline void ktrace_io_relax(void)
{
	__asm__ volatile("nop" : : : "memory");
}

#include "../generic/ktrace_io.h"

#endif
