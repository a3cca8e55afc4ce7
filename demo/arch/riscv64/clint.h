/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* IPIs and the periodic tick, both of which start in the CLINT and come through machine mode. */
#ifndef DEMO_ARCH_CLINT_H
#define DEMO_ARCH_CLINT_H

#include <stdbool.h>
#include <stdint.h>

/* The tick fired: set the next one, one period after this one. */
void clint_timer_next(void);

/* Raises the software interrupt of a hart, asleep or running. */
void clint_interrupt_hart(uint64_t hart);

/* Was it the doorbell? True once a ring. */
bool clint_doorbell_rang(void);

#endif
