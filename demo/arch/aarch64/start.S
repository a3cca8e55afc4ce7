/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The first instructions of each CPU: switch to EL1 if entered at EL2, turn on MMU and caches, set up a
 * stack, and call C. Exclusive instructions may be used only after the caches are on. The identity map is
 * initialized statically, so no memory is written while the caches are off.
 */

#define HCR_EL2_RW (1 << 31)
#define CPTR_EL2_NO_TRAPS 0x33ff
#define SPSR_EL1H_MASKED 0x3c5
#define ICC_SRE_EL2 S3_4_C12_C9_5
#define ICC_SRE_ENABLE 9

/*
 * Memory types for page table entries: index 0 is device memory (nGnRE), index 1 is normal memory
 * (write-back).
 */
#define MAIR_VALUE 0xff04
/*
 * 39-bit addresses, 4 KiB pages, cacheable and inner-shareable table walks, no upper half, 40-bit physical
 * addresses.
 */
#define TCR_VALUE (25 | 1 << 8 | 1 << 10 | 3 << 12 | 1 << 23 | 2 << 32)
#define SCTLR_RES1 0x30d00800
/*
 * Value of SCTLR_EL1 that turns on the MMU, the data cache, the stack alignment checks at EL1 and EL0, and
 * the instruction cache.
 */
#define SCTLR_ON (SCTLR_RES1 | 1 << 0 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 12)

	.macro	load_address reg, symbol
	adrp	\reg, \symbol
	add	\reg, \reg, :lo12:\symbol
	.endm

	.section .text.start, "ax"

/*
 * The boot CPU. x0 is the address of the device tree if the loader follows Linux's boot protocol, otherwise
 * 0.
 */
	.globl	_start
_start:
	mov	x19, x0
	bl	enter_el1
	bl	mmu_on
	load_address x0, bss_start
	load_address x1, bss_end
1:	cmp	x0, x1
	b.hs	2f
	stp	xzr, xzr, [x0], #16
	b	1b
2:	load_address x0, boot_stack_top
	mov	sp, x0
	load_address x0, cpus
	msr	tpidr_el1, x0
	mov	x0, x19
	mov	x29, xzr
	mov	x30, xzr
	b	boot_main

/* Every other CPU. x0 is the top of its stack; the word below it is the address of the CPU's area. */
	.globl	secondary_start
secondary_start:
	mov	x19, x0
	bl	enter_el1
	bl	mmu_on
	ldr	x0, [x19, #-8]
	msr	tpidr_el1, x0
	sub	sp, x19, #16
	mov	x29, xzr
	mov	x30, xzr
	b	secondary_main

/* Switches to EL1 if the CPU is at EL2. Returns at EL1 with interrupts masked. */
enter_el1:
	mrs	x0, CurrentEL
	cmp	x0, #(2 << 2)
	b.ne	2f
	mov	x0, #HCR_EL2_RW
	msr	hcr_el2, x0
	mov	x0, #3			/* EL1 may use the counter and the physical timer */
	msr	cnthctl_el2, x0
	msr	cntvoff_el2, xzr
	mov	x0, #CPTR_EL2_NO_TRAPS
	msr	cptr_el2, x0
	msr	hstr_el2, xzr
	mrs	x0, midr_el1
	msr	vpidr_el2, x0
	mrs	x0, mpidr_el1
	msr	vmpidr_el2, x0
	mrs	x0, id_aa64pfr0_el1
	tst	x0, #(0xf << 24)	/* if the GIC has system registers, EL1 gets access to them */
	b.eq	1f
	mov	x0, #ICC_SRE_ENABLE
	msr	ICC_SRE_EL2, x0
1:	ldr	x0, =SCTLR_RES1
	msr	sctlr_el1, x0
	mov	x0, #SPSR_EL1H_MASKED
	msr	spsr_el2, x0
	msr	elr_el2, x30
	eret
2:	msr	spsel, #1
	msr	daifset, #0xf
	ret

mmu_on:
	load_address x0, vectors
	msr	vbar_el1, x0
	ldr	x0, =MAIR_VALUE
	msr	mair_el1, x0
	ldr	x0, =TCR_VALUE
	msr	tcr_el1, x0
	load_address x0, identity_map
	msr	ttbr0_el1, x0
	isb
	tlbi	vmalle1
	ic	iallu
	dsb	nsh
	isb
	ldr	x0, =SCTLR_ON
	msr	sctlr_el1, x0
	isb
	ret

	.bss
	.balign	16
	.space	16384
boot_stack_top:

	.section .note.GNU-stack, "", %progbits
