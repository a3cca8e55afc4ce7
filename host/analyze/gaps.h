/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Where slots are missing in a trace. A reader learns of a gap from the first event behind it, when other
 * rings have been read well past the gap's beginning; so the trace is gone through once for this, and what is
 * paired on a second way through can be held against gaps that are known beforehand.
 *
 * What a filter holds back is no gap, and is seen here: the first way through is made without it.
 *
 * A gap reaches from the last event before it in its ring to the first one after it. Behind a ring's last
 * event there may be a record that its CPU had not finished, which is none; but where the file lacks the rest
 * of a ring, nothing is known of it any more: that gap has no end. Nor has that of a ring that was full and
 * refused what came then, but for the boot ring, which CPUs leave when they have their own. A ring that was
 * cleared lacks its beginning.
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
 * Whether one of these events, a bit each, was switched off at some time between the two stamps (switched.h).
 */
bool gaps_switched(const struct gaps *gaps, const uint8_t *events, uint64_t from, uint64_t to);

#endif
