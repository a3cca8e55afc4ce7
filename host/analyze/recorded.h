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

/* Returns 0 or KTREAD_E_MEMORY. The caller destroys `*recorded`. */
int recorded_create(struct recorded **recorded, const struct ktread *trace);
void recorded_destroy(struct recorded *recorded);

/*
 * Takes each event of the trace in order. `gaps`: how many gaps there were before it, in which a record of a change may be lost.
 * Returns a bit for each family of which an event was switched on or off here. `*on`: they were switched on.
 */
unsigned recorded_event(struct recorded *recorded, const struct ktread_event *event, uint32_t gaps, bool *on);

/* Whether all events of a family are recorded, as far as the trace has told by now. */
bool recorded_now(const struct recorded *recorded, enum recorded_family family);

enum recorded_family recorded_family_of(enum wellknown_kind kind);

#endif
