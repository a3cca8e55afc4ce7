/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What goes from one event to a later one elsewhere: a packet from net.tx to net.rx, a signal from
 * signal.send to signal.deliver. Nothing is joined across lost slots.
 */
#ifndef ANALYZE_FLOWS_H
#define ANALYZE_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

#define FLOWS_OPEN 1024u /* under way at once; a few fewer where their numbers collide */

/* Zero-initialised is ready for use. */
struct flows {
	struct flows_open {
		uint64_t key;
		uint64_t id;  /* 0: none */
		uint8_t kind; /* enum wellknown_kind of the beginning */
	} open[FLOWS_OPEN];
	uint64_t ids;
};

struct flows_step {
	uint64_t id; /* from 1; 0: the event is no end of a flow */
	bool ends;   /* else it begins, which need not have an end */
	const char *name;
};

/* flows_event() of the kinds that may begin or end a flow. */
struct flows_step flows_take(struct flows *flows, const struct ktread_event *event,
			     const struct wellknown *known);

/* Which flow `event` begins or ends. */
static inline struct flows_step flows_event(struct flows *flows, const struct ktread_event *event,
					    const struct wellknown *known)
{
	switch (known->kind) {
	case WELLKNOWN_NET_TX:
	case WELLKNOWN_NET_RX:
	case WELLKNOWN_SIGNAL_SEND:
	case WELLKNOWN_SIGNAL_DELIVER:
		return flows_take(flows, event, known);
	default:
		return (struct flows_step){ .id = 0 };
	}
}

/* Slots of some CPU are lost before the event that comes next. */
void flows_gap(struct flows *flows);

#endif
