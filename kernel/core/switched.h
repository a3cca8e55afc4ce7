/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Changes of what is recorded, told in the trace itself (spec/ktrx.md, section 7): a record of the library's
 * event
 * `ktrace.switched` for each run of events, by id, that begin or cease to be recorded.
 */
#ifndef KTRACE_CORE_SWITCHED_H
#define KTRACE_CORE_SWITCHED_H

#include "state.h"

/* Events that change alike and have not been told yet. All zero: none. */
struct ktrace_switched {
	uint32_t first, last; /* ids */
	uint8_t state;
};

/* The row of the event itself. */
KTRACE_HIDDEN struct ktrx_event *ktrace_switched_event(void);

/*
 * Notes that `event` goes from one state into another, and records those noted before it that are not next to
 * it. Rows come in the order of their ids; ktrace_switched_end() records what is left.
 */
KTRACE_HIDDEN void ktrace_switched_add(struct ktrace_switched *noted, const struct ktrx_event *event,
				       uint8_t from, uint8_t to);
KTRACE_HIDDEN void ktrace_switched_end(struct ktrace_switched *noted);

#endif
