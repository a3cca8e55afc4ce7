/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* IPIs and the periodic tick. Both are CLINT interrupts that machine mode forwards to supervisor mode. */
#ifndef DEMO_ARCH_CLINT_H
#define DEMO_ARCH_CLINT_H

#include <stdbool.h>
#include <stdint.h>

/* Sets the next tick, one period after the current one. Called when the tick has fired. */
void clint_timer_next(void);

/* Raises the software interrupt of a hart, which may be asleep. */
void clint_interrupt_hart(uint64_t hart);

/* Returns true once for each doorbell interrupt of this CPU. */
bool clint_doorbell_rang(void);

#endif
