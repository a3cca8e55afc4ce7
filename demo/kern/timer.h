/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What happens TICK_HZ times a second on every CPU, and the timed sleeps that hang on it. */
#ifndef DEMO_TIMER_H
#define DEMO_TIMER_H

#include <stdint.h>

/* Blocks the running thread until at least ns have passed; the tick decides, so up to 10 ms more. */
void timer_sleep(uint64_t ns);

/* Interrupts off. */
void timer_tick(void);

#endif
