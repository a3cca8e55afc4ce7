/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The last branches of each stream, or the last ones before a function was entered. Recordings are read from their ends, as far
 * back as need be.
 */
#ifndef FLOW_LAST_H
#define FLOW_LAST_H

#include "flow/flow.h"

#define FLOW_LAST_MOST 10000000u

struct flow_last {
	uint64_t count;	    /* branches of a stream, 1 to FLOW_LAST_MOST */
	const char *before; /* name of the function, NULL: none */
	/* Results. */
	int found; /* it was entered */
};

/*
 * As flow_walk(), of those branches alone. The stream in which the function was entered comes last, so that what led to it is
 * what is written last.
 */
int flow_last_walk(struct flow_last *last, struct flow *flow, const struct flow_view *view, void *to);

#endif
