/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * While the trace is read, tracks whether the events that begin and end spans are recorded. Uses the
 * library's own records of events that were switched on or off (`ktrace.switched`, spec/ktrx.md section 7). A
 * family is the set of all events that belong to one kind of span.
 */
#ifndef ANALYZE_RECORDED_H
#define ANALYZE_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktrx/slot.h"

enum recorded_family {
	RECORDED_CALLS,
	RECORDED_INTERRUPTS,
	RECORDED_FAULTS,
	RECORDED_LOCKS,
	/* number of families; in recorded.family: the event belongs to no family */
	RECORDED_FAMILIES,
};

struct recorded {
	uint32_t change;		    /* id of ktrace.switched */
	uint32_t of_spans_off;		    /* number of events that are off, in all families together */
	uint8_t family[KTRX_EVENT_MAX + 1]; /* for each event: the family to which it belongs */
	bool off[KTRX_EVENT_MAX + 1];
	uint32_t events_off[RECORDED_FAMILIES]; /* indexed by family: number of events that are off */
	/* number of gaps before the newest record of ktrace.switched */
	uint32_t gaps;
};

/* Returns the family of a kind of event; RECORDED_FAMILIES: none. */
enum recorded_family recorded_family_of(enum wellknown_kind kind);

/*
 * Returns 0 or KTREAD_E_MEMORY. The caller frees `*recorded`, which is NULL if the trace does not declare
 * ktrace.switched. All events then count as recorded.
 */
int recorded_create(struct recorded **recorded, const struct ktread *trace);

/* Returns whether recorded_event() must be called for an event. */
static inline bool recorded_is_due(const struct recorded *r, const struct ktread_event *event)
{
	return r && (event->id == r->change || r->of_spans_off != 0);
}

/*
 * Processes an event of the trace. Called for each event, in the order of the trace. `gaps`: number of gaps
 * before the event; a record of ktrace.switched may be lost in a gap. If the event switches other events on
 * or off, returns a bit map of the families to which these belong, and sets *on: true if they were switched
 * on, false if off.
 */
unsigned recorded_event(struct recorded *r, const struct ktread_event *event, uint32_t gaps, bool *on);

/*
 * Returns whether all events of the family to which this kind of event belongs are recorded, as far as the
 * trace shows so far.
 */
static inline bool recorded_now(const struct recorded *r, enum wellknown_kind kind)
{
	enum recorded_family family;

	if (!r || r->of_spans_off == 0)
		return true;
	family = recorded_family_of(kind);
	return family == RECORDED_FAMILIES || r->events_off[family] == 0;
}

#endif
