/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The registers of a user program, which vectors.S saves at the top of the thread's kernel stack. */
#ifndef DEMO_ARCH_USER_H
#define DEMO_ARCH_USER_H

#include "trap.h"

struct user_frame {
	struct trap_frame registers; /* registers; the field `sp` is SP_EL0 */
	uint64_t thread_pointer;     /* TPIDR_EL0 */
	uint64_t unused;	     /* padding that keeps the stack pointer a multiple of 16 */
};

_Static_assert(sizeof(struct user_frame) == 288, "vectors.S reserves this much");
_Static_assert(offsetof(struct user_frame, thread_pointer) == 272, "vectors.S saves tpidr_el0 there");

/*
 * Handles an exception or interrupt from user mode. Called by vectors.S with interrupts off; `vector` is the
 * exception's index in the vector table.
 */
void user_trap(struct user_frame *frame, unsigned vector);

/* In vectors.S: enters user mode with a frame at the top of this thread's stack. Requires: interrupts off. */
_Noreturn void user_frame_resume(struct user_frame *frame);

#endif
