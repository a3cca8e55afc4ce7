/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The supervisor's trap entry. While kernel code runs, sscratch is 0. A trap then saves all registers except
 * tp in a struct trap_frame on the current stack, calls trap(), and restores the registers. tp is not
 * restored, because the thread may have moved to another CPU.
 *
 * While a program runs, sscratch points to a struct user_frame at the top of the thread's kernel stack. The
 * user_frame begins with a trap_frame. In user mode, tp belongs to the program: a trap saves it, loads the
 * kernel's tp from the frame, and calls user_trap().
 */

#define FRAME_SIZE 272
#define FRAME_SP 16
#define FRAME_TP 32
#define FRAME_SEPC 256
#define FRAME_SSTATUS 264
#define FRAME_KERNEL_TP 272

/* Applies an instruction to all registers except x2 (the stack pointer) and x4 (tp). */
	.macro	each_register instruction
	.irp	number, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\instruction	x\number, 8 * \number(sp)
	.endr
	.endm

	.macro	save_status
	csrr	t0, sepc
	sd	t0, FRAME_SEPC(sp)
	csrr	t0, sstatus
	sd	t0, FRAME_SSTATUS(sp)
	.endm

	.macro	restore_status
	ld	t0, FRAME_SEPC(sp)
	csrw	sepc, t0
	ld	t0, FRAME_SSTATUS(sp)
	csrw	sstatus, t0
	.endm

	.text
	.balign	4
	.globl	supervisor_trap
supervisor_trap:
	csrrw	sp, sscratch, sp
	bnez	sp, from_user
	csrrw	sp, sscratch, sp

	addi	sp, sp, -FRAME_SIZE
	each_register sd
	addi	t0, sp, FRAME_SIZE
	sd	t0, FRAME_SP(sp)
	save_status
	mv	a0, sp
	call	trap
	restore_status
	each_register ld
	addi	sp, sp, FRAME_SIZE
	sret

from_user:
	each_register sd
	sd	tp, FRAME_TP(sp)
	ld	tp, FRAME_KERNEL_TP(sp)
	csrrw	t0, sscratch, zero
	sd	t0, FRAME_SP(sp)
	save_status
	li	s0, 0			/* a kernel backtrace ends at this frame */
	mv	a0, sp
	call	user_trap
to_user:
	restore_status
	sd	tp, FRAME_KERNEL_TP(sp)
	csrw	sscratch, sp
	each_register ld
	ld	tp, FRAME_TP(sp)
	ld	sp, FRAME_SP(sp)
	sret

	.globl	user_frame_resume
user_frame_resume:
	mv	sp, a0
	j	to_user

	.section .note.GNU-stack, "", %progbits
