/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef BENCH_STEPS_H
#define BENCH_STEPS_H

#include <stdint.h>

/*
 * Instructions that a round of the loop executes, loop included, counted by single-stepping; negative: it
 * failed.
 */
double steps_per_round(void (*loop)(uint64_t n));

#endif
