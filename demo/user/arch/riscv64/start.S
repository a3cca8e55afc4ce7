/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "call_numbers.h"

/* Entry of a program. The stack contains argc at the stack pointer, followed by argv. */
	.text
	.globl	_start
_start:
	ld	a0, 0(sp)
	addi	a1, sp, 8
	call	start

/* Entry of a thread. The argument is the address of its struct thread. */
	.globl	thread_entry
thread_entry:
	call	thread_main

/*
 * A signal handler returns to this code. The stack pointer then has the same value as when the handler was
 * called.
 */
	.globl	signal_restorer
signal_restorer:
	li	a7, SYS_sigreturn
	ecall

	.section .note.GNU-stack, "", %progbits
