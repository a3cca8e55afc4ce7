/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef KTRACE_PATTERN_H
#define KTRACE_PATTERN_H

#include "../base/span.h"
#include "state.h"

/* What is to become of events: parts of their state and flags that KTRX_CHANGE_* names. */
struct ktrace_change {
	uint8_t change;
	uint8_t state;
	uint8_t flags;
};

KTRACE_HIDDEN void ktrace_event_change(struct ktrx_event *event, const struct ktrace_change *change);

/* Does the pattern choose this event? "group.name" with * and ?, or a group's name alone. */
KTRACE_HIDDEN int ktrace_event_matches(const struct ktrx_event *event, struct ktrace_span pattern);

/*
 * Changes all events that match: "group.name" with * and ?, or a group's name alone. Events of the group
 * "ktrace" match only patterns that begin with that. Returns how many matched; ktrace_states_update() puts it
 * into effect.
 */
KTRACE_HIDDEN uint32_t ktrace_events_change(struct ktrace_span pattern, const struct ktrace_change *change);

#endif
