/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * If BENCH_SHORT is in the environment (make bench-short), each bench runs once on little input, to test that
 * it runs. Figures are not judged; results that must be equal still are.
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
