/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "call_numbers.h"

/* Entry of a program. The stack contains argc at the stack pointer, followed by argv. */
	.text
	.globl	_start
_start:
	xor	%ebp, %ebp
	mov	(%rsp), %rdi
	lea	8(%rsp), %rsi
	call	start

/* Entry of a thread. The argument is the address of its struct thread. */
	.globl	thread_entry
thread_entry:
	xor	%ebp, %ebp
	call	thread_main

/*
 * A signal handler returns to this code. The return instruction has popped the address of this code, so the
 * stack pointer is now above the place of that address.
 */
	.globl	signal_restorer
signal_restorer:
	mov	$SYS_sigreturn, %eax
	syscall

	.section .note.GNU-stack, "", @progbits
