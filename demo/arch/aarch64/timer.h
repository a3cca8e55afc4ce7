/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The generic timer's virtual timer as this CPU's periodic tick. */
#ifndef DEMO_ARCH_TIMER_H
#define DEMO_ARCH_TIMER_H

/* The tick fired: set the next one, one period after this one. */
void timer_next(void);

#endif
