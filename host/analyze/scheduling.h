/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What is learned in one pass before the trace is judged: when events were switched off, which events say
 * something of threads, and where slots are missing.
 */
#ifndef ANALYZE_SCHEDULING_H
#define ANALYZE_SCHEDULING_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/* ---- When events were switched off ---- */

/*
 * When events were not recorded because they were switched off: by the library's own records of that
 * (`ktrace.switched`), and by what the event table says at the end. Where a trace does not have the moment at
 * which an event ceased to be recorded, that is taken to be right after its last record, so that nothing is
 * concluded from a record that may only not have been made.
 */

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

/* ---- What the trace tells about its threads ---- */

/*
 * What a trace tells about its threads, learned in one pass before the trace is judged: which events were
 * recorded and when, and whether the `state` of sched.switch means anything. All commands share this one
 * answer.
 *
 * State 0 means runnable. But a kernel whose hook passes 0 every time has most likely not filled in the
 * field.
 */

struct scheduling;

/*
 * Reads the whole trace, without its filter, and rewinds it. A trace of records_only has nothing to learn
 * from and is not read. Returns 0 or a negative KTREAD_E_*. The caller frees `*scheduling` in either case.
 */
int scheduling_read(struct scheduling **scheduling, struct ktread *trace);
void scheduling_free(struct scheduling *scheduling);

/*
 * The same for a caller that reads the trace anyway: open, each event, end. Events may come ring by ring as
 * long as scheduling_needs_order() is false at the end; else the caller starts again with scheduling_read().
 * Each returns 0 or KTREAD_E_MEMORY.
 */
int scheduling_open(struct scheduling **scheduling, const struct ktread *trace);
int scheduling_event(struct scheduling *scheduling, const struct ktread_event *event);
int scheduling_end(struct scheduling *scheduling);
bool scheduling_needs_order(const struct scheduling *scheduling);

/* Whether the state of sched.switch means something: some switch gave one other than 0. */
bool scheduling_states(const struct scheduling *scheduling);

/*
 * Whether sched.switch has a state that is 0 every time, so that it is not known what became of a thread that
 * was switched away from. Sets `announced` if sched.block shows that instead.
 */
bool scheduling_states_are_empty(const struct scheduling *scheduling, bool *announced);

/*
 * Whether events of this kind were recorded at some time that the trace covers, fired or not. A stop of all
 * recording ends that time.
 */
bool scheduling_recorded(const struct scheduling *scheduling, enum wellknown_kind kind);

/* Whether they were recorded all the time between two stamps, so that the absence of one means something. */
bool scheduling_covers(const struct scheduling *scheduling, enum wellknown_kind kind, uint64_t from,
		       uint64_t to);

/* Whether the kernel declares events of this kind and they were off at some time between two stamps. */
bool scheduling_off(const struct scheduling *scheduling, enum wellknown_kind kind, uint64_t from,
		    uint64_t to);

/* Whether one of these events, a bit each, was off at some time between the two stamps. */
bool scheduling_switched(const struct scheduling *scheduling, const uint8_t *events, uint64_t from,
			 uint64_t to);

/* ---- Gaps ---- */

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

#define GAPS_MAX      4096u /* kept apart; from then on a ring's next gap is joined to its last one */
#define GAPS_CPUS_MAX 4096u
#define GAPS_ANYWHERE UINT32_MAX

struct gaps;

/* 0, or KTREAD_E_MEMORY, or what ktread_next() said. Reads the trace to its end and winds it back. */
int gaps_read(struct gaps **gaps, struct ktread *trace);
void gaps_free(struct gaps *gaps);

/*
 * Takes an event of the second reading: a guest that still runs may have overwritten more slots since the
 * first.
 */
void gaps_event(struct gaps *gaps, const struct ktread_event *event);

/*
 * Whether slots are missing between the stamps `from` and `to`: of that CPU, or GAPS_ANYWHERE. Gaps of a ring
 * without a CPU count for every CPU. From call to call `to` must not go back.
 */
bool gaps_between(struct gaps *gaps, uint32_t cpu, uint64_t from, uint64_t to);

/* What else gaps_read() has learned. Valid until gaps_free(). */
const struct scheduling *gaps_scheduling(const struct gaps *gaps);

/*
 * Whether one of these events, a bit each, was switched off at some time between the two stamps.
 */
bool gaps_switched(const struct gaps *gaps, const uint8_t *events, uint64_t from, uint64_t to);

#endif
