/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A user program's registers. A system call is the SYSCALL instruction: number in RAX, arguments in RDI, RSI,
 * RDX, R10, R8, R9, result in RAX. The instruction overwrites RCX and R11; all other registers are preserved.
 */
#ifndef DEMO_X86_ARCH_USER_H
#define DEMO_X86_ARCH_USER_H

#include "trap.h"

struct user_frame {
	struct trap_frame trap; /* filled by push instructions, from its last field to its first */
	uint64_t tls;		/* base address of FS */
	uint64_t unused;	/* padding that keeps the stack pointer a multiple of 16 */
};

#endif
