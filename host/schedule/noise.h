/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The lengths of slices and the CPUs that run in them, drawn from a seed. With -icount, a CPU runs until the
 * next timer of the virtual clock expires. So a timer decides how long a CPU runs before the next one does.
 */
#ifndef SCHEDULE_NOISE_H
#define SCHEDULE_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include "control.h"

struct noise {
	uint64_t state;	 /* of the generator, splitmix64 */
	uint64_t mean;	 /* in ns; 0: no forced switches */
	uint64_t bursts; /* of 8 slices, the number that last only a few instructions */
	/* base-2 logarithm: of this many instructions for waiting, one lets another CPU run */
	uint64_t patience;
};

/* Prepares the generator. The mean is drawn from the seed, unless it is given. */
void noise_begin(struct noise *noise, const struct schedule_noise *from);

/* Returns a number below `cpus`, which must not be 0: the CPU that runs next. */
unsigned noise_cpu(struct noise *noise, unsigned cpus);

/* Returns whether a CPU that executes an instruction for waiting lets another one run. */
bool noise_gives_way(struct noise *noise);

/* Returns the length of the next slice in ns, at least 1. Requires: noise->mean is not 0. */
uint64_t noise_next(struct noise *noise);

#endif
