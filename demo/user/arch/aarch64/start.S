/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "call_numbers.h"

/* Entry of a program: argc is at the stack pointer, followed by argv. */
	.text
	.globl	_start
_start:
	ldr	x0, [sp]
	add	x1, sp, #8
	bl	start

/* Entry of a thread: the argument is its struct thread. */
	.globl	thread_entry
thread_entry:
	bl	thread_main

/*
 * A signal handler returns to this code. The stack pointer then has the value from the start of the handler.
 */
	.globl	signal_restorer
signal_restorer:
	mov	x8, #SYS_sigreturn
	svc	#0

	.section .note.GNU-stack, "", %progbits
