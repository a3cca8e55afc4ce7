/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Estimates how far apart clocks are, to a fraction of a millisecond, if they are too far apart to pair causes with effects.
 * Each effect votes for its distance to every possible cause on another CPU; the votes of one effect add up to 1. The true
 * distance gets the most votes.
 */
#ifndef ANALYZE_COARSE_H
#define ANALYZE_COARSE_H

#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

struct coarse;

/* `reach`: ticks that clocks may be apart; `grain`: ticks to which the answer is exact. NULL without memory. */
struct coarse *coarse_create(uint32_t cpus, uint64_t reach, uint64_t grain);
void coarse_destroy(struct coarse *coarse);

/* Takes an event; 0 once there are enough for an answer. */
int coarse_event(struct coarse *coarse, const struct ktread_event *event, const struct wellknown *known);
/*
 * forward[cpu]: ticks by which each clock is to be set forward, CPU 0's by 0; INT64_MAX where too little is known.
 * Forgets all events.
 */
void coarse_solve(struct coarse *coarse, int64_t *forward);

#endif
