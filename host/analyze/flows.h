/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds flows: connections from one event to a later event on another CPU or thread. A packet flows from
 * net.tx to net.rx, a signal from signal.send to signal.deliver. Events are not connected across lost slots.
 */
#ifndef ANALYZE_FLOWS_H
#define ANALYZE_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

/* maximum number of flows that have begun and not ended at one time; fewer if hashes collide */
#define FLOWS_OPEN 1024u

/* A zero-initialised structure is ready for use. */
struct flows {
	struct flows_open {
		uint64_t key;
		uint64_t id;  /* number of the flow; 0: this element is not used */
		uint8_t kind; /* enum wellknown_kind of the event that begins the flow */
	} open[FLOWS_OPEN];
	uint64_t ids;
	uint64_t cut; /* flows up to this number do not end, because slots were lost after they began */
};

struct flows_step {
	/* number of the flow (numbers count from 1); 0: the event neither begins nor ends a flow */
	uint64_t id;
	/* true: the event ends the flow; false: the event begins the flow (a flow may have no end) */
	bool ends;
	uint16_t place; /* if the event begins a flow: index in `open` */
	const char *name;
};

/* Implements flows_event() for the kinds of event that may begin or end a flow. */
struct flows_step flows_take(struct flows *flows, const struct ktread_event *event,
			     const struct wellknown *known);

/* Returns the flow that `event` begins or ends. */
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

/* Makes a flow never end. `step`: result of flows_event() for the event that began the flow. */
void flows_forget(struct flows *flows, const struct flows_step *step);

/* Call before the next event if slots of some CPU were lost before it. */
void flows_gap(struct flows *flows);

#endif
