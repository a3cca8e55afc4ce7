/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef USER_TLS_HEAD_H
#define USER_TLS_HEAD_H

#include <stdint.h>

/* Data that the library keeps for each thread, in the thread's local storage. */
struct tls_head {
	uintptr_t self; /* value of the thread-local storage register */
	uint64_t id;	/* id of the thread; 0 if it has not been read yet */
};

#endif
