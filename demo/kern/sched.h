/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The scheduler. Each CPU has a run queue and runs its thread of highest priority, round-robin among equal
 * priorities. A thread is queued on the CPU where it last ran; an idle CPU takes waiting threads from others.
 */
#ifndef DEMO_SCHED_H
#define DEMO_SCHED_H

#include <stdbool.h>

#include "thread.h"

/*
 * Switches to the next thread. Queues the running thread again, unless it has called sched_block or is dead.
 * May return on another CPU. Requires: interrupts off.
 */
void schedule(void);

/*
 * Lets other threads in this CPU's run queue run if they have the same or a higher priority. Requires: thread
 * context.
 */
void sched_yield(void);

/* Describes a sleep for the trace and for ktrace's state tables. */
#define WAIT_FOR_EVER UINT64_MAX
struct sleep {
	const void *object;
	const char *name;
	uint8_t kind;	       /* KTRX_WAIT_* */
	uint32_t thread;       /* for KTRX_WAIT_THREAD: id of the thread whose end is awaited */
	uint64_t deadline_ns;  /* clock_ns() time, or WAIT_FOR_EVER */
	uintptr_t place;       /* code address that the trace shows for the sleep */
	enum thread_state how; /* THREAD_SLEEPING or THREAD_BLOCKED */
};

/*
 * Marks the running thread as sleeping. Requires: interrupts off. Afterwards the caller puts the thread where
 * its waker finds it, and calls schedule().
 */
void sched_block(const struct sleep *sleep);

/*
 * Ends a thread's sleep and makes it runnable. Returns true if this call ended the sleep. If several callers
 * try, only one of them gets true. Signals end only THREAD_SLEEPING. Requires: the thread cannot be freed
 * during the call. Any context.
 */
bool sched_end_sleep(struct thread *thread, enum wake_reason reason);

/* Makes a new thread runnable. Any context. */
void sched_wake(struct thread *thread);

/* Called on each timer tick: ends the time slice if another thread is runnable. Requires: interrupts off. */
void sched_tick(void);

/* Completes a switch. A new thread calls it first. Requires: interrupts off. */
void sched_switch_done(void);

/* The main loop of an idle thread. Requires: interrupts off. */
_Noreturn void sched_idle(void);

#endif
