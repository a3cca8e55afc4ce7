/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Rounds of two threads, for bugs that occur rarely. In each round, `first` runs on one CPU and `second` on
 * another. `first` calls rounds_hand_over() when it has given something to `second`, and continues
 * immediately. `second` begins START_NS later (rounds.c).
 *
 * A race between them has a time window of a few instructions, right after the call of rounds_hand_over(). So
 * `first` has left the window long before `second` begins. The race occurs only if the CPU of `first` is
 * delayed inside the window until `second` has ended.
 */
#ifndef DEMO_BUG_ROUNDS_H
#define DEMO_BUG_ROUNDS_H

#include <stdint.h>

struct rounds {
	const char *name;	 /* the threads have the names NAME/0 and NAME/1 */
	unsigned rounds_at_once; /* maximum number of rounds; after them, all CPUs are idle for a moment */
	void (*first)(void);
	void (*second)(void);
};

/* Runs rounds. Takes less than half of the time from now to until_ns. */
void rounds_run(const struct rounds *rounds, uint64_t until_ns);

/* Lets `second` begin. Requires: called once in each round, by `first`. */
void rounds_hand_over(void);

#endif
