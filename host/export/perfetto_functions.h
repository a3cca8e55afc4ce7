/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions that ran, by events hwt.* from hardware trace: a track for each CPU or thread that was traced, and where a CPU's
 * trace tells threads apart, for each of them. Functions on it are slices in each other.
 */
#ifndef EXPORT_PERFETTO_FUNCTIONS_H
#define EXPORT_PERFETTO_FUNCTIONS_H

#include "export/perfetto_track.h"
#include "ktread/ktread.h"

#define PERFETTO_FUNCTIONS_MOST 1024u /* tracks; functions on others are not drawn */

struct perfetto_functions_track {
	uint64_t uuid, stack;
	uint32_t ring, depth; /* slices that are open */
};

struct perfetto_functions {
	struct perfetto_functions_track *track;
	uint32_t tracks, last; /* the one that was used last */
	uint64_t left_out;     /* events of tracks beyond the limit */
};

/* Takes an event of a ring beside the trace. 0 or KTREAD_E_MEMORY. */
int perfetto_functions_event(struct perfetto_functions *functions, struct perfetto_tracks *tracks,
			     const struct ktread_event *event, uint64_t time);
void perfetto_functions_free(struct perfetto_functions *functions);

#endif
