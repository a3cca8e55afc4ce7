/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Causes on one CPU and their effects on another: a wakeup and the switch to that thread, a switch away from a
 * thread and the next one to it, an interrupt sent to a CPU and its arrival, a packet sent and received.
 *
 * Clocks need not be in step: an effect that comes up to `slack` ticks before its cause is still taken for its
 * effect. What could be either of two causes is told as none.
 */
#ifndef ANALYZE_CAUSES_H
#define ANALYZE_CAUSES_H

#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

struct causes_pair {
	uint32_t from, to;	/* CPUs, never the same */
	uint64_t cause, effect; /* stamps; effect < cause: the clocks are wrong */
};
#define CAUSES_PAIRS 12u /* at most, of one event */

struct causes;

/* NULL without memory. */
struct causes *causes_create(uint64_t slack);
void causes_destroy(struct causes *causes);

/* Takes the next event, in order of stamps. Returns how many pairs it completes. */
uint32_t causes_event(struct causes *causes, const struct ktread_event *event, const struct wellknown *known,
		      struct causes_pair pair[CAUSES_PAIRS]);

#endif
