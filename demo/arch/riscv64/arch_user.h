/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The registers of a user program, which vectors.S saves at the top of the thread's kernel stack. */
#ifndef DEMO_ARCH_USER_H
#define DEMO_ARCH_USER_H

#include "trap.h"

struct user_frame {
	struct trap_frame registers; /* the registers, including x[4], which is tp */
	/*
	 * The value of tp for kernel code on the CPU that runs the program. Stored before the return to user
	 * mode, loaded at the next trap from user mode.
	 */
	uint64_t kernel_tp;
	uint64_t unused; /* padding that keeps the stack pointer a multiple of 16 */
};

_Static_assert(sizeof(struct user_frame) == 288, "a stack pointer after it is aligned");
_Static_assert(offsetof(struct user_frame, kernel_tp) == 272, "vectors.S keeps tp there");

/* Handles a trap from user mode. Called by vectors.S with interrupts off. */
void user_trap(struct user_frame *frame);

/* In vectors.S: enters user mode with a frame at the top of this thread's stack. Requires: interrupts off. */
_Noreturn void user_frame_resume(struct user_frame *frame);

#endif
