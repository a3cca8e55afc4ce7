/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads that wait without a timeout, threads that no thread will wake, and threads that are runnable for
 * long.
 */
#ifndef WHY_UNTIMED_H
#define WHY_UNTIMED_H

#include "why/evidence.h"
#include "why/finding.h"

/*
 * Threads that wait without a timeout: for which object, since when, how long such waits took before, and
 * which threads wait for their locks. Most of these waits are normal: a shell waits for input, a server for
 * requests.
 */

struct why_untimed {
	const struct why_thread *thread;
	const struct why_queue *queue; /* the wakeups on its object, NULL unknown */
	uint64_t object;	       /* 0 unknown */
	uint64_t since, pc;	       /* stamp and place of the beginning, 0 unknown */
	uint8_t kind;		       /* KTRX_WAIT_*; KTRX_WAIT_NONE: not recorded */
	bool by_table;		       /* the kernel's table shows the wait, and no deadline */
	/* wait for a lock: id of the holder as in struct ktrx_holder; 0: no holder is known */
	uint32_t owner;
	/* `owner` holds the lock by its row or its events; otherwise it did when the wait began */
	bool held;
	uint32_t waiters;	/* number of threads that wait for locks that this thread holds */
	uint64_t waiters_ticks; /* how long the first of them has waited */
	/* the lock that the first of them waits for; if none, some held lock; 0: none */
	uint64_t lock;
	const struct why_thread *first_waiter; /* the thread that has waited longest for such a lock */
};

struct why_untimed_list {
	struct why_untimed *untimed; /* the longest first */
	/* by thread of the evidence: its index in `untimed` + 1, 0: it is not there */
	uint32_t *of;
	uint32_t count;
};

/*
 * Finds all threads that wait without a timeout. Returns 0 or KTREAD_E_MEMORY. Free with why_untimed_free().
 */
int why_untimed_find(struct why_untimed_list *list, const struct why_evidence *evidence);
void why_untimed_free(struct why_untimed_list *list);

/* Returns the ticks from the beginning of the wait until the last sign of life of the machine. */
uint64_t why_untimed_ticks(const struct why_evidence *evidence, const struct why_untimed *untimed);

/*
 * Returns whether the wakeups of a queue are periodic: there are enough of them, over a long enough time,
 * and most intervals are about the same. Sets `*usual` to the median interval, in ticks.
 */
bool why_is_regular(const struct why_evidence *evidence, const struct why_queue *queue, uint64_t *usual);

/* Returns whether the trace shows that such waits ended after as long a time before. */
bool why_untimed_is_usual(const struct why_evidence *evidence, const struct why_untimed *untimed);

/* Formats "thread 8 (printer) has waited 2.31 s on spooler (0x1234), at take_job+0x30 (spooler.c:65)". */
const char *why_say_untimed(const struct why_evidence *evidence, const struct why_untimed *untimed,
			    char *buffer, size_t size);
/* Formats "12 such waits ended before, the longest after 1.20 s". */
const char *why_say_waits_before(const struct why_evidence *evidence, const struct why_untimed *untimed,
				 char *buffer, size_t size);

/*
 * The newest waits of a thread for one object, from the thread's row. The kernel counts them when it wakes
 * the thread, so they are known even after the rings were overwritten.
 */

struct why_habit {
	uint64_t wakes;
	uint64_t usual;	  /* mean ticks between two wakeups */
	uint64_t longest; /* largest number of ticks between two wakeups */
	uint64_t last;	  /* stamp of the last wakeup */
	uint32_t waker;	  /* thread + 1 that did the last wakeup, 0: an interrupt */
	bool regular;	  /* four in five wakeups came within half and twice the usual time */
};

/*
 * Fills in the habit for the object that the thread waits for now. Returns false if there were too few
 * wakeups.
 */
bool why_habit_of(const struct why_evidence *evidence, const struct why_untimed *untimed,
		  struct why_habit *habit);

/*
 * Returns whether another sleeper on the object was woken since this thread began to wait: its turn may come
 * later.
 */
bool why_is_served(const struct why_evidence *evidence, const struct why_untimed *untimed);

/*
 * Threads that are runnable by the tables or events and do not run. That alone does not prove that one waits
 * for a CPU: it may have ended, it may sleep where no hook is called, or it may be an idle thread with an
 * unusual name.
 */

struct why_turn {
	const struct why_thread *thread;
	/* where it last ran; NULL: it has not run yet, or that is unknown */
	const struct why_cpu *cpu;
	uint64_t since;	 /* it has been runnable at least since then */
	bool others_ran; /* that CPU has switched threads since */
	bool by_table;	 /* from the kernel's table, not concluded from events */
	bool proven;	 /* it was made runnable, and has neither run nor ended since */
};

/* Fills in `turn`. Returns false if the thread is not runnable, is an idle thread or has ended. */
bool why_turn_of(const struct why_evidence *evidence, const struct why_thread *thread, struct why_turn *turn);

/*
 * Returns whether it is clear why another thread has the CPU: the running thread has a higher priority, or
 * has run there all the time. Sets `*runs` to the running thread, NULL if unknown.
 */
bool why_turn_is_explained(const struct why_evidence *evidence, const struct why_turn *turn,
			   const struct why_thread **runs);

/*
 * Returns whether it has been runnable for a second or more, not counting the final silence of the machine.
 */
bool why_turn_is_late(const struct why_evidence *evidence, const struct why_turn *turn);

/*
 * Clears `runnable` of threads if it is long and not proven. Call it once the rest of the evidence is
 * complete.
 */
void why_turns_settle(struct why_evidence *evidence);

/*
 * Threads that sleep without a timeout and that no thread will wake: all threads that were ever seen to wake
 * them sleep in the same way. Threads that an interrupt, another thread or an unknown waker may wake are
 * left out.
 */

struct why_sleeper {
	const struct why_thread *thread;
	const struct why_queue *queue; /* the queue that it sleeps on, with its wakers */
	uint64_t since;
	uint64_t pc;	/* where it went to sleep, 0 unknown */
	uint32_t group; /* number of the group of sleepers that depend on each other, from 0 */
	bool by_table;	/* the kernel's table shows that it waits, and no deadline */
	bool needed;	/* another sleeper of the group depends on its wakeup */
};

struct why_sleepers {
	struct why_sleeper *sleeper; /* sorted by `group`, then by `since` */
	uint32_t count;
};

/* Finds all such threads. Returns 0 or KTREAD_E_MEMORY. Free with why_sleepers_free(). */
int why_sleepers_find(struct why_sleepers *sleepers, const struct why_evidence *evidence);
void why_sleepers_free(struct why_sleepers *sleepers);

#endif
