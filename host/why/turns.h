/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * How often a thread's waits for one object ended, by the thread's row: the kernel counts them where it wakes
 * the thread, so that this is known when rings have long been overwritten.
 */
#ifndef WHY_TURNS_H
#define WHY_TURNS_H

#include "why/evidence.h"
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

/*
 * Has another sleeper on that object been woken since this one began to wait? Then it is only not this one's
 * turn.
 */
bool why_is_served(const struct why_evidence *evidence, const struct why_rest *rest);

/*
 * Threads that are said to be runnable and do not run. That alone is no proof that one waits for a CPU: it
 * may have ended, it may sleep where no hook is called, it may be a CPU's idle thread under a name of its
 * own.
 */

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
 * Is it clear why others have the CPU: the thread that runs there is more urgent, or has had the CPU all the
 * time? `runs` receives that thread.
 */
bool why_turn_is_explained(const struct why_evidence *evidence, const struct why_turn *turn,
			   const struct why_thread **runs);

/* Has it waited for a second or more, the time aside in which nothing came from the machine? */
bool why_turn_is_late(const struct why_evidence *evidence, const struct why_turn *turn);

/* Once the evidence is complete: takes back `runnable` of threads of which it is long and not proven. */
void why_turns_settle(struct why_evidence *evidence);

#endif
