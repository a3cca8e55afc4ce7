/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * BENCH_SHORT in the environment (make bench-short): each bench runs once on little input, to see that it runs. Figures are not
 * judged; what must be equal still is.
 */
#ifndef BENCH_SHORT_H
#define BENCH_SHORT_H

#include <stdlib.h>

static inline int bench_short(void)
{
	return getenv("BENCH_SHORT") != NULL;
}

/* A number of runs or rounds. */
static inline int bench_times(int full)
{
	return bench_short() ? 1 : full;
}

#endif
