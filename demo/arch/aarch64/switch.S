/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * arch_switch saves the callee-saved registers in a frame of 96 bytes, x19 first, x29 and x30 last. In a new
 * thread's frame (start.c), x30 is the thread's entry function. arch_switch returns through x2 and sets x30
 * to 0, so that a thread's backtrace ends at its entry function.
 */
	.text
	.globl	arch_switch
arch_switch:
	stp	x19, x20, [sp, #-96]!
	stp	x21, x22, [sp, #16]
	stp	x23, x24, [sp, #32]
	stp	x25, x26, [sp, #48]
	stp	x27, x28, [sp, #64]
	stp	x29, x30, [sp, #80]
	mov	x2, sp
	str	x2, [x0]
	mov	sp, x1
	ldp	x29, x2, [sp, #80]
	ldp	x27, x28, [sp, #64]
	ldp	x25, x26, [sp, #48]
	ldp	x23, x24, [sp, #32]
	ldp	x21, x22, [sp, #16]
	ldp	x19, x20, [sp], #96
	mov	x30, xzr
	ret	x2

	.section .note.GNU-stack, "", %progbits
