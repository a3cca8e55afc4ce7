/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* IPIs and the periodic tick. Both are CLINT interrupts that machine mode forwards to supervisor mode. */
#ifndef DEMO_ARCH_CLINT_H
#define DEMO_ARCH_CLINT_H

#include <stdbool.h>
#include <stdint.h>

/* Sets the time of the next tick, one period after the time of the current one. Called when a tick occurs. */
void clint_timer_next(void);

/* Raises the software interrupt of a hart, which may be asleep. */
void clint_interrupt_hart(uint64_t hart);

/* Returns true if the doorbell of this CPU has been rung since the last call. */
bool clint_doorbell_rang(void);

#endif
