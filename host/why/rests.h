/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Threads that wait without a timeout, whom nobody will wake, or that could run and do not. */
#ifndef WHY_RESTS_H
#define WHY_RESTS_H

#include "why/evidence.h"
#include "why/finding.h"

/*
 * Threads that wait without a timeout: what for, since when, what the trace shows of such waits before, and
 * which threads are stuck behind them. Most of these waits are as they should be: a shell waits for input, a
 * server for requests.
 */

struct why_rest {
	const struct why_thread *thread;
	const struct why_queue *queue; /* what is known of its wakeups, NULL: nothing */
	uint64_t object;	       /* 0 unknown */
	uint64_t since, pc;	       /* stamp, where; 0 unknown */
	uint8_t kind;		       /* KTRX_WAIT_*; KTRX_WAIT_NONE: that is not told */
	bool told;		       /* by the kernel's table, which names no deadline */
	uint32_t owner; /* of a wait for a lock: who holds it, as struct ktrx_holder names it; 0 nobody … */
	bool held;	/* … by its row or its events; else it did when the wait began */
	uint32_t behind;       /* threads that wait for a lock that it holds … */
	uint64_t behind_ticks; /* … the first of them for so long … */
	uint64_t lock;	       /* … that lock; else one that it holds; 0 none */
	const struct why_thread *first;
};

struct why_rests {
	struct why_rest *rest; /* the longest first */
	uint32_t *of;	       /* by thread of the evidence: its number in `rest` + 1, 0: it does not rest */
	uint32_t count;
};

/* 0 or KTREAD_E_MEMORY. */
int why_rests_find(struct why_rests *rests, const struct why_evidence *evidence);
void why_rests_free(struct why_rests *rests);

/* Ticks from its beginning until something last came from the machine: so long nothing has ended it. */
uint64_t why_rest_ticks(const struct why_evidence *evidence, const struct why_rest *rest);

/*
 * Do the wakeups of a queue come like clockwork: often enough, for long enough, most of them in about the
 * same time after each other? `*usual` is that time, in ticks.
 */
bool why_is_regular(const struct why_evidence *evidence, const struct why_queue *queue, uint64_t *usual);

/* Does the trace show that such a wait ends, after as long a time? */
bool why_rest_is_usual(const struct why_evidence *evidence, const struct why_rest *rest);

/* "thread 8 (printer) has waited 2.31 s on spooler (0x1234), at take_job+0x30 (spooler.c:65)" */
const char *why_say_rest(const struct why_evidence *evidence, const struct why_rest *rest, char *buffer,
			 size_t size);
/* "12 such waits ended before, the longest after 1.20 s" */
const char *why_say_waits_before(const struct why_evidence *evidence, const struct why_rest *rest,
				 char *buffer, size_t size);

/*
 * How often a thread's waits for one object ended, by the thread's row: the kernel counts them where it wakes
 * the thread, so that this is known when rings have long been overwritten.
 */

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

/*
 * Threads that sleep until somebody wakes them, and whom nobody will: everybody who was ever seen to wake
 * them sleeps in the same way. What might be woken by an interrupt, by a thread that lives, or by nobody
 * knows whom, is left out.
 */

struct why_sleeper {
	const struct why_thread *thread;
	const struct why_queue *queue; /* what it sleeps on, and who woke whom there */
	uint64_t since;
	uint64_t pc;	/* where it went to sleep, 0 unknown */
	uint32_t group; /* those that need each other, from 0 */
	bool told;	/* the kernel's table says that it waits, and has no deadline */
	bool needed;	/* another sleeper of the group waits for it */
};

struct why_sleepers {
	struct why_sleeper *sleeper; /* those without hope alone, by `group`, then by `since` */
	uint32_t count;
};

/* 0 or KTREAD_E_MEMORY. */
int why_sleepers_find(struct why_sleepers *sleepers, const struct why_evidence *evidence);
void why_sleepers_free(struct why_sleepers *sleepers);

#endif
