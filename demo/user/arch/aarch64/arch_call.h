/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A system call: number in x8, arguments in x0 to x5, result in x0. */
#ifndef USER_ARCH_CALL_H
#define USER_ARCH_CALL_H

#include <stdint.h>

static inline int64_t arch_call(unsigned number, const uint64_t a[static 6])
{
	register uint64_t nr __asm__("x8") = number;
	register uint64_t a0 __asm__("x0") = a[0];
	register uint64_t a1 __asm__("x1") = a[1];
	register uint64_t a2 __asm__("x2") = a[2];
	register uint64_t a3 __asm__("x3") = a[3];
	register uint64_t a4 __asm__("x4") = a[4];
	register uint64_t a5 __asm__("x5") = a[5];

	__asm__ volatile("svc #0"
			 : "+r"(a0)
			 : "r"(nr), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			 : "memory");
	return (int64_t)a0;
}

#endif
