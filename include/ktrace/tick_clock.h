/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The clock of a machine without a counter: how often CPU 0 had its heartbeat. Events of one tick have one
 * stamp, and are in order within each CPU only. The port defines KTRACE_PORT_TICK_CLOCK as ticks a second.
 */
#ifndef KTRACE_TICK_CLOCK_H
#define KTRACE_TICK_CLOCK_H

#include <stdint.h>

#include "ktrace/compiler.h"

KTRACE_BEGIN_C

/* Written by CPU 0's ktrace_heartbeat() alone. */
extern KTRACE_HIDDEN uint64_t ktrace_ticks;

#define ktrace_arch_clock ktrace_arch_clock
static inline uint64_t ktrace_arch_clock(void)
{
	return *(volatile uint64_t *)&ktrace_ticks;
}

#define ktrace_arch_frequency ktrace_arch_frequency
static inline uint64_t ktrace_arch_frequency(void)
{
	return KTRACE_PORT_TICK_CLOCK;
}

KTRACE_END_C

#endif
