/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Time in nanoseconds, computed from arch_clock(). Usable in any context. */
#ifndef DEMO_CLOCK_H
#define DEMO_CLOCK_H

#include <stdint.h>

#include "arch.h"

#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

static inline uint64_t clock_ns(void)
{
	uint64_t hz = arch_clock_hz(), ticks = arch_clock();

	return ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;
}

/* Returns the counter value at which clock_ns() returns `ns`. */
static inline uint64_t clock_ticks(uint64_t ns)
{
	uint64_t hz = arch_clock_hz();

	return ns / NS_PER_S * hz + ns % NS_PER_S * hz / NS_PER_S;
}

#endif
