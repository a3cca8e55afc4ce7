/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Access to thread-local storage on RISC-V: variables (__thread), and a struct tls_head for the library. */
#ifndef USER_ARCH_TLS_H
#define USER_ARCH_TLS_H

#include "tls_head.h"

/* The thread-local storage register points to the variables; the struct tls_head is below them. */
#define ARCH_TLS_BELOW 0

static inline uintptr_t arch_tls(void)
{
	uintptr_t address;

	__asm__("mv %0, tp" : "=r"(address));
	return address;
}

static inline struct tls_head *arch_tls_head(uintptr_t tls)
{
	return (struct tls_head *)tls - 1;
}

#endif
