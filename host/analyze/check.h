/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations that check.c and check_forms.c share: the state of a check, and the verdicts. check.c reads
 * the trace, and reaches the verdicts that are possible only at the end of the trace. check_forms.c judges
 * each event, with one function for each form of rule.
 */
#ifndef ANALYZE_CHECK_H
#define ANALYZE_CHECK_H

#include "analyze/keyed.h"
#include "analyze/rules.h"
#include "analyze/scheduling.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "ktrx/slot.h"

/*
 * Finds verdicts that depend on an uncertain order of events. A verdict on a key depends on the order of the
 * events with that key. Two events with that key on different CPUs may have happened in the opposite order if
 * their timestamps differ by at most `doubt` ticks. The verdict is then uncertain.
 *
 * A later event of the trace may also be within `doubt` ticks. So a violation is not reported
 * until no such event can come.
 */

#define CHECK_ORDER_THREADS \
	RULES_MAX /* index of the table of events that change thread states; rules have lower indexes */
#define CHECK_ORDER_WAITING 64u

struct check_waiting {
	struct check_violation violation;
	uint32_t table;
	uint64_t key[KEYED_WORDS];
	bool unsure;
};

struct check_order {
	bool certain; /* true if the order of all events in the trace is certain */
	/* true if `doubt` is known; if false, any two events on different CPUs may be out of order */
	bool measured;
	uint64_t doubt; /* uncertainty of the order between CPUs, in ticks */
	struct keyed table[RULES_MAX + 1];
	struct check_waiting waiting[CHECK_ORDER_WAITING];
	uint32_t count;
};

/*
 * Handles an event that has this key. `settles`: earlier events with this key no longer matter after this
 * event. Sets `*unsure` if the order of this event and earlier events with the key is uncertain. Returns 0 or
 * KTREAD_E_MEMORY.
 */
int check_order_see(struct check_order *order, uint32_t table, const uint64_t key[KEYED_WORDS],
		    const struct ktread_event *event, bool settles, bool *unsure);

/* Holds a violation back until no later event can change it. Returns false if there is no room. */
bool check_order_wait(struct check_order *order, uint32_t table, const uint64_t key[KEYED_WORDS],
		      const struct check_violation *violation);

/* ---- The state of a check, and the verdicts ---- */

struct check {
	const struct rules *rules;
	const struct ktread *trace;
	struct check_result *result;
	check_found *found;
	void *context;
	struct gaps *gaps;
	struct threads *threads;
	struct threads_heads heads;
	struct wellknown_table known;
	struct keyed table[RULES_MAX]; /* indexed by rule: the table of entries that the rule has stored */
	/* indexed by rule: about how many of these entries only show that there is no cause */
	uint32_t settled[RULES_MAX];
	bool incomplete; /* true if slots are missing in the trace, or events were off */
	/* indexed by rule: bit map of the events that decide the rule */
	uint8_t needed[RULES_MAX][(KTRX_EVENT_MAX + 1) / 8];
	/*
	 * indexed by event id: bit maps of the rules to apply to the event, and of the depths to update
	 * afterwards
	 */
	uint64_t rules_of[KTRX_EVENT_MAX + 1][RULES_MAX / 64], depths_of[KTRX_EVENT_MAX + 1][RULES_MAX / 64];
	/* bit map of the events that change states of threads */
	uint8_t scheduling[(KTRX_EVENT_MAX + 1) / 8];
	uint64_t *changed; /* indexed by thread: timestamp of the last change of its state */
	uint32_t changed_room;
	uint64_t doubt; /* maximum number of ticks by which clocks may differ, as for check_read() */
	bool changed_failed, order_failed;
	struct check_order order;
	const struct ktread_event *event; /* the event that is being processed */
	/* the current verdict: order_table is the index of its table in order.table, order_key is its key */
	uint32_t order_table;
	uint64_t order_key[KEYED_WORDS];
	bool unsure; /* true if the order of the events of order_key is uncertain */
	/*
	 * The current event: `stamp` is its timestamp, `time` its time as counted in threads.h, `number` its
	 * number in the order of reading (numbers count from 1).
	 */
	uint64_t stamp, time, number;
};

/* Returns whether an event is one of those that the user wants to be judged. */
static inline bool check_judges(const struct check *check, const struct ktread_event *event)
{
	return !check->rules->judges || check->rules->judges(check->rules->context, event);
}

/*
 * Judges an event by one rule, and stores what is needed to judge later events by that rule. Returns 0 or
 * KTREAD_E_MEMORY. If out of memory for the order of events, sets order_failed.
 */
int check_apply(struct check *check, uint32_t index, const struct ktread_event *event);

/*
 * The reason why an event may be missing. If the event was switched off and, in addition, slots were lost,
 * the stated reason is that the event was switched off, because the user can change that.
 */
struct check_gap {
	bool is;      /* true if an event may be missing */
	uint32_t off; /* id of the event that was switched off; 0 if slots were lost */
};

/*
 * Finds out whether an event may be missing between two timestamps. `cpu`: as for gaps_between(). `events`:
 * bit map of the events that decide the rule.
 */
struct check_gap check_gap(struct check *check, uint32_t cpu, const uint8_t *events, uint64_t from,
			   uint64_t to);
/*
 * Counts that a rule could not be decided. `off`: id of an event that was switched off; 0: slots were lost.
 */
void check_undecided(struct check *check, uint32_t rule, uint32_t off);

/*
 * Returns true if the key of the rule contains the number of the CPU that records the event, for every event
 * of the rule that has a key.
 */
bool check_keyed_by_cpu(const struct rule *rule);

/* Counts a violation and passes it to the callback. */
void check_report(struct check *check, const struct check_violation *violation);

/* Stores the event that created the element `cause` as the cause of the violation. */
void check_blame(struct check_violation *violation, const struct keyed_entry *cause);

#endif
