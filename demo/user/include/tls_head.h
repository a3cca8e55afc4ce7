/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef USER_TLS_HEAD_H
#define USER_TLS_HEAD_H

#include <stdint.h>

/* What the library keeps for each thread beside its variables. */
struct tls_head {
	uintptr_t self; /* what the register holds */
	uint64_t id;	/* the thread's, 0: not asked for yet */
};

#endif
