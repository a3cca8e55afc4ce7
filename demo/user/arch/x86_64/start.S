/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "call_numbers.h"

/* Where a program starts: argc at the stack pointer, argv behind it. */
	.text
	.globl	_start
_start:
	xor	%ebp, %ebp
	mov	(%rsp), %rdi
	lea	8(%rsp), %rsi
	call	start

/* Where a thread starts: its struct thread is the argument. */
	.globl	thread_entry
thread_entry:
	xor	%ebp, %ebp
	call	thread_main

/* Where a signal handler returns to, with the stack as the kernel left it to the handler, less its return address. */
	.globl	signal_restorer
signal_restorer:
	mov	$SYS_sigreturn, %eax
	syscall

	.section .note.GNU-stack, "", @progbits
