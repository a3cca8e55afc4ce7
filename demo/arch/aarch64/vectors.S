/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The exception vectors: save all registers in a struct trap_frame on the current stack, call trap(), and
 * restore them. An exception from user mode finds the kernel stack empty. It saves a struct user_frame, which
 * begins with a trap_frame, and calls user_trap().
 */

#define FRAME_SIZE 272
#define FRAME_X30 240
#define FRAME_SP 248
#define FRAME_ELR 256
#define USER_FRAME_SIZE 288
#define USER_FRAME_THREAD_POINTER 272

	.macro	vector number, size, entry
	.balign	128
	sub	sp, sp, #\size
	stp	x0, x1, [sp]
	mov	x1, #\number
	b	\entry
	.endm

	/*
	 * Saves all registers that the macro `vector` has not saved, except x30 and the stack pointer.
	 * Changes x2 and x3.
	 */
	.macro	save_registers
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x19, [sp, #144]
	stp	x20, x21, [sp, #160]
	stp	x22, x23, [sp, #176]
	stp	x24, x25, [sp, #192]
	stp	x26, x27, [sp, #208]
	stp	x28, x29, [sp, #224]
	mrs	x2, elr_el1
	mrs	x3, spsr_el1
	stp	x2, x3, [sp, #FRAME_ELR]
	.endm

	/* Restores all registers except the stack pointer. */
	.macro	restore_registers
	ldp	x2, x3, [sp, #FRAME_ELR]
	msr	elr_el1, x2
	msr	spsr_el1, x3
	ldr	x30, [sp, #FRAME_X30]
	ldp	x28, x29, [sp, #224]
	ldp	x26, x27, [sp, #208]
	ldp	x24, x25, [sp, #192]
	ldp	x22, x23, [sp, #176]
	ldp	x20, x21, [sp, #160]
	ldp	x18, x19, [sp, #144]
	ldp	x16, x17, [sp, #128]
	ldp	x14, x15, [sp, #112]
	ldp	x12, x13, [sp, #96]
	ldp	x10, x11, [sp, #80]
	ldp	x8, x9, [sp, #64]
	ldp	x6, x7, [sp, #48]
	ldp	x4, x5, [sp, #32]
	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp]
	.endm

	.text
	.balign	2048
	.globl	vectors
vectors:
	.irp	number, 0, 1, 2, 3, 4, 5, 6, 7
	vector	\number, FRAME_SIZE, from_kernel
	.endr
	.irp	number, 8, 9, 10, 11, 12, 13, 14, 15
	vector	\number, USER_FRAME_SIZE, from_user
	.endr

	.balign	128
from_kernel:
	save_registers
	add	x2, sp, #FRAME_SIZE
	stp	x30, x2, [sp, #FRAME_X30]
	mov	x0, sp
	bl	trap
	restore_registers
	add	sp, sp, #FRAME_SIZE
	eret

from_user:
	save_registers
	mrs	x2, sp_el0
	stp	x30, x2, [sp, #FRAME_X30]
	mrs	x2, tpidr_el0
	str	x2, [sp, #USER_FRAME_THREAD_POINTER]
	mov	x29, xzr		/* a kernel backtrace ends at this frame */
	mov	x0, sp
	bl	user_trap
to_user:
	ldr	x2, [sp, #FRAME_SP]
	msr	sp_el0, x2
	ldr	x2, [sp, #USER_FRAME_THREAD_POINTER]
	msr	tpidr_el0, x2
	restore_registers
	add	sp, sp, #USER_FRAME_SIZE
	eret

	.globl	user_frame_resume
user_frame_resume:
	mov	sp, x0
	b	to_user

	.section .note.GNU-stack, "", %progbits
