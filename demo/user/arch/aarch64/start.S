/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "call_numbers.h"

/* Where a program starts: argc at the stack pointer, argv behind it. */
	.text
	.globl	_start
_start:
	ldr	x0, [sp]
	add	x1, sp, #8
	bl	start

/* Where a thread starts: its struct thread is the argument. */
	.globl	thread_entry
thread_entry:
	bl	thread_main

/* Where a signal handler returns to, with the stack as the kernel left it to the handler. */
	.globl	signal_restorer
signal_restorer:
	mov	x8, #SYS_sigreturn
	svc	#0

	.section .note.GNU-stack, "", %progbits
