/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The frame that vectors.S saves on the stack during an exception. */
#ifndef DEMO_ARCH_TRAP_H
#define DEMO_ARCH_TRAP_H

#include <stddef.h>
#include <stdint.h>

struct trap_frame {
	uint64_t x[31];
	uint64_t sp; /* stack pointer before the exception */
	uint64_t elr;
	uint64_t spsr;
};

_Static_assert(sizeof(struct trap_frame) == 272, "vectors.S reserves this much");
_Static_assert(offsetof(struct trap_frame, x[30]) == 240, "vectors.S saves x30 and sp there");
_Static_assert(offsetof(struct trap_frame, elr) == 256, "vectors.S saves elr and spsr there");

/*
 * Handles an exception. Called by vectors.S with interrupts off; `vector` is the exception's index in the
 * vector table.
 */
void trap(struct trap_frame *frame, unsigned vector);

/* Panics because of an exception that cannot be handled. */
_Noreturn void trap_fatal(const struct trap_frame *frame, unsigned vector);

#endif
