/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What vectors.S leaves on the stack for the time of a trap. */
#ifndef DEMO_ARCH_TRAP_H
#define DEMO_ARCH_TRAP_H

#include <stddef.h>
#include <stdint.h>

struct trap_frame {
	uint64_t x[32]; /* x[2] as before the trap; x[0] and, but for user mode, x[4] are not saved */
	uint64_t sepc;
	uint64_t sstatus;
};

_Static_assert(sizeof(struct trap_frame) == 272, "vectors.S reserves this much");
_Static_assert(offsetof(struct trap_frame, sepc) == 256, "vectors.S saves sepc there");
_Static_assert(offsetof(struct trap_frame, sstatus) == 264, "vectors.S saves sstatus there");

/* Called by vectors.S, interrupts off. */
void trap(struct trap_frame *frame);

/* An interrupt of the kernel or a user program, by its number in scause. */
void trap_interrupt(const struct trap_frame *frame, uint64_t number);

#endif
