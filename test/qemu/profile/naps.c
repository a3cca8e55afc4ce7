/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A program for RISC-V that sleeps, and works for a moment after each interrupt of its timer, as an idle kernel
 * does. Interrupts stay disabled: a pending interrupt ends the instruction wfi nevertheless.
 */
#include <stdint.h>

#define MTIMECMP ((volatile uint64_t *)0x2004000)
#define MTIME	 ((volatile uint64_t *)0x200bff8)
#define TICK	 100000u /* 10 ms */
#define WORK	 5000u	 /* 0.5 ms */

void bare_main(void);

void bare_main(void)
{
	__asm__ volatile("csrs mie, %0" : : "r"(1 << 7));
	for (;;) {
		const uint64_t begin = *MTIME;

		*MTIMECMP = begin + TICK;
		while (*MTIME - begin < WORK)
			continue;
		__asm__ volatile("wfi");
	}
}
