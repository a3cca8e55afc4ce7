/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Times of loops in moments when the core was the thread's own. A virtual CPU may share its core with a neighbour that
 * nobody here sees, for milliseconds or minutes: an empty loop then takes up to twice as long, and what stores suffers more
 * than what waits for the counter, so that ratios are off. Hence an empty loop is timed on either side.
 */
#ifndef BENCH_MOMENT_H
#define BENCH_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

/* An empty loop that takes so many times its usual time was not alone on its core: a clock's own changes are smaller. */
#define MOMENT_SHARED_RATIO 1.15

/*
 * CPU time of a round of the loop, in ns. Clears *own if an empty loop beside it took MOMENT_SHARED_RATIO of the thread's fastest;
 * leaves it otherwise.
 */
double moment_time(void (*loop)(uint64_t n), uint64_t rounds, bool *own);

/* The same. *slowest is raised to the time of the slower one of the empty loops before and after it. */
double moment_time_beside(void (*loop)(uint64_t n), uint64_t rounds, double *slowest);

#endif
