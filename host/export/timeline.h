/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A trace as text, a line an event, merged over all CPUs. Version 1 is shown as decoders of version 1 always
 * have; version 2 with groups, thread names, contexts, and a line of its own wherever records are missing.
 */
#ifndef EXPORT_TIMELINE_H
#define EXPORT_TIMELINE_H

#include <stdint.h>

#include "export/output.h"
#include "export/syscalls.h"
#include "ktread/ktread.h"

struct timeline {
	struct ktread *trace;
	struct output *out;
	struct syscalls *calls;
	enum ktread_v1_layout layout;
	uint64_t limit;	    /* events to show, 0: all */
	int zero_ticks;	    /* with an unknown frequency show zeros instead of ticks */
	int colour;	    /* gaps stand out on a terminal */
	uint64_t base;	    /* set by timeline_write(): stamp shown as zero … */
	uint64_t frequency; /* … and ticks a second, 0 if unknown */
	uint64_t shown;	    /* result: events shown */
	uint64_t lost;	    /* result: slots known to be lost or unreadable, all rings */
};

/*
 * Writes the events that pass the trace's filter. Returns what the last ktread_next() said: 0 at the end, 1
 * if `limit` or a failed write ended it, or a negative KTREAD_E_*. The caller looks at out->error.
 */
int timeline_write(struct timeline *timeline);

#endif
