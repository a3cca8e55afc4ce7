/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The last branches of each stream, or the last ones before a function was entered. Recordings are read from their ends, as far
 * back as need be.
 */
#ifndef FLOW_LAST_H
#define FLOW_LAST_H

#include "flow/columns.h"
#include "flow/flow.h"

#define FLOW_LAST_MOST 10000000u

struct flow_last {
	uint64_t count;	    /* branches of a stream, 1 to FLOW_LAST_MOST */
	const char *before; /* name of the function, NULL: none */
	/* Results. */
	int found; /* it was entered */
};

/* Writes them as `columns` has it, a heading before each stream. 0, or a negative error; flow_message(). */
int flow_last_write(struct flow_last *last, struct flow_columns *columns);

#endif
