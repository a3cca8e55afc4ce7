/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * How often a thread's waits for one object ended, by the thread's row: the kernel counts them where it wakes the thread, so that this
 * is known when rings have long been overwritten.
 */
#ifndef WHY_HABIT_H
#define WHY_HABIT_H

#include "why/rests.h"

struct why_habit {
	uint64_t wakes;
	uint64_t usual;	  /* ticks from one wakeup to the next, on average */
	uint64_t longest; /* the same, at most */
	uint64_t last;	  /* stamp */
	uint32_t waker;	  /* thread + 1 of the last one, 0: an interrupt */
	bool regular;	  /* four in five of them came within half and twice the usual time */
};

/* Is there one, of what the thread waits for now, and of as many wakeups as make one? */
bool why_habit_of(const struct why_evidence *evidence, const struct why_rest *rest, struct why_habit *habit);

/* Has another sleeper on that object been woken since this one began to wait? Then it is only not this one's turn. */
bool why_is_served(const struct why_evidence *evidence, const struct why_rest *rest);

#endif
