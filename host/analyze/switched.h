/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * When events were not recorded because they were switched off: by the library's own records of that
 * (`ktrace.switched`), and by what the event table says at the end. Where a trace does not have the moment at
 * which an event ceased to be recorded, that is taken to be right after its last record, so that nothing is
 * concluded from a record that may only not have been made.
 */
#ifndef ANALYZE_SWITCHED_H
#define ANALYZE_SWITCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"

#define SWITCHED_MAP ((KTRX_EVENT_MAX + 1) / 8) /* bytes of a bit map of events */
#define SWITCHED_MAX 65536u /* times that are told apart; events with more count as off throughout */

struct switched;

/* 0 or KTREAD_E_MEMORY. */
int switched_open(struct switched **switched, const struct ktread *trace);
void switched_close(struct switched *switched);
/* Takes each event of the trace in order. 0 or KTREAD_E_MEMORY. */
int switched_event(struct switched *switched, const struct ktread_event *event);
/* All have been taken. 0 or KTREAD_E_MEMORY. */
int switched_end(struct switched *switched);
/* Was one of these events, a bit each, off at some time between the two stamps? */
bool switched_between(const struct switched *switched, const uint8_t *events, uint64_t from, uint64_t to);

/* The same for one event. */
bool switched_event_off(const struct switched *switched, uint32_t id, uint64_t from, uint64_t to);
/*
 * Was this event recorded at some time that the trace covers, whether it fired or not? Its state in the event
 * table alone does not say: recording may have been stopped as a whole, or the event was switched off in the
 * end.
 */
bool switched_was_on(const struct switched *switched, uint32_t id);

/* The library's own event, and what it tells. */
struct switched_change {
	uint32_t first, last; /* ids */
	bool records;	      /* they begin to be recorded, else they cease to be */
};
bool switched_change_of(const struct ktread_event *event, struct switched_change *change);

#endif
