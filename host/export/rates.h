/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* How many events there are in each stretch of time, on each CPU. */
#ifndef EXPORT_RATES_H
#define EXPORT_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "ktread/ktread.h"

struct rates_options {
	uint64_t interval; /* ticks, not 0 */
	bool json;
};

/*
 * A line for each interval, counted from the first event of the trace, and the figures of each CPU at the
 * end. Intervals without events are told together. 0, or KTREAD_E_MEMORY, or what ktread_next() said.
 */
int rates_write(struct base_output *out, struct ktread *trace, const struct rates_options *options);

#endif
