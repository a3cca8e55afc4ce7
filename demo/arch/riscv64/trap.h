/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The frame that vectors.S saves on the stack during a trap. */
#ifndef DEMO_ARCH_TRAP_H
#define DEMO_ARCH_TRAP_H

#include <stddef.h>
#include <stdint.h>

struct trap_frame {
	/*
	 * x[n] is register xn before the trap. x[0] is not saved; x[4] is saved only by traps from user mode.
	 */
	uint64_t x[32];
	uint64_t sepc;
	uint64_t sstatus;
};

_Static_assert(sizeof(struct trap_frame) == 272, "vectors.S reserves this much");
_Static_assert(offsetof(struct trap_frame, sepc) == 256, "vectors.S saves sepc there");
_Static_assert(offsetof(struct trap_frame, sstatus) == 264, "vectors.S saves sstatus there");

/* Handles a trap. Called by vectors.S with interrupts off. */
void trap(struct trap_frame *frame);

/* Handles an interrupt of the kernel or a user program; `number` is the interrupt's number from scause. */
void trap_interrupt(const struct trap_frame *frame, uint64_t number);

#endif
