/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Device access on AArch64: memory only. */
#ifndef KTRACE_ARCH_IO_H
#define KTRACE_ARCH_IO_H

#include <stdint.h>

/* Between memory that a device reads or wrote and the register or index that hands it over. */
#define ktrace_io_barrier ktrace_io_barrier
static inline void ktrace_io_barrier(void)
{
	__asm__ volatile("dsb sy" : : : "memory");
}

/* In the body of a poll. */
#define ktrace_io_relax ktrace_io_relax
static inline void ktrace_io_relax(void)
{
	__asm__ volatile("yield" : : : "memory");
}

/* How the trace unit in software (ktrx/hwt_unit.h) is rung. */
#define KTRACE_ARCH_UNIT_EXISTS 1

/*
 * The marker and, right behind it, the store: one piece of assembler, so that nothing comes between them, in
 * 8 bytes, so that both lie on one page.
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
