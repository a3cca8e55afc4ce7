/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A system call: number in a7, arguments in a0 to a5, result in a0. */
#ifndef USER_ARCH_CALL_H
#define USER_ARCH_CALL_H

#include <stdint.h>

static inline int64_t arch_call(unsigned number, const uint64_t a[static 6])
{
	register uint64_t nr __asm__("a7") = number;
	register uint64_t a0 __asm__("a0") = a[0];
	register uint64_t a1 __asm__("a1") = a[1];
	register uint64_t a2 __asm__("a2") = a[2];
	register uint64_t a3 __asm__("a3") = a[3];
	register uint64_t a4 __asm__("a4") = a[4];
	register uint64_t a5 __asm__("a5") = a[5];

	__asm__ volatile("ecall"
			 : "+r"(a0)
			 : "r"(nr), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			 : "memory");
	return (int64_t)a0;
}

#endif
