/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The scheduler: a queue a CPU, of which the most urgent thread runs, in turns with those that are as urgent. A thread
 * is queued where it ran last; a CPU with nothing to do takes waiting threads from others.
 */
#ifndef DEMO_SCHED_H
#define DEMO_SCHED_H

#include <stdbool.h>

#include "thread.h"

/*
 * Switches to the next thread. The running one is queued again unless it has called sched_block or is dead.
 * Interrupts off; on return perhaps another CPU.
 */
void schedule(void);

/* Those that are as urgent and wait for this CPU go first. Thread context. */
void sched_yield(void);

/* A sleep: what for, as the trace and the tracer's tables show it. */
#define WAIT_FOR_EVER UINT64_MAX
struct sleep {
	const void *object;
	const char *name;
	uint8_t kind;	       /* KTRX_WAIT_* */
	uint32_t thread;       /* of KTRX_WAIT_THREAD: whose end */
	uint64_t deadline_ns;  /* clock_ns(), WAIT_FOR_EVER */
	uintptr_t place;       /* the code that wants it */
	enum thread_state how; /* THREAD_SLEEPING or THREAD_BLOCKED */
};

/*
 * The running thread is about to wait. Interrupts off; schedule follows once whoever is to wake the thread can find
 * it.
 */
void sched_block(const struct sleep *sleep);

/*
 * Ends a sleep: of all that try, for one only it is true. Signals end THREAD_SLEEPING alone. The thread must not
 * be able to go away meanwhile. Any context.
 */
bool sched_end_sleep(struct thread *thread, enum wake_reason reason);

/* Makes a new thread runnable. Any context. */
void sched_wake(struct thread *thread);

/* Timer tick: the time slice is over if anybody waits. Interrupts off. */
void sched_tick(void);

/* First thing that a new thread does: completes the switch to it. Interrupts off. */
void sched_switch_done(void);

/* The life of an idle thread. Interrupts off. */
_Noreturn void sched_idle(void);

#endif
