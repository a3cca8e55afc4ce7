/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads that are said to be runnable and do not run. That alone is no proof that one waits for a CPU: it may have ended, it
 * may sleep where no hook is called, it may be a CPU's idle thread under a name of its own.
 */
#ifndef WHY_TURNS_H
#define WHY_TURNS_H

#include "why/evidence.h"

struct why_turn {
	const struct why_thread *thread;
	const struct why_cpu *cpu; /* where it ran last; NULL: it has not run yet, or that is not known */
	uint64_t since;		   /* runnable at least since then */
	bool others_ran;	   /* that CPU has switched threads since */
	bool told;		   /* by the kernel's table, rather than concluded from events */
	bool proven;		   /* it was made runnable, and has neither run nor ended since */
};

/* False: the thread is not runnable, or it idles or has ended. */
bool why_turn_of(const struct why_evidence *evidence, const struct why_thread *thread, struct why_turn *turn);

/*
 * Is it clear why others have the CPU: the thread that runs there is more urgent, or has had the CPU all the time? `runs`
 * receives that thread.
 */
bool why_turn_is_explained(const struct why_evidence *evidence, const struct why_turn *turn,
			   const struct why_thread **runs);

/* Has it waited for a second or more, the time aside in which nothing came from the machine? */
bool why_turn_is_late(const struct why_evidence *evidence, const struct why_turn *turn);

/* Once the evidence is complete: takes back `runnable` of threads of which it is long and not proven. */
void why_turns_settle(struct why_evidence *evidence);

#endif
