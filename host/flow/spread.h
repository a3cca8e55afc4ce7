/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * When what a unit told happened. The unit tells the time now and then; what comes between two times lies between them, spread by
 * the instructions that were run. Two things are known better: what is told is in order; and where the kernel's code that records
 * an event was called, that event's stamp is the time. That stamp may lie beside the piece in which the unit tells the call: the
 * recorder may have taken it long before, and the unit's clock is not exact.
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

/* What the unit told between two times. */
struct flow_piece {
	uint64_t from, to; /* stamps; `to` UINT64_MAX: not known */
	uint64_t early;	   /* where the piece before it began, or as `from` */
	uint64_t run;	   /* instructions that were run in it */
};

enum flow_anchor {
	FLOW_NO_RECORDER,
	FLOW_RECORDER_ALONE, /* of an event that is not there, or not near */
	FLOW_ANCHOR,
};

/*
 * Does the function with this name, called in the piece, record an event? The one that is nearest to the piece, of those behind
 * `matched`: not before the piece that comes before it, and not farther than the unit's clock may be off. In the piece, the first.
 */
enum flow_anchor flow_spread_anchor(const struct flow_spread *spread, const char *function,
				    const struct flow_piece *piece, uint64_t matched, uint64_t *stamp);
/* Up to when the event may yet come of a recorder that stands alone in the piece: as long as recording may take. */
uint64_t flow_spread_doubt(const struct flow_spread *spread, const struct flow_piece *piece);
/* So many instructions on. Returns the stamp. */
uint64_t flow_spread_at(const struct flow_spread *spread, uint64_t run);
/* May events of that CPU in the piece have come before or after? */
int flow_spread_is_about(const struct flow_spread *spread);

#endif
