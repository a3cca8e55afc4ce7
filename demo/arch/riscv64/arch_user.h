/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The registers of a user program, as vectors.S saves them at the top of its thread's kernel stack. */
#ifndef DEMO_ARCH_USER_H
#define DEMO_ARCH_USER_H

#include "trap.h"

struct user_frame {
	struct trap_frame registers; /* here with x[4], tp */
	uint64_t kernel_tp;	     /* of the CPU that runs the program: set on leaving, taken on entry */
	uint64_t unused;	     /* keeps the stack pointer a multiple of 16 */
};

_Static_assert(sizeof(struct user_frame) == 288, "a stack pointer behind it is aligned");
_Static_assert(offsetof(struct user_frame, kernel_tp) == 272, "vectors.S keeps tp there");

/* Called by vectors.S for what happens in user mode, interrupts off. */
void user_trap(struct user_frame *frame);

/* vectors.S: leaves the kernel by a frame that is the top of this thread's stack. Interrupts off. */
_Noreturn void user_frame_resume(struct user_frame *frame);

#endif
