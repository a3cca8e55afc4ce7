/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * When what a unit told happened. The unit tells the time now and then; what comes between two times lies between them, spread by
 * the instructions that were run. Two things are known better: what is told is in order; and where the kernel's code that records
 * an event was called, that event's stamp is the time.
 *
 * Behind that, events of the same CPU that lie in the same piece of time may have come before or after: such a place is `about`.
 */
#ifndef FLOW_SPREAD_H
#define FLOW_SPREAD_H

#include "flow/kernel_events.h"

struct flow_spread {
	const struct flow_kernel *kernel;
	const struct ktread *trace; /* whose types those events have */
	uint32_t cpu;		    /* KTRX_NO_CPU: not known, and all is `about` */
	uint64_t from, to;	    /* of the piece: stamps; `to` UINT64_MAX: not known */
	uint64_t run_from, run_to;  /* and instructions */
};

/* Does the function with this name record an event? Its stamp, if it lies behind spread->from and before `to`. */
int flow_spread_anchor(const struct flow_spread *spread, const char *function, uint64_t to, uint64_t *stamp);
/* So many instructions on. Returns the stamp. */
uint64_t flow_spread_at(const struct flow_spread *spread, uint64_t run);
/* May events of that CPU in the piece have come before or after? */
int flow_spread_is_about(const struct flow_spread *spread);

#endif
