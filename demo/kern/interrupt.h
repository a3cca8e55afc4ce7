/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_INTERRUPT_H
#define DEMO_INTERRUPT_H

#include "arch.h"

/* Handler of IRQ_DOORBELL; must call doorbell_end(). */
extern void (*doorbell_handler)(void);
void doorbell_end(void);

/* Function that is called in each interrupt and NMI, in that context; may be NULL. */
extern void (*interrupt_observer)(enum irq irq);

#endif
