/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Runs in machine mode, or in supervisor mode after firmware; ends the machine through its test device. */
#define FINISHER 0x100000
#define PASS	 0x5555

	.section .text.start, "ax", %progbits
	.globl	_start
_start:	bnez	a0, 1f /* only hart 0 runs; a0 has the number of the hart */
	la	sp, stack_top
	call	bare_main
	li	t0, FINISHER
	li	t1, PASS
	sw	t1, (t0)
1:	wfi
	j	1b

	.bss
	.balign	16
	.skip	8192
stack_top:
	.section .note.GNU-stack, "", %progbits
