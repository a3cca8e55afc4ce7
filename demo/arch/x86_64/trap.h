/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_X86_TRAP_H
#define DEMO_X86_TRAP_H

#include <stdint.h>

/* The frame that trap.S and the CPU push on the stack. The field at the lowest address comes first. */
struct trap_frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax;
	uint64_t vector, error;
	uint64_t rip, cs, rflags, rsp, ss;
};

_Static_assert(sizeof(struct trap_frame) == 22 * 8, "as pushed by trap.S");

/*
 * Called by trap.S with interrupts off. trap() handles most traps, on the kernel stack of the running thread.
 * trap_own_stack() handles NMI and double fault, each on a stack of its own.
 */
void trap(struct trap_frame *frame);
void trap_own_stack(struct trap_frame *frame);

/* In trap.S: loads all registers from the frame and continues there. Requires: interrupts off. */
_Noreturn void trap_leave(struct trap_frame *frame);

/* In trap.S: the kernel's entry point for the SYSCALL instruction. */
extern const char system_call_entry[];

#endif
