/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* This CPU's periodic tick: the virtual timer of the generic timer. */
#ifndef DEMO_ARCH_TIMER_H
#define DEMO_ARCH_TIMER_H

/* Sets the time of the next tick, one period after the time of the current one. Called when a tick occurs. */
void timer_next(void);

#endif
