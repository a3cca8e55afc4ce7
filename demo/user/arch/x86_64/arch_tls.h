/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Access to thread-local storage on x86_64: variables (__thread), and a struct tls_head for the library. */
#ifndef USER_ARCH_TLS_H
#define USER_ARCH_TLS_H

#include "tls_head.h"

/*
 * The thread-local storage register points to the struct tls_head, which contains its own address. The
 * variables are below it.
 */
#define ARCH_TLS_BELOW 1

static inline uintptr_t arch_tls(void)
{
	uintptr_t address;

	__asm__("mov %%fs:0, %0" : "=r"(address));
	return address;
}

static inline struct tls_head *arch_tls_head(uintptr_t tls)
{
	return (struct tls_head *)tls;
}

#endif
