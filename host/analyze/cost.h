/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The cost of recording an event, as measured by the traced kernel (ktrace_probe_cost()). */
#ifndef ANALYZE_COST_H
#define ANALYZE_COST_H

#include <stdint.h>

#include "ktread/ktread.h"

/* Returns the ticks that a thousand events cost; 0 if unknown. */
uint64_t cost_of(const struct ktread *trace);

/*
 * Returns the share of CPU time that recording took: `events` events, on `cpus` CPUs, within `ticks`. The
 * share is 0 to 1, or above 1 if the trace is inconsistent.
 */
double cost_share(uint64_t cost, uint64_t events, uint64_t ticks, uint32_t cpus);

/* number of entries of a table with one entry per CPU; the last entry is for unknown CPUs */
#define COST_CPUS 4097u

/*
 * Subtracts the cost of events from timestamps, as if a CPU's clock stopped while the CPU records. Requires:
 * all members except `cost` are zero at first.
 */
struct cost_meter {
	uint64_t cost;
	uint64_t events[COST_CPUS]; /* indexed by CPU: number of events so far */
	/*
	 * indexed by CPU: timestamp that was returned last; needed because the timestamps of a CPU must never
	 * decrease
	 */
	uint64_t last[COST_CPUS];
};

/*
 * Returns the timestamp of `event` minus the cost of the earlier events on its CPU. Call it once for each
 * event, in the order of the trace.
 */
uint64_t cost_taken_off(struct cost_meter *meter, const struct ktread_event *event);

#endif
