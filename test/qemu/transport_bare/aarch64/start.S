/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Runs at the exception level in which the machine starts, and powers it off with a call to the firmware (PSCI). */
#define PSCI_SYSTEM_OFF 0x84000008
#define EL2		0x8

	.section .text.start, "ax", %progbits
	.globl	_start
_start:	adrp	x0, stack_top
	mov	sp, x0
	mov	x29, xzr
	bl	bare_main
	ldr	w0, =PSCI_SYSTEM_OFF
	mrs	x1, CurrentEL
	cmp	x1, #EL2
	b.eq	1f
	hvc	#0
1:	smc	#0
	b	1b

	.bss
	.balign	4096
	.skip	8192
	.balign	4096
stack_top:
	.skip	16
	.section .note.GNU-stack, "", %progbits
