/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Services of machine mode for the kernel, which runs in supervisor mode: machine_mode.S.
 *
 * Machine software interrupts are forwarded as supervisor software interrupts, so an IPI is one store to the
 * CLINT. A timer interrupt is forwarded, and the timer is then off. An ecall with a time in a0 sets the timer
 * again and clears the pending interrupt. All other traps go directly to supervisor mode (delegation).
 * Assembly includes this header, too.
 */
#ifndef DEMO_ARCH_MACHINE_MODE_H
#define DEMO_ARCH_MACHINE_MODE_H

/* Layout of a hart's area. mscratch points to it while the hart is not in machine mode. */
#define MACHINE_AREA_T1			0
#define MACHINE_AREA_T2			8
#define MACHINE_AREA_SOFTWARE_INTERRUPT 16
#define MACHINE_AREA_TIME_COMPARE	24
#define MACHINE_AREA_SIZE		32

/* Bits of the interrupt-pending and interrupt-enable registers. */
#define INTERRUPT_SUPERVISOR_SOFTWARE (1 << 1)
#define INTERRUPT_MACHINE_SOFTWARE    (1 << 3)
#define INTERRUPT_SUPERVISOR_TIMER    (1 << 5)
#define INTERRUPT_MACHINE_TIMER	      (1 << 7)
#define INTERRUPT_SUPERVISOR_EXTERNAL (1 << 9)

#define CAUSE_INTERRUPT_MACHINE_SOFTWARE 3
#define CAUSE_INTERRUPT_MACHINE_TIMER	 7
#define CAUSE_CALL_FROM_SUPERVISOR	 9

#endif
