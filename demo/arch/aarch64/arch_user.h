/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The registers of a user program, as vectors.S saves them at the top of its thread's kernel stack. */
#ifndef DEMO_ARCH_USER_H
#define DEMO_ARCH_USER_H

#include "trap.h"

struct user_frame {
	struct trap_frame registers; /* sp is SP_EL0 */
	uint64_t thread_pointer;     /* TPIDR_EL0 */
	uint64_t unused;	     /* keeps the stack pointer a multiple of 16 */
};

_Static_assert(sizeof(struct user_frame) == 288, "vectors.S reserves this much");
_Static_assert(offsetof(struct user_frame, thread_pointer) == 272, "vectors.S saves tpidr_el0 there");

/* Called by vectors.S for what happens in user mode, interrupts off; vector as for trap(). */
void user_trap(struct user_frame *frame, unsigned vector);

/* vectors.S: leaves the kernel by a frame that is the top of this thread's stack. Interrupts off. */
_Noreturn void user_frame_resume(struct user_frame *frame);

#endif
