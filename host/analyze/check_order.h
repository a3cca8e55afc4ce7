/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Which verdicts of rules depend on an order of events that is not certain. A verdict on a key depends on the
 * order of the events with that key. Two of them on different CPUs whose times are no farther apart than
 * `doubt` may have happened in the other order: then what follows from them is unsure.
 *
 * An event that comes later may be such a one, too, so a violation waits until `doubt` has passed.
 */
#ifndef ANALYZE_CHECK_ORDER_H
#define ANALYZE_CHECK_ORDER_H

#include "analyze/check.h"
#include "analyze/keyed.h"

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

void check_order_init(struct check_order *order, const struct ktread *trace);
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

#endif
