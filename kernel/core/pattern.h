/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef KTRACE_PATTERN_H
#define KTRACE_PATTERN_H

#include "state.h"

/*
 * Does the pattern choose this event? `length` characters, "group.name" with * and ?, or a group's name alone.
 */
KTRACE_HIDDEN int ktrace_event_matches(const struct ktrx_event *event, const char *pattern, uint32_t length);

/*
 * Sets what is wanted of all events that match: `length` characters, "group.name" with * and ?, or a group's
 * name alone. Events of the group "ktrace" match only patterns that begin with that. Returns how many matched; ktrace_states_update() puts it into effect.
 */
KTRACE_HIDDEN uint32_t ktrace_events_set(const char *pattern, uint32_t length, uint8_t wanted);

#endif
