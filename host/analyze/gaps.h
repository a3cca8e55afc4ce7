/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Gaps: where slots are missing in a trace. A reader learns of a gap from the first event after it, when
 * it has read other rings well past the gap's beginning. So the trace is read once to find the gaps; a
 * second reading, which pairs events, then knows all gaps in advance.
 *
 * The first reading is made without the filter, so that events which the filter leaves out are not taken
 * for a gap.
 *
 * A gap reaches from the last event before it in its ring to the first event after it. After the last
 * event of a ring there may be a record that its CPU had not finished; that is no gap. There are three
 * special cases:
 * - If the file lacks the rest of a ring, the gap at the end of that ring has no end.
 * - The same holds for a ring that was full and refused later records. The boot ring is an exception,
 *   because CPUs leave it when they have rings of their own.
 * - A ring that was cleared lacks its beginning.
 */
#ifndef ANALYZE_GAPS_H
#define ANALYZE_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"

#define GAPS_MAX      4096u /* kept apart; from then on a ring's next gap is joined to its last one */
#define GAPS_CPUS_MAX 4096u
#define GAPS_ANYWHERE UINT32_MAX

struct gaps;
struct scheduling;

/* 0, or KTREAD_E_MEMORY, or what ktread_next() said. Reads the trace to its end and winds it back. */
int gaps_read(struct gaps **gaps, struct ktread *trace);
void gaps_free(struct gaps *gaps);

/* An event on the second way: a guest that still runs may have overwritten more slots by then. */
void gaps_event(struct gaps *gaps, const struct ktread_event *event);

/*
 * Whether slots are missing between the stamps `from` and `to`: of that CPU, or GAPS_ANYWHERE. Gaps of a ring
 * without a CPU count for every CPU. From call to call `to` must not go back.
 */
bool gaps_between(struct gaps *gaps, uint32_t cpu, uint64_t from, uint64_t to);

/* What else the same pass has learned (scheduling.h), as long as the gaps are there. */
const struct scheduling *gaps_scheduling(const struct gaps *gaps);

/*
 * Whether one of these events, a bit each, was switched off at some time between the two stamps.
 */
bool gaps_switched(const struct gaps *gaps, const uint8_t *events, uint64_t from, uint64_t to);

#endif
