/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Chooses the lengths of slices, and the CPUs that run in them, from a seed. With -icount, a CPU runs until
 * the next timer of the virtual clock expires. So a timer determines how long a CPU runs before the next CPU
 * runs.
 */
#ifndef SCHEDULE_NOISE_H
#define SCHEDULE_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include "control.h"

struct noise {
	uint64_t state;	 /* state of the generator, splitmix64 */
	uint64_t mean;	 /* mean length of a slice, or of a delay at a hook, in ns; 0: no forced switches */
	uint64_t bursts; /* how many of 8 slices last only a few instructions */
	/* n: on average, one of 2^n instructions that wait lets another CPU run */
	uint64_t patience;
	bool has_slices; /* the lengths of slices are random */
	bool has_hooks;	 /* slices end at hooks */
	/* The members below are used only with hooks. */
	uint64_t hook_state; /* state of a second generator */
	uint64_t rarity;     /* n: on average, one of 2^n hooks ends a slice */
	uint64_t distance;   /* largest time in ns from a hook to the end of the slice, plus 1 */
};

/* Prepares the generator. The seed determines the mean, unless `from` gives it. */
void noise_begin(struct noise *noise, const struct schedule_noise *from);

/* Returns the number of the CPU that runs next: a random number below `cpus`, which must not be 0. */
unsigned noise_cpu(struct noise *noise, unsigned cpus);

/* Called when a CPU executes an instruction that waits. Returns whether another CPU runs now. */
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
