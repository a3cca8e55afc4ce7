/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* For repeated runs: compares two traces of a run, and finds where the events around a time window are. */
#ifndef ANALYZE_COMPARE_H
#define ANALYZE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"

/* ---- Finding the first event that differs between two traces of a run ---- */

struct compare {
	uint64_t same; /* number of equal events before the first difference */
	bool differs;
	/*
	 * if `differs` is set: the first event of each trace that differs, owned by its trace; NULL: the
	 * trace has no further event in the part that both traces contain. If both pointers are NULL, the
	 * traces end at the same time, but have different numbers of rings
	 */
	const struct ktread_event *first[2];
};

/*
 * Compares the events that both traces contain: from each ring, the slots that neither trace has overwritten
 * and that both have reached. If two traces of the same run end at different times, these parts are equal. A
 * trace that ended before the kernel made its rings has only the first ring. `same_end`: both traces end at
 * the same time, so neither may have more events at its end than the other. Events are equal if all recorded
 * data is equal, including their times and their slots. Clock corrections of the traces must be off
 * (raw_clock). Returns 0, or a negative enum ktread_error; *which is the number of the trace that could not
 * be read.
 */
int compare_traces(struct ktread *const trace[2], bool same_end, struct compare *compare, int *which);

/* ---- Finding the events directly before and after a time window, which may contain no event ---- */

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
