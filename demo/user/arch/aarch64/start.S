/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "call_numbers.h"

/* Entry of a program. The stack contains argc at the stack pointer, followed by argv. */
	.text
	.globl	_start
_start:
	ldr	x0, [sp]
	add	x1, sp, #8
	bl	start

/* Entry of a thread. The argument is the address of its struct thread. */
	.globl	thread_entry
thread_entry:
	bl	thread_main

/*
 * A signal handler returns to this code. The stack pointer then has the same value as when the handler was
 * called.
 */
	.globl	signal_restorer
signal_restorer:
	mov	x8, #SYS_sigreturn
	svc	#0

	.section .note.GNU-stack, "", %progbits
