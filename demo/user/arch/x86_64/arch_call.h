/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A system call: number in rax, arguments in rdi, rsi, rdx, r10, r8, r9, result in rax. */
#ifndef USER_ARCH_CALL_H
#define USER_ARCH_CALL_H

#include <stdint.h>

static inline int64_t arch_call(unsigned number, const uint64_t a[static 6])
{
	register uint64_t a3 __asm__("r10") = a[3];
	register uint64_t a4 __asm__("r8") = a[4];
	register uint64_t a5 __asm__("r9") = a[5];
	int64_t result = number;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(a3), "r"(a4), "r"(a5)
			 : "rcx", "r11", "memory");
	return result;
}

#endif
