/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What recording an event costs, as the traced kernel has measured it (ktrace_probe_cost()). */
#ifndef ANALYZE_COST_H
#define ANALYZE_COST_H

#include <stdint.h>

#include "ktread/ktread.h"

/* Ticks that a thousand events cost; 0: unknown. */
uint64_t cost_of(const struct ktread *trace);

/* The part of `cpus` CPUs' time that `events` took, in `ticks`; 0 to 1, or more where a trace says so. */
double cost_share(uint64_t cost, uint64_t events, uint64_t ticks, uint32_t cpus);

#define COST_CPUS 4097u /* the last: unknown */

/* Takes the cost of events off stamps: a CPU's clock stands still while it records. Zeros but for `cost`. */
struct cost_meter {
	uint64_t cost;
	uint64_t events[COST_CPUS]; /* before, by CPU */
	uint64_t last[COST_CPUS];   /* what was told last: a CPU's time never goes back */
};

/*
 * The stamp of `event` without what the events told before on its CPU have cost. Each event once, in order.
 */
uint64_t cost_taken_off(struct cost_meter *meter, const struct ktread_event *event);

#endif
