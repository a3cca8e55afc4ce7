/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Checks a trace against rules. Calls back for each violation when it is found. Events that are missing in
 * the trace never cause a violation, and never count as a rule that was kept: where lost slots could have
 * held the events that decide, the rule counts as undecided.
 *
 * Memory is bounded: a table of KEYED_MAX entries a rule, and the threads and gaps as their own headers have
 * them.
 */
#ifndef ANALYZE_CHECK_H
#define ANALYZE_CHECK_H

#include "analyze/rules.h"

struct check_violation {
	uint32_t rule;
	uint64_t stamp;	 /* of the event that violates; of one that never came, when it was due */
	uint64_t number; /* of that event in the order of reading, from 1; 0: one that never came, or none */
	uint32_t cpu, thread;
	bool has_cause; /* it goes back to an event at … */
	uint64_t cause_stamp;
	uint32_t cause_cpu, cause_thread;
	bool in_state; /* RULE_BROKEN: as a CPU's row says, at … */
	uint64_t pc;
	uint64_t object; /* a lock, 0: none */
	uint64_t count;	 /* RULE_MOST: how many there were; RULE_NEVER in a depth: how deep */
};

struct check_result {
	uint64_t held; /* times that the rule was decided and held */
	uint64_t violated;
	uint64_t undecided; /* times that lost slots kept it open */
	uint64_t unknown; /* times that the state of a thread was not known: sched.switch does not give it */
	/* times that clocks kept it open: it depends on events of CPUs too close to compare */
	uint64_t unordered;
	/* of `violated`: they depend on the order of events of CPUs whose clocks are unknown */
	uint64_t uncertain;
	/* events that lack the key, or are beyond the table's limit; those of its depth, too */
	uint64_t left_out;
	struct check_violation first; /* by stamp, if there is one */
};

typedef void check_told(void *context, const struct check_violation *violation);

/*
 * Reads the trace twice, to its end. `result` has a row for each rule. 0, or KTREAD_E_MEMORY, or what
 * ktread_next() said; what was found until then stands.
 */
int check_read(const struct rules *rules, struct ktread *trace, struct check_result *result, check_told *told,
	       void *context);

/* Is the end of a ring missing, as in a file that is cut short? Known once the trace was read. */
bool check_lacks_end(const struct ktread *trace);

#endif
