/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a trace tells about its threads, learned in one pass before the trace is judged: which events were
 * recorded and when, and whether the `state` of sched.switch means anything. All commands share this one
 * answer.
 *
 * State 0 means runnable. But a kernel whose hook passes 0 every time has most likely not filled in the
 * field.
 */
#ifndef ANALYZE_SCHEDULING_H
#define ANALYZE_SCHEDULING_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

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

/* Whether one of these events, a bit each, was off at some time between the two stamps (switched.h). */
bool scheduling_switched(const struct scheduling *scheduling, const uint8_t *events, uint64_t from,
			 uint64_t to);

#endif
