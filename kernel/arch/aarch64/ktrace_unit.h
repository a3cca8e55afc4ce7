/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* How the trace unit in software (ktrx/hwt_unit.h) is rung on AArch64. */
#ifndef KTRACE_ARCH_UNIT_H
#define KTRACE_ARCH_UNIT_H

#include <stdint.h>

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

#endif
