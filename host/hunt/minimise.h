/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Looks for a smaller run that fails in the same way: with fewer CPUs, with no forced switches after an
 * earlier time, and with an earlier end. Each smaller run that is reported was made and has failed. A still
 * smaller run may exist, because the number of runs is limited.
 */
#ifndef HUNT_MINIMISE_H
#define HUNT_MINIMISE_H

#include "capture/qemu_line.h"
#include "hunt.h"

#define HUNT_MINIMISE_SEEDS 8u	/* number of seeds that are tried with each smaller number of CPUs */
#define HUNT_MINIMISE_RUNS  66u /* largest number of runs for a kind of failure */

/* What was found for a kind of failure. */
struct hunt_smaller {
	uint64_t runs;	      /* number of runs that were made to find the smaller run */
	bool found;	      /* a smaller run was found; the members below describe it */
	struct hunt_run run;  /* how the smaller run ended */
	char trace[PATH_MAX]; /* its trace; "" if there is none */
	unsigned cpus, were;  /* number of CPUs of this run, and of the first run; 0: unknown */
	uint64_t deadline;    /* virtual time in ns at which the run is ended */
	bool calmed;	      /* no switch is forced from `until` on */
	uint64_t until;	      /* virtual time in ns */
	/* the command line, if this run has another number of CPUs; otherwise empty */
	struct capture_words words;
};

/*
 * Searches for each kind of failure that the hunt has found, and stores the result in smaller[n] for
 * hunt->kind[n]. The smaller run's trace is "FOLDER/seed-N-small.ktrx", with N the seed of the kind's first
 * run. A signal ends the search, and is stored in hunt->signal; what was found before the signal remains
 * valid. Requires: hunt_run() has returned 0 for this hunt.
 */
void hunt_minimise(struct hunt *hunt, struct hunt_smaller smaller[HUNT_KINDS]);
void hunt_smaller_free(struct hunt_smaller *smaller);

#endif
