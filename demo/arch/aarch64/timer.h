/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* This CPU's periodic tick: the virtual timer of the generic timer. */
#ifndef DEMO_ARCH_TIMER_H
#define DEMO_ARCH_TIMER_H

/* Sets the next tick, one period after the current one. Called when the tick has fired. */
void timer_next(void);

#endif
