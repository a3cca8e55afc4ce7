/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_INTERRUPT_H
#define DEMO_INTERRUPT_H

#include "arch.h"

/* Runs in IRQ_DOORBELL, which it ends by doorbell_end(). */
extern void (*doorbell_handler)(void);
void doorbell_end(void);

/* Called in every interrupt and NMI, in its context, unless NULL. */
extern void (*interrupt_observer)(enum irq irq);

#endif
