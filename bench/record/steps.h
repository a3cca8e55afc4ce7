/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef BENCH_STEPS_H
#define BENCH_STEPS_H

#include <stdint.h>

/*
 * Returns the number of instructions in a round of the loop, including the loop itself, counted by
 * single-stepping; a negative value if that failed.
 */
double steps_per_round(void (*loop)(uint64_t n));

#endif
