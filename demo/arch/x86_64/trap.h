/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_X86_TRAP_H
#define DEMO_X86_TRAP_H

#include <stdint.h>

/* The frame that trap.S and the CPU push on the stack, lowest address first. */
struct trap_frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax;
	uint64_t vector, error;
	uint64_t rip, cs, rflags, rsp, ss;
};

_Static_assert(sizeof(struct trap_frame) == 22 * 8, "as pushed by trap.S");

/*
 * Called by trap.S with interrupts off. trap() handles traps on the interrupted thread's kernel stack,
 * trap_own_stack() handles traps that have a stack of their own.
 */
void trap(struct trap_frame *frame);
void trap_own_stack(struct trap_frame *frame);

/* In trap.S: continues with the registers of the frame. Requires: interrupts off. */
_Noreturn void trap_leave(struct trap_frame *frame);

/* In trap.S: the entry point of the SYSCALL instruction. */
extern const char system_call_entry[];

#endif
