/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "machine_mode.h"

	.text
	.balign	4
	.globl	machine_trap
machine_trap:
	csrrw	t0, mscratch, t0
	sd	t1, MACHINE_AREA_T1(t0)
	sd	t2, MACHINE_AREA_T2(t0)
	csrr	t1, mcause
	bgez	t1, exception
	andi	t1, t1, 0x3f
	li	t2, CAUSE_INTERRUPT_MACHINE_TIMER
	beq	t1, t2, timer
	li	t2, CAUSE_INTERRUPT_MACHINE_SOFTWARE
	bne	t1, t2, unexpected

	ld	t1, MACHINE_AREA_SOFTWARE_INTERRUPT(t0)
	sw	zero, 0(t1)
	csrsi	mip, INTERRUPT_SUPERVISOR_SOFTWARE
	j	leave

timer:	li	t1, INTERRUPT_MACHINE_TIMER
	csrc	mie, t1
	li	t1, INTERRUPT_SUPERVISOR_TIMER
	csrs	mip, t1
	j	leave

exception:
	li	t2, CAUSE_CALL_FROM_SUPERVISOR
	bne	t1, t2, unexpected
	ld	t1, MACHINE_AREA_TIME_COMPARE(t0)
	sd	a0, 0(t1)
	li	t1, INTERRUPT_SUPERVISOR_TIMER
	csrc	mip, t1
	li	t1, INTERRUPT_MACHINE_TIMER
	csrs	mie, t1
	csrr	t1, mepc
	addi	t1, t1, 4
	csrw	mepc, t1

leave:	ld	t2, MACHINE_AREA_T2(t0)
	ld	t1, MACHINE_AREA_T1(t0)
	csrrw	t0, mscratch, t0
	mret

/* A fault in machine mode itself. There is no way to report it from here. */
unexpected:
	wfi
	j	unexpected

	.section .note.GNU-stack, "", %progbits
