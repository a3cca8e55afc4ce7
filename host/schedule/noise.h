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
	uint64_t mean;	 /* of a slice, or of a delay at a hook, in ns; 0: no forced switches */
	uint64_t bursts; /* of 8 slices, the number that last only a few instructions */
	/* base-2 logarithm: of this many instructions for waiting, one lets another CPU run */
	uint64_t patience;
	bool has_slices; /* lengths of slices are drawn */
	bool has_hooks;	 /* slices end at hooks */
	/* The members below are used only with hooks. */
	uint64_t hook_state; /* of a second generator */
	uint64_t rarity;     /* base-2 logarithm: of this many hooks, one ends a slice */
	uint64_t distance;   /* largest time in ns from a hook to the end of the slice, plus 1 */
};

/* Prepares the generator. The mean is drawn from the seed, unless it is given. */
void noise_begin(struct noise *noise, const struct schedule_noise *from);

/* Returns a number below `cpus`, which must not be 0: the CPU that runs next. */
unsigned noise_cpu(struct noise *noise, unsigned cpus);

/* Returns whether a CPU that executes an instruction for waiting lets another one run. */
bool noise_gives_way(struct noise *noise);

/* Returns the length of the next slice in ns, at least 1. Requires: noise->has_slices. */
uint64_t noise_next(struct noise *noise);

/*
 * Decides, when a CPU executes a hook, whether its slice ends soon. *after: the time in ns until then.
 * Requires: noise->has_hooks.
 */
bool noise_hook(struct noise *noise, uint64_t *after);

/*
 * Returns the time in ns, at least 1, for which other CPUs run after a slice has ended because of a hook.
 * Requires: noise->has_hooks.
 */
uint64_t noise_delay(struct noise *noise);

#endif
