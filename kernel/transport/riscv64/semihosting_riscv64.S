/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The RISC-V semihosting trap, and a safe probe. Runs in machine or supervisor mode, on harts that have both
 * modes. During the probe, interrupts are masked, and the hart uses the trap vector in this file. Without
 * semihosting the EBREAK is a breakpoint exception, which the vector below skips. Everything that a trap
 * overwrites is restored.
 *
 * The host recognises the call by its three instructions, which must be uncompressed and within one page.
 */
#define KTRACE_SYS_ERRNO 0x13 /* the call for the probe: it has no arguments and no side effects */
#define KTRACE_SSTATUS_SIE 2
#define KTRACE_MSTATUS_MIE 8

	.text

	.macro	trap_to_host
	.balign	16
	slli	zero, zero, 0x1f
	ebreak
	srai	zero, zero, 7
	.endm

	.option	push
	.option	norvc

/* int64_t ktrace_semihosting_call(uint64_t operation, const void *block) */
	.globl	ktrace_semihosting_call
	.type	ktrace_semihosting_call, %function
	.balign	16
ktrace_semihosting_call:
	trap_to_host
	ret
	.size	ktrace_semihosting_call, . - ktrace_semihosting_call

/* Sets the trap vector of one mode. Saves in t1 to t4 the registers that a trap overwrites. */
	.macro	enter_mode m, handler
	la	t0, \handler
	csrrw	t1, \m\()tvec, t0
	csrr	t2, \m\()epc
	csrr	t3, \m\()cause
	csrr	t4, \m\()tval
	.endm

	.macro	leave_mode m
	csrw	\m\()tvec, t1
	csrw	\m\()epc, t2
	csrw	\m\()cause, t3
	csrw	\m\()tval, t4
	.endm

/* Skips an instruction that trapped, and sets a2 to 0. */
	.macro	skip_instruction m
	.balign	4
	li	a2, 0
	csrr	t0, \m\()epc
	addi	t0, t0, 4
	csrw	\m\()epc, t0
	\m\()ret
	.endm

supervisor_vector:
	skip_instruction s
machine_vector:
	skip_instruction m

/*
 * bool ktrace_semihosting_present(void)
 * The mode is detected by access to a machine-mode register while the supervisor's vector is set.
 */
	.globl	ktrace_semihosting_present
	.type	ktrace_semihosting_present, %function
ktrace_semihosting_present:
	csrr	t5, sstatus
	csrci	sstatus, KTRACE_SSTATUS_SIE
	enter_mode s, supervisor_vector
	li	a2, 1
	csrr	t6, mstatus
	bnez	a2, machine
	li	a2, 1
	li	a0, KTRACE_SYS_ERRNO
	li	a1, 0
	trap_to_host
	leave_mode s
	csrw	sstatus, t5
	mv	a0, a2
	ret

machine:
	leave_mode s
	csrw	sstatus, t5
	csrrci	t6, mstatus, KTRACE_MSTATUS_MIE
	enter_mode m, machine_vector
	li	a0, KTRACE_SYS_ERRNO
	li	a1, 0
	trap_to_host
	leave_mode m
	csrw	mstatus, t6
	mv	a0, a2
	ret
	.size	ktrace_semihosting_present, . - ktrace_semihosting_present

	.option	pop

	.section .note.GNU-stack, "", %progbits
