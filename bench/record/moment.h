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

/* CPU time of a round of the loop, in ns. Clears *own if the core was shared; leaves it otherwise. */
double moment_time(void (*loop)(uint64_t n), uint64_t rounds, bool *own);

#endif
