/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds the events directly before and after a time window. The window may contain no event. */
#ifndef ANALYZE_AROUND_H
#define ANALYZE_AROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"

struct around_event {
	bool known;
	uint32_t ring;
	uint64_t slot; /* index of its first slot in the ring */
};

struct around {
	/* the last event before the window, and the first event after the window */
	struct around_event before, after;
};

/*
 * Finds the last event before and the first event after a window, which begins and ends at two times of the
 * trace's clock, in seconds. Reads the trace from its current position. Requires: the clock has a frequency.
 */
void around_find(struct around *around, struct ktread *trace, double from, double to);

#endif
