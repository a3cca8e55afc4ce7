/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Device access on RISC-V: memory only. */
#ifndef KTRACE_ARCH_IO_H
#define KTRACE_ARCH_IO_H

/*
 * Barriers between accesses to memory that a device reads or writes, and the access to the register or index
 * that passes this memory to the device.
 */
#define ktrace_io_barrier ktrace_io_barrier
static inline void ktrace_io_barrier(void)
{
	__asm__ volatile("fence iorw, iorw" : : : "memory");
}

/* Called in a polling loop. */
#define ktrace_io_relax ktrace_io_relax
static inline void ktrace_io_relax(void)
{
	__asm__ volatile("nop" : : : "memory");
}

#include "../generic/ktrace_io.h"

#endif
