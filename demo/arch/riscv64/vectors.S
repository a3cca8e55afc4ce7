/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The supervisor's trap entry: save everything in a struct trap_frame on the current stack, call trap(), put
 * it back. Not tp: the thread may have moved to another CPU meanwhile.
 */

#define FRAME_SIZE 272
#define FRAME_SP 16
#define FRAME_SEPC 256
#define FRAME_SSTATUS 264

/* All but x2, the stack pointer, and x4, tp. */
	.macro	each_register instruction
	.irp	number, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\instruction	x\number, 8 * \number(sp)
	.endr
	.endm

	.text
	.balign	4
	.globl	supervisor_trap
supervisor_trap:
	addi	sp, sp, -FRAME_SIZE
	each_register sd
	addi	t0, sp, FRAME_SIZE
	sd	t0, FRAME_SP(sp)
	csrr	t0, sepc
	sd	t0, FRAME_SEPC(sp)
	csrr	t0, sstatus
	sd	t0, FRAME_SSTATUS(sp)
	mv	a0, sp
	call	trap
	ld	t0, FRAME_SEPC(sp)
	csrw	sepc, t0
	ld	t0, FRAME_SSTATUS(sp)
	csrw	sstatus, t0
	each_register ld
	addi	sp, sp, FRAME_SIZE
	sret

	.section .note.GNU-stack, "", %progbits
