/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The scheduler. Each CPU has a run queue and runs the queue's thread with the highest priority; threads of
 * equal priority take turns. A thread is queued on the CPU on which it last ran. An idle CPU takes queued
 * threads from other CPUs.
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

/* Description of a sleep, for the trace and for ktrace's state tables. */
#define WAIT_FOR_EVER UINT64_MAX
struct sleep {
	const void *object;
	const char *name;
	uint8_t kind;	       /* kind of wait, KTRX_WAIT_* */
	uint32_t thread;       /* for KTRX_WAIT_THREAD: id of the thread whose end is awaited */
	uint64_t deadline_ns;  /* time, as clock_ns(), at which the sleep ends; or WAIT_FOR_EVER */
	uintptr_t place;       /* code address that the trace shows as the place of the sleep */
	enum thread_state how; /* THREAD_SLEEPING or THREAD_BLOCKED */
};

/*
 * Marks the running thread as sleeping. Requires: interrupts off. The caller then puts the thread into a
 * queue in which the waking thread will find it, and calls schedule().
 */
void sched_block(const struct sleep *sleep);

/*
 * Ends a thread's sleep and makes it runnable. Returns true if this call ended the sleep. If several callers
 * try, only one of them gets true. A signal ends only the sleep of a thread that is THREAD_SLEEPING, not
 * THREAD_BLOCKED. Requires: the thread cannot be freed during the call. Any context.
 */
bool sched_end_sleep(struct thread *thread, enum wake_reason reason);

/* Makes a new thread runnable. Any context. */
void sched_wake(struct thread *thread);

/*
 * Called in each timer tick. If another thread is runnable, the running thread's time slice ends. Requires:
 * interrupts off.
 */
void sched_tick(void);

/*
 * Completes a switch on behalf of the previous thread. A new thread calls this function first. Requires:
 * interrupts off.
 */
void sched_switch_done(void);

/* The main loop of an idle thread. Requires: interrupts off. */
_Noreturn void sched_idle(void);

#endif
