/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * If BENCH_SHORT is in the environment (make bench-short), each benchmark runs once with little input, to
 * test that the benchmark works. Measured values are not compared with limits, but results that must be
 * equal are still compared.
 */
#ifndef BENCH_SHORT_H
#define BENCH_SHORT_H

#include <stdlib.h>

static inline int bench_short(void)
{
	return getenv("BENCH_SHORT") != NULL;
}

/* Returns the number of runs or rounds: `full`, or 1 in a short run. */
static inline int bench_times(int full)
{
	return bench_short() ? 1 : full;
}

#endif
