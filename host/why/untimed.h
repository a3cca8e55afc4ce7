/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads that wait without a timeout, threads that no thread will wake, and threads that have been runnable
 * for long.
 */
#ifndef WHY_UNTIMED_H
#define WHY_UNTIMED_H

#include "why/evidence.h"
#include "why/finding.h"

/*
 * Threads that wait without a timeout. For each thread: the object, the beginning of the wait, the length of
 * earlier waits, and the threads that wait for its locks. Most of these waits are normal. For example, a
 * shell waits for input and a server waits for requests.
 */

struct why_untimed {
	const struct why_thread *thread;
	const struct why_queue *queue; /* wakeups of sleepers on the object; NULL: unknown */
	uint64_t object;	       /* 0: unknown */
	uint64_t since, pc;	       /* stamp and place of the beginning of the wait; 0: unknown */
	uint8_t kind;		       /* kind of wait (KTRX_WAIT_*); KTRX_WAIT_NONE: not recorded */
	bool by_table;		       /* the thread's table row shows the wait, without a deadline */
	/* for a wait for a lock: holder of the lock, an id as in struct ktrx_holder; 0: unknown */
	uint32_t owner;
	/*
	 * the table row or events of `owner` show that it still holds the lock; otherwise it held the lock
	 * when the wait began
	 */
	bool held;
	uint32_t waiters;	/* number of threads that wait for locks that this thread holds */
	uint64_t waiters_ticks; /* ticks for which the first of these waiters has waited */
	/* lock for which the first waiter waits; without a waiter: a lock that this thread holds; 0: none */
	uint64_t lock;
	/* waiter that has waited longest for a lock that this thread holds */
	const struct why_thread *first_waiter;
};

struct why_untimed_list {
	struct why_untimed *untimed; /* sorted by length of the wait, the longest first */
	/*
	 * by index of the thread in the evidence: its index in `untimed` + 1; 0: the thread is not in
	 * `untimed`
	 */
	uint32_t *of;
	uint32_t count;
};

/*
 * Finds all threads that wait without a timeout. Returns 0 or KTREAD_E_MEMORY. Free the list with
 * why_untimed_free().
 */
int why_untimed_find(struct why_untimed_list *list, const struct why_evidence *evidence);
void why_untimed_free(struct why_untimed_list *list);

/* Returns the ticks from the beginning of the wait until the last activity of the machine. */
uint64_t why_untimed_ticks(const struct why_evidence *evidence, const struct why_untimed *untimed);

/*
 * Returns whether the wakeups of a queue are periodic. There must be enough of them in a long enough time,
 * and most intervals between them must have about the same length. Sets `*usual` to the median interval, in
 * ticks.
 */
bool why_is_regular(const struct why_evidence *evidence, const struct why_queue *queue, uint64_t *usual);

/* Returns whether the trace shows that earlier waits of this kind took as long and ended. */
bool why_untimed_is_usual(const struct why_evidence *evidence, const struct why_untimed *untimed);

/* Formats "thread 8 (printer) has waited 2.31 s on spooler (0x1234), at take_job+0x30 (spooler.c:65)". */
const char *why_say_untimed(const struct why_evidence *evidence, const struct why_untimed *untimed,
			    char *buffer, size_t size);
/* Formats "12 such waits ended before, the longest after 1.20 s". */
const char *why_say_waits_before(const struct why_evidence *evidence, const struct why_untimed *untimed,
				 char *buffer, size_t size);

/*
 * The newest waits of a thread for one object, from counts in the thread's table row. The kernel counts them
 * when it wakes the thread, so they are known even if the rings have been overwritten.
 */

struct why_habit {
	uint64_t wakes;
	uint64_t usual;	  /* mean ticks between two wakeups */
	uint64_t longest; /* largest number of ticks between two wakeups */
	uint64_t last;	  /* stamp of the last wakeup */
	uint32_t waker;	  /* thread + 1 that did the last wakeup; 0: an interrupt did it */
	bool regular;	  /* at least four in five intervals are between half and twice the usual interval */
};

/* Sets *habit for the object that the thread waits for now. Returns false if there were too few wakeups. */
bool why_habit_of(const struct why_evidence *evidence, const struct why_untimed *untimed,
		  struct why_habit *habit);

/*
 * Returns whether another thread that sleeps on the object was woken after this thread began to wait. The
 * turn of this thread may come later.
 */
bool why_is_served(const struct why_evidence *evidence, const struct why_untimed *untimed);

/*
 * Threads that do not run although tables or events show that they are runnable. This does not prove that
 * such a thread waits for a CPU. It may have ended, may sleep at a place without a hook, or may be an idle
 * thread with an unusual name.
 */

struct why_turn {
	const struct why_thread *thread;
	/* CPU where the thread last ran; NULL: it has not run yet, or the CPU is unknown */
	const struct why_cpu *cpu;
	uint64_t since;	 /* stamp; the thread has been runnable since then or for longer */
	bool others_ran; /* `cpu` has switched threads after `since` */
	bool by_table;	 /* the state is from the kernel's table, not concluded from events */
	bool proven;	 /* the thread was made runnable, and has certainly not run or ended since then */
};

/* Sets *turn. Returns false if the thread is not runnable, is an idle thread or has ended. */
bool why_turn_of(const struct why_evidence *evidence, const struct why_thread *thread, struct why_turn *turn);

/*
 * Returns whether it is clear why another thread runs on the CPU: that thread has a higher priority, or has
 * run there all the time. Sets `*runs` to that thread, NULL if unknown.
 */
bool why_turn_is_explained(const struct why_evidence *evidence, const struct why_turn *turn,
			   const struct why_thread **runs);

/*
 * Returns whether the thread has been runnable for one second or more. The time in which the machine was
 * silent at the end does not count.
 */
bool why_turn_is_late(const struct why_evidence *evidence, const struct why_turn *turn);

/*
 * Sets why_thread.runnable to 0 if its value is large and not proven. Call it after the rest of the evidence
 * is complete.
 */
void why_turns_settle(struct why_evidence *evidence);

/*
 * Threads that sleep without a timeout and that no thread will wake, because all threads that ever woke them
 * are in this list, too. A thread is left out if an interrupt, another thread or an unknown waker may wake
 * it.
 */

struct why_sleeper {
	const struct why_thread *thread;
	const struct why_queue *queue; /* queue on which the thread sleeps, with the wakers of the queue */
	uint64_t since;
	uint64_t pc;	/* place where the thread went to sleep; 0: unknown */
	uint32_t group; /* number, from 0, of the group of sleepers that need each other's wakeups */
	bool by_table;	/* the thread's table row shows the wait, without a deadline */
	bool needed;	/* another sleeper of the group was woken by this thread earlier */
};

struct why_sleepers {
	struct why_sleeper *sleeper; /* sorted by `group`, then by `since` */
	uint32_t count;
};

/* Finds all these threads. Returns 0 or KTREAD_E_MEMORY. Free the list with why_sleepers_free(). */
int why_sleepers_find(struct why_sleepers *sleepers, const struct why_evidence *evidence);
void why_sleepers_free(struct why_sleepers *sleepers);

#endif
