/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Computes the time between two timestamps. */
#ifndef ANALYZE_ELAPSED_H
#define ANALYZE_ELAPSED_H

#include <stdint.h>

/*
 * Returns the ticks between two timestamps; 0 if `to` is not later, for example because a clock was set back.
 */
static inline uint64_t elapsed(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

#endif
