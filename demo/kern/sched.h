/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The scheduler: a round-robin queue a CPU. A thread is queued where it ran last; a CPU with nothing to do
 * takes waiting threads from others.
 */
#ifndef DEMO_SCHED_H
#define DEMO_SCHED_H

struct thread;

/*
 * Switches to the next thread. The running one has set its state: THREAD_RUNNING to be queued again,
 * THREAD_BLOCKED if someone will call sched_wake, THREAD_DEAD. Interrupts off; on return perhaps another CPU.
 */
void schedule(void);

/*
 * Makes a blocked or new thread runnable. The caller has taken it off whatever queue it was in. Any
 * context.
 */
void sched_wake(struct thread *thread);

/* The running thread lets others go first. Interrupts on or off. */
void sched_yield(void);

/* Timer tick: the time slice is over if anybody waits. Interrupts off. */
void sched_tick(void);

/* First thing that a new thread does: completes the switch to it. Interrupts off. */
void sched_switch_done(void);

/* The life of an idle thread. Interrupts off. */
_Noreturn void sched_idle(void);

#endif
