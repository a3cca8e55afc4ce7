/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The start of the kernel, and the switch from one thread to another. */
	.section .text.start, "ax"
	.globl	_start
_start:	la	sp, boot_stack_end
	call	kernel_main
stop:	wfi
	j	stop

/* void context_switch(uint64_t from[14], uint64_t to[14]): saves the registers of one thread, loads those of another. */
	.text
	.globl	context_switch
context_switch:
	sd	ra, 0(a0)
	sd	sp, 8(a0)
	ld	ra, 0(a1)
	ld	sp, 8(a1)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	sd	s\n, 16 + 8 * \n(a0)
	ld	s\n, 16 + 8 * \n(a1)
	.endr
	ret

	.bss
	.balign	16
boot_stack:
	.space	8192
boot_stack_end:
