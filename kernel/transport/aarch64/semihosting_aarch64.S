/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The AArch64 semihosting trap, and a safe probe. Runs at EL1, EL2 or EL3. During the probe, all interrupts
 * are masked, and the CPU uses the vectors in this file. Without semihosting the HLT is an undefined
 * instruction, which the vector below skips. Everything that an exception overwrites is restored.
 */
#define KTRACE_SYS_ERRNO 0x13 /* the call for the probe: it has no arguments and no side effects */
#define KTRACE_EL2	  0x8  /* value of the register CurrentEL at exception level 2 */
#define KTRACE_EL3	  0xc

	.text

/* int64_t ktrace_semihosting_call(uint64_t operation, const void *block) */
	.globl	ktrace_semihosting_call
	.type	ktrace_semihosting_call, %function
ktrace_semihosting_call:
	hlt	#0xf000
	ret
	.size	ktrace_semihosting_call, . - ktrace_semihosting_call

/*
 * Saves the registers that an exception at this level overwrites, makes the call, and restores them. w8 is 1
 * afterwards if the host answered.
 */
	.macro	try_call el
	mrs	x12, vbar_\el
	mrs	x13, elr_\el
	mrs	x14, spsr_\el
	mrs	x15, esr_\el
	adrp	x10, vectors
	add	x10, x10, :lo12:vectors
	msr	vbar_\el, x10
	isb
	mov	x0, #KTRACE_SYS_ERRNO
	mov	x1, #0
	mov	w8, #1
	hlt	#0xf000
	msr	vbar_\el, x12
	msr	elr_\el, x13
	msr	spsr_\el, x14
	msr	esr_\el, x15
	isb
	.endm

/*
 * bool ktrace_semihosting_present(void): keeps the current exception level in x11, and the interrupt masks in
 * x9
 */
	.globl	ktrace_semihosting_present
	.type	ktrace_semihosting_present, %function
ktrace_semihosting_present:
	mrs	x9, daif
	msr	daifset, #0xf
	mov	w8, #0
	mrs	x11, CurrentEL
	cmp	x11, #KTRACE_EL3
	b.eq	2f
	cmp	x11, #KTRACE_EL2
	b.eq	1f
	try_call el1
	b	2f
1:	try_call el2
2:	msr	daif, x9
	mov	w0, w8
	ret
	.size	ktrace_semihosting_present, . - ktrace_semihosting_present

	.macro	skip_instruction
	mov	w8, #0
	cmp	x11, #KTRACE_EL2
	b.eq	1f
	mrs	x10, elr_el1
	add	x10, x10, #4
	msr	elr_el1, x10
	eret
1:	mrs	x10, elr_el2
	add	x10, x10, #4
	msr	elr_el2, x10
	eret
	.endm

/* Only the two entries for synchronous exceptions of the current level can be reached. */
	.balign	2048
vectors:
	skip_instruction	/* entry for exceptions while the stack pointer of EL0 is used */
	.balign	512
	skip_instruction	/* entry for exceptions while the stack pointer of this level is used */

	.section .note.GNU-stack, "", %progbits
