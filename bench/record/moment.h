/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Measures the time of loops, and detects whether other work shared the thread's core during the loop. A
 * virtual CPU may share its core with another virtual machine, for milliseconds or minutes. An empty loop
 * then takes up to twice as long, and loops that write to memory are slowed down more than loops that wait
 * for the counter; ratios of such times are wrong. Therefore an empty loop is timed before and after each
 * loop.
 */
#ifndef BENCH_MOMENT_H
#define BENCH_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * If an empty loop takes more than this multiple of its usual time, the core was shared. Changes of the CPU's
 * frequency have a smaller effect.
 */
#define MOMENT_SHARED_RATIO 1.15

/*
 * Returns the CPU time of a round of the loop in ns. Sets *own to false if an empty loop before or after it
 * took more than MOMENT_SHARED_RATIO times the thread's fastest one; otherwise leaves *own unchanged.
 */
double moment_time(void (*loop)(uint64_t n), uint64_t rounds, bool *own);

/*
 * Returns the CPU time of a round of the loop in ns. Sets *slowest to the time of the slower of the two empty
 * loops, if that time is greater than *slowest.
 */
double moment_time_beside(void (*loop)(uint64_t n), uint64_t rounds, double *slowest);

#endif
