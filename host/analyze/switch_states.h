/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds out whether the states in sched.switch are certainly wrong: a kernel may pass a constant, or its own
 * numbers instead of those of ktrace (doc/events.md). A fault is reported only with positive evidence, such
 * as a thread that runs again although its last state was dead.
 */
#ifndef ANALYZE_SWITCH_STATES_H
#define ANALYZE_SWITCH_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

enum switch_states_fault {
	SWITCH_STATES_RANGE,   /* states are greater than 4, which ktrace does not define */
	SWITCH_STATES_DEAD,    /* threads ran again after a switch with the state dead */
	SWITCH_STATES_STOPPED, /* threads ran again without a wakeup after a switch with the state stopped */
	SWITCH_STATES_SAME,    /* the state is always 1 or always 2, although some threads were preempted */
	SWITCH_STATES_FAULTS,
};

struct switch_states;

/* Returns 0 or KTREAD_E_MEMORY. The caller frees `*states` in either case. */
int switch_states_open(struct switch_states **states, const struct ktread *trace);
void switch_states_free(struct switch_states *states);
/* Call this for each event of the trace, in order of time. `known`: the meaning of the event. */
void switch_states_event(struct switch_states *states, const struct ktread_event *event,
			 const struct wellknown *known);

/* The first event that shows a fault, and how often the fault occurred. */
struct switch_states_found {
	uint64_t count, stamp;
	uint32_t cpu;
	uint64_t state;
};
/*
 * Call this after the last event. Returns whether the states have this fault, and fills in *found if they do.
 */
bool switch_states_have(const struct switch_states *states, enum switch_states_fault fault,
			struct switch_states_found *found);
/* Returns whether the states have any fault. */
bool switch_states_are_wrong(const struct switch_states *states);

#endif
