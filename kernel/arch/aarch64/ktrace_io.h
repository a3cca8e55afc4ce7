/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Device access on AArch64: memory only. */
#ifndef KTRACE_ARCH_IO_H
#define KTRACE_ARCH_IO_H

#include <stdint.h>

/*
 * Barriers between accesses to memory that a device reads or writes, and the access to the register or index
 * that passes this memory to the device.
 */
#define ktrace_io_barrier ktrace_io_barrier
static inline void ktrace_io_barrier(void)
{
	__asm__ volatile("dsb sy" : : : "memory");
}

/* Called in a polling loop. */
#define ktrace_io_relax ktrace_io_relax
static inline void ktrace_io_relax(void)
{
	__asm__ volatile("yield" : : : "memory");
}

/* Gives a command to the trace unit in software: stores to its doorbell (ktrx/hwt_unit.h). */
#define KTRACE_ARCH_UNIT_EXISTS 1

/*
 * Executes the marker and, directly after it, the store. Both instructions are in one piece of assembler, so
 * that no other instruction comes between them. They are within 8 aligned bytes, so that both are on one
 * page.
 */
static inline void ktrace_arch_unit_ring(uint8_t *doorbell)
{
	__asm__ volatile(".p2align 3\n"
			 "	movz	wzr, #0x4b55\n"
			 "	strb	wzr, [%0]"
			 :
			 : "r"(doorbell)
			 : "memory");
}

#include "../generic/ktrace_io.h"

#endif
