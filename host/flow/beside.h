/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace as events beside those of a kernel's trace (ktread/beside.h), a ring for each stream:
 * functions that are entered, and as it is wanted when they are left, or every branch. Where something is
 * missing is an event, too.
 */
#ifndef FLOW_BESIDE_H
#define FLOW_BESIDE_H

#include "flow/flow.h"
#include "ktread/ktread.h"

enum flow_grain {
	FLOW_ENTRIES,  /* hwt.call */
	FLOW_CALLS,    /* and hwt.return */
	FLOW_BRANCHES, /* hwt.branch instead */
};

/* Makes `flow` the trace's, which closes it, also after an error. As ktread_beside_source(). */
int flow_beside(struct ktread *trace, struct flow *flow, const char *path, enum flow_grain grain);

#endif
