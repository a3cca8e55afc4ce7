/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What check.c and check_forms.c share: the state of a check, and the verdicts. check.c reads the trace, and
 * judges what only its end decides; check_forms.c judges each event by the form of a rule.
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
 * Which verdicts depend on an order of events that is not certain. A verdict on a key depends on the
 * order of the events with that key. Two of them on different CPUs whose times are no farther apart than
 * `doubt` may have happened in the other order: then what follows from them is unsure.
 *
 * An event that comes later may be such a one, too, so a violation waits until `doubt` has passed.
 */

#define CHECK_ORDER_THREADS \
	RULES_MAX /* table of the events that change a thread's state; the others are rules' */
#define CHECK_ORDER_WAITING 64u

struct check_waiting {
	struct check_violation violation;
	uint32_t table;
	uint64_t key[KEYED_WORDS];
	bool unsure;
};

struct check_order {
	bool certain;	/* nothing depends on clocks */
	bool measured;	/* `doubt` is known; otherwise it has no bound */
	uint64_t doubt; /* ticks */
	struct keyed table[RULES_MAX + 1];
	struct check_waiting waiting[CHECK_ORDER_WAITING];
	uint32_t count;
};

/* `doubt` as check_read() takes it. */
void check_order_init(struct check_order *order, const struct ktread *trace, uint64_t doubt);
void check_order_free(struct check_order *order);

/*
 * Takes an event of a key. `settles`: what was before it counts no longer. *unsure: whether the order of the
 * events before it and of itself is uncertain. 0 or KTREAD_E_MEMORY.
 */
int check_order_see(struct check_order *order, uint32_t table, const uint64_t key[KEYED_WORDS],
		    const struct ktread_event *event, bool settles, bool *unsure);

/* Whether the order of the events of a key is uncertain so far. */
bool check_order_is_unsure(const struct check_order *order, uint32_t table, const uint64_t key[KEYED_WORDS]);

/* Lets a violation wait. False: there is no room. */
bool check_order_wait(struct check_order *order, uint32_t table, const uint64_t key[KEYED_WORDS],
		      const struct check_violation *violation);

/* Takes out a violation that has waited long enough at `stamp`. False: there is none. */
bool check_order_next(struct check_order *order, uint64_t stamp, struct check_waiting *waited);

/* ---- The state of a check, and the verdicts ---- */

struct check {
	const struct rules *rules;
	struct check_result *result;
	check_told *told;
	void *context;
	struct gaps *gaps;
	struct threads *threads;
	struct wellknown_table known;
	struct keyed table[RULES_MAX];			     /* of each rule */
	uint8_t needed[RULES_MAX][(KTRX_EVENT_MAX + 1) / 8]; /* events that decide it, a bit each */
	uint8_t scheduling[(KTRX_EVENT_MAX + 1) / 8];	     /* and the states of threads */
	uint64_t *changed; /* stamp of a thread's last change, by its index */
	uint32_t changed_room;
	uint64_t doubt; /* as check_read() takes it */
	bool changed_failed, order_failed;
	struct check_order order;
	const struct ktread_event *event; /* at hand */
	uint32_t order_table;		  /* for the verdict at hand: its key, … */
	uint64_t order_key[KEYED_WORDS];
	bool unsure;		      /* … and whether the order of that key's events is uncertain */
	uint64_t stamp, time, number; /* of the event at hand; time as threads.h has it */
};

/*
 * Judges an event by one rule, and keeps what later events of that rule need. 0 or KTREAD_E_MEMORY; without
 * memory for the order of events, order_failed is set.
 */
int check_apply(struct check *check, uint32_t index, const struct ktread_event *event);

/* Counts a violation, and calls back for it. */
void check_tell(struct check *check, const struct check_violation *violation);

/* The violation goes back to the event that made this entry. */
void check_blame(struct check_violation *violation, const struct keyed_entry *cause);

#endif
