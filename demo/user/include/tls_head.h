/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef USER_TLS_HEAD_H
#define USER_TLS_HEAD_H

#include <stdint.h>

/* Data that the library keeps in each thread's local storage. */
struct tls_head {
	uintptr_t self; /* value of the thread-local storage register */
	uint64_t id;	/* id of the thread; 0: not known yet */
};

#endif
