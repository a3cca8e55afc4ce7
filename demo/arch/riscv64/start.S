/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The first instructions of each hart. All harts start here at the same time, in machine mode, with the
 * hart's number in a0 and the device tree in a1. Hart 0 boots; the others sleep until arch_cpu_start calls
 * them. All enter supervisor mode with the identity map, which is initialized statically.
 */
#include "machine_mode.h"
#include "platform.h"

#define BOOT_STACK_SIZE 16384

#define MSTATUS_MPP (3 << 11)
#define MSTATUS_MPP_SUPERVISOR (1 << 11)
#define MSTATUS_MPIE (1 << 7)
#define SATP_SV39 8
/* Value of a PMP entry: one naturally aligned range that may be read, written and executed. */
#define PMP_EVERYTHING 0x1f
#define COUNTERS_ALL 7			/* supervisor mode may read cycle, time and instret */
/*
 * Exceptions and interrupts that go directly to supervisor mode. An ecall from supervisor mode goes to
 * machine mode.
 */
#define DELEGATED_EXCEPTIONS 0xb1ff
#define DELEGATED_INTERRUPTS (INTERRUPT_SUPERVISOR_SOFTWARE | INTERRUPT_SUPERVISOR_TIMER | \
	INTERRUPT_SUPERVISOR_EXTERNAL)

	.section .text.start, "ax"
	.globl	_start
_start:
	li	t0, PLATFORM_HARTS
	bgeu	a0, t0, sleep_for_ever
	mv	s0, a0
	mv	s1, a1
	call	set_up_machine_mode
	bnez	s0, wait_for_call

	la	t0, bss_start
	la	t1, bss_end
1:	bgeu	t0, t1, 2f
	sd	zero, 0(t0)
	addi	t0, t0, 8
	j	1b
2:	la	sp, boot_stack_top
	la	tp, cpus
	mv	a0, s1
	la	ra, boot_main
	j	enter_supervisor_mode

/*
 * Waits until arch_cpu_start has stored the top of a stack in hart_calls[hart]. The word below that top is
 * the address of the CPU's area.
 */
wait_for_call:
	wfi
	csrr	t0, mip
	andi	t0, t0, INTERRUPT_MACHINE_SOFTWARE
	beqz	t0, wait_for_call
	csrr	t0, mscratch
	ld	t0, MACHINE_AREA_SOFTWARE_INTERRUPT(t0)
	sw	zero, 0(t0)
	fence
	la	t0, hart_calls
	slli	t1, s0, 3
	add	t0, t0, t1
	ld	t1, 0(t0)
	beqz	t1, wait_for_call
	ld	tp, -8(t1)
	addi	sp, t1, -16
	la	ra, secondary_main
	j	enter_supervisor_mode

/* Switches to supervisor mode and continues at ra. Preserves a0. */
enter_supervisor_mode:
	csrw	mepc, ra
	li	t0, MSTATUS_MPP | MSTATUS_MPIE
	csrc	mstatus, t0
	li	t0, MSTATUS_MPP_SUPERVISOR
	csrs	mstatus, t0
	li	ra, 0
	li	s0, 0
	mret

/* Requires: s0 is the hart's number. */
set_up_machine_mode:
	la	t0, machine_trap
	csrw	mtvec, t0
	la	t0, machine_areas
	li	t1, MACHINE_AREA_SIZE
	mul	t1, t1, s0
	add	t0, t0, t1
	csrw	mscratch, t0
	li	t1, CLINT_SOFTWARE_INTERRUPT
	slli	t2, s0, 2
	add	t1, t1, t2
	sd	t1, MACHINE_AREA_SOFTWARE_INTERRUPT(t0)
	li	t1, CLINT_TIME_COMPARE
	slli	t2, s0, 3
	add	t1, t1, t2
	sd	t1, MACHINE_AREA_TIME_COMPARE(t0)

	li	t0, -1
	csrw	pmpaddr0, t0
	li	t0, PMP_EVERYTHING
	csrw	pmpcfg0, t0
	li	t0, DELEGATED_EXCEPTIONS
	csrw	medeleg, t0
	li	t0, DELEGATED_INTERRUPTS
	csrw	mideleg, t0
	csrwi	mcounteren, COUNTERS_ALL
	li	t0, INTERRUPT_MACHINE_SOFTWARE | INTERRUPT_SUPERVISOR_SOFTWARE | INTERRUPT_SUPERVISOR_TIMER
	csrw	mie, t0

	la	t0, supervisor_trap
	csrw	stvec, t0
	csrw	sscratch, zero
	la	t0, identity_map
	srli	t0, t0, 12
	li	t1, SATP_SV39
	slli	t1, t1, 60
	or	t0, t0, t1
	csrw	satp, t0
	sfence.vma
	ret

sleep_for_ever:
	csrwi	mie, 0
	wfi
	j	sleep_for_ever

/* machine_areas and hart_calls are not in .bss, because harts use them before the boot hart clears .bss. */
	.data
	.balign	8
machine_areas:
	.space	MACHINE_AREA_SIZE * PLATFORM_HARTS
	.globl	hart_calls
hart_calls:
	.space	8 * PLATFORM_HARTS

	.bss
	.balign	16
	.space	BOOT_STACK_SIZE
boot_stack_top:

	.section .note.GNU-stack, "", %progbits
