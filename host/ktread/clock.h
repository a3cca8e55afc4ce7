/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Clocks put right: for each CPU a function from its stamps to corrected ones, in straight pieces through
 * points that somebody measured or worked out. It never falls, whatever the points are.
 */
#ifndef KTREAD_CLOCK_H
#define KTREAD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"

struct ktread_clock_piece {
	uint64_t from;	/* stamp at which it begins; the first one holds before that too */
	int64_t offset; /* ticks to be added there … */
	int64_t slope;	/* … and, in 2^-32, for each tick from there on */
};

struct ktread_clock {
	struct ktread_clock_piece *piece;
	uint32_t pieces; /* 0: stamps are right as they are */
	uint32_t at;	 /* piece that was used last: most often the next one too */
};

/* Of a trace. `clock` has `cpus` entries; those of other CPUs are right as they are. */
struct ktread_clocks {
	struct ktread_clock *clock;
	uint32_t cpus;
};

/*
 * Makes the pieces through `count` points in order of their stamps; points that contradict those before them
 * (no later, or drifting off by more than half) are left out. Before the first and behind the last one the
 * drift goes on that `slopes` says, in 2^-32. Replaces what was there.
 */
int ktread_clock_set(struct ktread_clock *clock, const struct ktread_clock_point *point, uint32_t count,
		     const int64_t slopes[2]);
int ktread_clocks_init(struct ktread_clocks *clocks, uint32_t cpus);
void ktread_clocks_free(struct ktread_clocks *clocks);

/* Takes what the guest measured, from the sections of a version 2 trace, and says so in the trace's info. */
int ktread_clock_load(struct ktread *trace);

uint64_t ktread_clock_apply(struct ktread_clock *clock, uint64_t stamp);

static inline uint64_t ktread_clocks_apply(const struct ktread_clocks *clocks, uint32_t cpu, uint64_t stamp)
{
	if (cpu >= clocks->cpus || clocks->clock[cpu].pieces == 0)
		return stamp;
	return ktread_clock_apply(&clocks->clock[cpu], stamp);
}

#endif
