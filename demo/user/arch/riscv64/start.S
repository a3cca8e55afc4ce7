/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "call_numbers.h"

/* Where a program starts: argc at the stack pointer, argv behind it. */
	.text
	.globl	_start
_start:
	ld	a0, 0(sp)
	addi	a1, sp, 8
	call	start

/* Where a thread starts: its struct thread is the argument. */
	.globl	thread_entry
thread_entry:
	call	thread_main

/* Where a signal handler returns to, with the stack as the kernel left it to the handler. */
	.globl	signal_restorer
signal_restorer:
	li	a7, SYS_sigreturn
	ecall

	.section .note.GNU-stack, "", %progbits
