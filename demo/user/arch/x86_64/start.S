/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "call_numbers.h"

/* Entry of a program: argc is at the stack pointer, followed by argv. */
	.text
	.globl	_start
_start:
	xor	%ebp, %ebp
	mov	(%rsp), %rdi
	lea	8(%rsp), %rsi
	call	start

/* Entry of a thread: the argument is its struct thread. */
	.globl	thread_entry
thread_entry:
	xor	%ebp, %ebp
	call	thread_main

/*
 * A signal handler returns to this code. The return has popped the return address, so the stack pointer is
 * above it.
 */
	.globl	signal_restorer
signal_restorer:
	mov	$SYS_sigreturn, %eax
	syscall

	.section .note.GNU-stack, "", @progbits
