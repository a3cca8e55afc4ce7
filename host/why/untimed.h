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
 * Threads that wait without a timeout. The list states for each thread the object, the beginning of the wait,
 * the length of earlier waits, and the threads that wait for its locks. Most of these waits are normal: for
 * example, a shell waits for input, and a server waits for requests.
 */

struct why_untimed {
	const struct why_thread *thread;
	/* queue of the object, which counts wakeups of its sleepers; NULL: unknown */
	const struct why_queue *queue;
	uint64_t object; /* object that the thread waits for; 0: unknown */
	/* `since`: timestamp at which the wait began; `pc`: place in the code where it began; 0: unknown */
	uint64_t since, pc;
	uint8_t kind;  /* kind of wait (KTRX_WAIT_*); KTRX_WAIT_NONE: not recorded */
	bool by_table; /* the kernel's table shows the wait, and shows no deadline or a late deadline */
	/* timestamp at which the wait ends by itself; 0: never, or unknown (see why_untimed_find_late()) */
	uint64_t deadline;
	/* for a wait for a lock: id of the lock's holder, as in struct ktrx_holder; 0: unknown */
	uint32_t owner;
	/*
	 * true if `owner` still holds the lock, as the kernel's table or events show; false if it is known
	 * only that `owner` held the lock when the wait began
	 */
	bool held;
	uint32_t waiters;	/* number of threads that wait for locks that this thread holds */
	uint64_t waiters_ticks; /* number of ticks for which `first_waiter` has waited */
	/*
	 * lock that `first_waiter` waits for; if there is no waiter, a lock that this thread holds; 0: none
	 */
	uint64_t lock;
	/* true if `first_waiter` does not wait: it tries to take the lock and gives up after each attempt */
	bool tries;
	/* the thread that has waited longest for a lock that this thread holds; NULL: none */
	const struct why_thread *first_waiter;
};

struct why_untimed_list {
	struct why_untimed *untimed; /* the waits, sorted by their length, the longest first */
	/*
	 * for each thread of the evidence, its index in `untimed`, plus 1; 0: the thread is not in `untimed`
	 */
	uint32_t *of;
	uint32_t count;
};

enum why_free {
	WHY_FREE_UNKNOWN,  /* the lock may be held */
	WHY_FREE_RELEASED, /* the holder that the kernel named when the wait began has released the lock */
	WHY_FREE_UNHELD,   /* the kernel named no holder, and no row of the table contains the lock */
};

/* Returns whether the lock is free for which the thread has slept for `ticks` (see free_lock.c). */
enum why_free why_lock_is_free(const struct why_evidence *evidence, const struct why_untimed *untimed,
			       uint64_t ticks);

/*
 * Finds all threads that wait without a timeout. Returns 0 or KTREAD_E_MEMORY. Free the list with
 * why_untimed_free().
 */
int why_untimed_find(struct why_untimed_list *list, const struct why_evidence *evidence);
#define WHY_TIMEOUT_MS 10000u
/*
 * Returns whether the thread waits for an event or a device with a timeout of WHY_TIMEOUT_MS or more. Such a
 * wait is treated like one without a timeout: the kernel expects the event long before the timeout ends.
 */
bool why_ends_late(const struct why_evidence *evidence, const struct ktrx_holder *row);
/* Finds the same threads as why_untimed_find(), and also the threads for which why_ends_late() is true. */
int why_untimed_find_late(struct why_untimed_list *list, const struct why_evidence *evidence);
void why_untimed_free(struct why_untimed_list *list);

/*
 * Returns whether a thread sleeps long after the deadline of its sleep. The clock of the sleeps may be slow,
 * or a wakeup was lost.
 */
bool why_any_sleep_is_late(const struct why_evidence *evidence);
/*
 * Returns how many threads sleep long after their deadline although the ticks of this CPU, which should end
 * these sleeps, still come. Sets *longest to the thread whose deadline passed first, or to NULL.
 */
uint32_t why_late_sleeps(const struct why_evidence *evidence, const struct why_cpu *cpu,
			 const struct why_thread **longest);

/* The late sleeps of threads that last ran on one CPU. */
struct why_late {
	uint32_t count;
	const struct why_thread *longest; /* the thread whose deadline passed first; NULL: none */
	uint64_t since;			  /* its deadline */
};

/* Fills in an element of late[] for each CPU. Returns the number of all late sleeps. */
uint32_t why_late_on_cpus(const struct why_evidence *evidence, struct why_late *late);

/* Returns the number of ticks from the beginning of the wait to the last activity of the machine. */
uint64_t why_untimed_ticks(const struct why_evidence *evidence, const struct why_untimed *untimed);

/*
 * Returns whether the thread that has waited longest for a lock of this thread spins: it has waited for a
 * second or more, used most of that time on its CPU, and each interrupt found it at the same few
 * instructions. If the result is true, the lock is a spinlock, and its holder must not sleep.
 */
bool why_waiter_spins(const struct why_evidence *evidence, const struct why_untimed *untimed);

/*
 * Returns whether the wakeups of a queue are periodic: there are enough wakeups, over a long enough time, and
 * most intervals between them have about the same length. If so, sets `*usual` to the median interval in
 * ticks.
 */
bool why_is_regular(const struct why_evidence *evidence, const struct why_queue *queue, uint64_t *usual);

/* Formats "thread 8 (printer) has waited 2.31 s on spooler (0x1234), at take_job+0x30 (spooler.c:65)". */
const char *why_say_untimed(const struct why_evidence *evidence, const struct why_untimed *untimed,
			    char *buffer, size_t size);
/*
 * Returns whether the newest wakeup of the wait's queue came before the wait, and found no thread asleep. The
 * thread may have missed this wakeup.
 */
bool why_came_early(const struct why_untimed *untimed);
/* Adds a line about such a wakeup, if there was one. */
void why_finding_early(struct why_finding *finding, const struct why_evidence *evidence,
		       const struct why_untimed *untimed);
/* Formats "12 such waits ended before, the longest after 1.20 s". */
const char *why_say_waits_before(const struct why_evidence *evidence, const struct why_untimed *untimed,
				 char *buffer, size_t size);

/* Adds a line for each thread that has woken sleepers of the queue. */
void why_finding_wakers(struct why_finding *finding, const struct why_evidence *evidence,
			const struct why_queue *queue);

/*
 * Adds a line about the interrupts that have woken sleepers of the queue, if there were any. `comes`: whether
 * the last of these interrupts still comes.
 */
void why_finding_irq_waker(struct why_finding *finding, const struct why_evidence *evidence,
			   const struct why_queue *queue, bool comes);

/* Returns how many waits may last forever. */
uint32_t why_untimed_count_open(const struct why_evidence *evidence, const struct why_untimed_list *list);
/* Lists the threads whose waits may last forever, and after them, if `all`, the other threads of the list. */
void why_finding_untimed(struct why_finding *finding, const struct why_evidence *evidence,
			 const struct why_untimed_list *list, bool all);

/*
 * The newest waits of a thread for one object, from counts in the thread's row of the kernel's table. The
 * kernel updates these counts when it wakes the thread, so they do not depend on events that may be
 * overwritten.
 */

struct why_habit {
	uint64_t wakes;
	uint64_t usual;	  /* mean number of ticks between two wakeups */
	uint64_t longest; /* largest number of ticks between two wakeups */
	uint64_t last;	  /* timestamp of the last wakeup */
	uint32_t waker;	  /* id, plus 1, of the thread that did the last wakeup; 0: an interrupt did it */
	/* true if at least 4 of 5 intervals between wakeups are between half and twice the usual interval */
	bool regular;
	/* true if the wakeups came within less than a second; `regular` then requires 9 of 10 intervals */
	bool brief;
};

/*
 * Sets *habit for the object for which the thread waits now. Returns false if there were too few wakeups, or
 * if they came within a very short time.
 */
bool why_habit_of(const struct why_evidence *evidence, const struct why_untimed *untimed,
		  struct why_habit *habit);

/* Formats "60 such waits in a row ended, at most 0.2 s apart; thread 6 ended the last one 1.5 s ago". */
const char *why_say_habit(const struct why_evidence *evidence, const struct why_habit *habit, char *buffer,
			  size_t size);

/*
 * Returns whether another thread that sleeps on the object was woken after this thread began to wait. If so,
 * this thread may be woken later, because the object's sleepers are woken one after the other.
 */
bool why_is_served(const struct why_evidence *evidence, const struct why_untimed *untimed);

/*
 * Returns whether the thread's row in the kernel's table counts wakeups that are newer than the newest wakeup
 * of its queue in the events. Then the events do not show which wakeup was the last one.
 */
bool why_newest_wakes_are_lost(const struct why_evidence *evidence, const struct why_untimed *untimed);

/*
 * Threads that do not run although tables or events show that they are runnable. Such a thread may not be
 * waiting for a CPU: it may have ended, may sleep at a place without a hook, or may be an idle thread with an
 * unusual name.
 */

struct why_turn {
	const struct why_thread *thread;
	/* CPU where the thread last ran; NULL: it has not run yet, or the CPU is unknown */
	const struct why_cpu *cpu;
	/* the thread has been runnable since this timestamp, and perhaps for longer */
	uint64_t since;
	bool others_ran; /* true if `cpu` has switched threads after `since` */
	bool by_table;	 /* true if the state is from the kernel's table, not concluded from events */
	bool proven;	 /* the thread was made runnable, and has certainly not run or ended since then */
	/*
	 * true if only missing reports show that the thread is runnable: it may have ended, or may sleep,
	 * without a report
	 */
	bool weak;
};

/*
 * Sets *turn to the thread's state. Returns false if the thread is not runnable, is an idle thread, or has
 * ended.
 */
bool why_turn_of(const struct why_evidence *evidence, const struct why_thread *thread, struct why_turn *turn);

/*
 * Returns whether there is a reason why another thread runs on the CPU instead: the other thread has a higher
 * priority, or has run on the CPU all the time. Sets `*runs` to the other thread, or to NULL if it is
 * unknown.
 */
bool why_turn_is_explained(const struct why_evidence *evidence, const struct why_turn *turn,
			   const struct why_thread **runs);

/*
 * Returns whether the thread has been runnable for one second or more. Does not count the silence of the
 * machine at the end of the trace.
 */
bool why_turn_is_late(const struct why_evidence *evidence, const struct why_turn *turn);

/*
 * Sets why_thread.runnable of each thread to 0 if its value is large but not proven. Must be called after the
 * rest of the evidence is complete.
 */
void why_turns_settle(struct why_evidence *evidence);

/*
 * Threads that sleep without a timeout and that no thread will wake, because all threads that ever woke them
 * are in this list, too. A thread is not in the list if an interrupt, a thread outside of the list or an
 * unknown waker may wake it.
 */

struct why_sleeper {
	const struct why_thread *thread;
	/* queue on which the thread sleeps; it also lists the threads that woke sleepers of the queue */
	const struct why_queue *queue;
	uint64_t since;
	uint64_t pc; /* place where the thread went to sleep; 0: unknown */
	/* number of the thread's group, from 0; the sleepers of a group depend on wakeups by each other */
	uint32_t group;
	bool by_table; /* true if the kernel's table shows the wait, without a deadline */
	bool needed;   /* true if this thread has woken another sleeper of the group before */
};

struct why_sleepers {
	struct why_sleeper *sleeper; /* the sleepers, sorted by `group`, then by `since` */
	uint32_t count;
};

/*
 * Finds all threads that sleep without a timeout and that no thread will wake. Returns 0 or KTREAD_E_MEMORY.
 * Free the list with why_sleepers_free().
 */
int why_sleepers_find(struct why_sleepers *sleepers, const struct why_evidence *evidence);
void why_sleepers_free(struct why_sleepers *sleepers);
/* Returns whether detect_wakeup.c reports the thread as one of these sleepers. */
bool why_sleepers_have(const struct why_sleepers *sleepers, const struct why_thread *thread);

#endif
