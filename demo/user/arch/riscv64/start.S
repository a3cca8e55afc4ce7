/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "call_numbers.h"

/* Entry of a program: argc is at the stack pointer, followed by argv. */
	.text
	.globl	_start
_start:
	ld	a0, 0(sp)
	addi	a1, sp, 8
	call	start

/* Entry of a thread: the argument is its struct thread. */
	.globl	thread_entry
thread_entry:
	call	thread_main

/*
 * A signal handler returns to this code. The stack pointer then has the value from the start of the handler.
 */
	.globl	signal_restorer
signal_restorer:
	li	a7, SYS_sigreturn
	ecall

	.section .note.GNU-stack, "", %progbits
