/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Wait queues, used like monitors: the lock of a queue also guards the condition for which the threads in the
 * queue wait.
 *
 * 	bool irq_on = spin_lock(&queue.lock);
 * 	while (!condition)
 * 		wait_sleep(&queue);
 * 	…
 * 	spin_unlock(&queue.lock, irq_on);
 */
#ifndef DEMO_WAIT_H
#define DEMO_WAIT_H

#include <ktrx/v2.h>

#include "sched.h"
#include "spinlock.h"
#include "thread.h"

struct wait_queue {
	struct spinlock lock;
	struct thread *first, *last;
	/* Kind of wait: 0 (an event), KTRX_WAIT_DEVICE, or KTRX_WAIT_THREAD. */
	uint8_t kind;
	uint32_t thread; /* for KTRX_WAIT_THREAD: id of the thread whose end is awaited */
};

#define WAIT_QUEUE(n)               \
	{                           \
		.lock = SPINLOCK(n) \
	}

/* Initializer of a queue in which threads wait for a device. */
#define DEVICE_QUEUE(n)                                       \
	{                                                     \
		.lock = SPINLOCK(n), .kind = KTRX_WAIT_DEVICE \
	}

/* Sleeps in the queue. The lock is released during the sleep. Requires: lock held by the running thread. */
void wait_sleep(struct wait_queue *queue);

/*
 * Like wait_sleep, but the sleep also ends if a signal is sent to the thread, or at the deadline (a time as
 * clock_ns()). Returns the reason. If a signal is already pending or the deadline has passed, does not sleep.
 */
enum wake_reason wait_sleep_until(struct wait_queue *queue, uint64_t deadline_ns);

/* Like wait_sleep_until, but `sleep` contains the deadline, and what the trace shows for the sleep. */
enum wake_reason wait_sleep_as(struct wait_queue *queue, const struct sleep *sleep);

/*
 * Wakes a certain thread that sleeps in the queue. Returns false if a signal or the thread's deadline has
 * already ended its sleep. Requires: lock held.
 */
bool wait_wake_thread(struct wait_queue *queue, struct thread *thread);

/* Wake the thread that has waited longest, or all threads. Any context. Requires: lock held. */
void wait_wake_one(struct wait_queue *queue);
void wait_wake_all(struct wait_queue *queue);

/* A latch: threads wait until other threads have decremented its count to 0. */
struct latch {
	struct wait_queue queue;
	unsigned count;
};

#define LATCH(n, initial)                                  \
	{                                                  \
		.queue = WAIT_QUEUE(n), .count = (initial) \
	}

void latch_count_down(struct latch *latch);
void latch_wait(struct latch *latch);

#endif
