/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The functions of calls.h, which call software outside the kernel. They follow the C calling convention. */

	.macro	call_out name, instruction:vararg
	.globl	\name
\name:	\instruction
	ret
	.endm

	.text
	call_out psci_hvc, hvc #0
	call_out psci_smc, smc #0
	call_out semihosting, hlt #0xf000

	.section .note.GNU-stack, "", %progbits
