/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Device access on RISC-V: memory only. */
#ifndef KTRACE_ARCH_IO_H
#define KTRACE_ARCH_IO_H

/* Between memory that a device reads or wrote and the register or index that hands it over. */
#define ktrace_io_barrier ktrace_io_barrier
static inline void ktrace_io_barrier(void)
{
	__asm__ volatile("fence iorw, iorw" : : : "memory");
}

/* In the body of a poll. */
#define ktrace_io_relax ktrace_io_relax
static inline void ktrace_io_relax(void)
{
	__asm__ volatile("nop" : : : "memory");
}

#include "../generic/ktrace_io.h"

#endif
