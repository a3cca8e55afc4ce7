/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The frequency of the counter of a guest that runs, where its kernel does not know it: by the file behind its RAM. */
#ifndef CAPTURE_MEASURE_H
#define CAPTURE_MEASURE_H

#include <stdint.h>

/*
 * Ticks a second, right to about 1 %. Takes about half a second, less where there is nothing to measure.
 * 0: the kernel knows it itself, or the guest records nothing and has no heartbeat, or the file is no such memory.
 * `machine` as for ktread_memory_open_ram().
 */
uint64_t capture_measure(const char *path, const char *machine);

#endif
