/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Which events that begin and end spans are recorded, while a trace is read once: by the library's own records of events that were
 * switched on or off (`ktrace.switched`, spec/ktrx.md section 7). A family is all events that belong to one sort of span.
 */
#ifndef ANALYZE_RECORDED_H
#define ANALYZE_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

enum recorded_family {
	RECORDED_CALLS,
	RECORDED_INTERRUPTS,
	RECORDED_FAULTS,
	RECORDED_LOCKS,
	RECORDED_FAMILIES, /* also: of none */
};

struct recorded;

/* Begins struct recorded, for the functions below that are inline. */
struct recorded_view {
	uint32_t change;       /* id of ktrace.switched */
	uint32_t of_spans_off; /* events of any family that are off */
};

/*
 * Returns 0 or KTREAD_E_MEMORY. The caller destroys `*recorded`. It is NULL if the trace does not declare ktrace.switched: all
 * events are recorded then, as far as the trace tells.
 */
int recorded_create(struct recorded **recorded, const struct ktread *trace);
void recorded_destroy(struct recorded *recorded);

/* recorded_event() for an event that may change something. */
unsigned recorded_take(struct recorded *recorded, const struct ktread_event *event, uint32_t gaps, bool *on);
/* recorded_now() while any event is off. */
bool recorded_family_now(const struct recorded *recorded, enum wellknown_kind kind);

/* Whether recorded_event() may have to do anything for an event. */
static inline bool recorded_is_due(const struct recorded *recorded, const struct ktread_event *event)
{
	const struct recorded_view *view = (const struct recorded_view *)recorded;

	return recorded && (event->id == view->change || view->of_spans_off != 0);
}

/*
 * Takes each event of the trace in order. `gaps`: how many gaps there were before it, in which a record of a change may be lost.
 * Returns a bit for each family of which an event was switched on or off here. `*on`: they were switched on.
 */
static inline unsigned recorded_event(struct recorded *recorded, const struct ktread_event *event,
				      uint32_t gaps, bool *on)
{
	return recorded_is_due(recorded, event) ? recorded_take(recorded, event, gaps, on) : 0;
}

/* Whether all events of the family that a kind belongs to are recorded, as far as the trace has told by now. */
static inline bool recorded_now(const struct recorded *recorded, enum wellknown_kind kind)
{
	const struct recorded_view *view = (const struct recorded_view *)recorded;

	return !recorded || view->of_spans_off == 0 || recorded_family_now(recorded, kind);
}

enum recorded_family recorded_family_of(enum wellknown_kind kind);

#endif
