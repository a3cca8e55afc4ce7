/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Wait queues, used as monitors: the queue's lock also guards the condition that its sleepers wait for.
 *
 *	bool irq_on = spin_lock(&queue.lock);
 *	while (!condition)
 *		wait_sleep(&queue);
 *	…
 *	spin_unlock(&queue.lock, irq_on);
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
	uint8_t kind;	 /* what is waited for: 0: an event, KTRX_WAIT_DEVICE, or KTRX_WAIT_THREAD … */
	uint32_t thread; /* … and whose end */
};

#define WAIT_QUEUE(n)               \
	{                           \
		.lock = SPINLOCK(n) \
	}

/* For what only a device can bring about. */
#define DEVICE_QUEUE(n)                                       \
	{                                                     \
		.lock = SPINLOCK(n), .kind = KTRX_WAIT_DEVICE \
	}

/* Lock held by the running thread; released while it sleeps. */
void wait_sleep(struct wait_queue *queue);

/*
 * The same, but a signal may end the sleep, or the clock (clock_ns()): who was first. A signal that is due already
 * ends it at once; so does a time that has passed.
 */
enum wake_reason wait_sleep_until(struct wait_queue *queue, uint64_t deadline_ns);

/* The same with another account of what is waited for, its deadline among that. A signal may end the sleep. */
enum wake_reason wait_sleep_as(struct wait_queue *queue, const struct sleep *sleep);

/* Lock held: wakes that one, which sleeps in the queue. False: a signal or the time was first. */
bool wait_wake_thread(struct wait_queue *queue, struct thread *thread);

/* Lock held: wakes the one that waits longest, or all. Any context. */
void wait_wake_one(struct wait_queue *queue);
void wait_wake_all(struct wait_queue *queue);

/* A latch opens when it has been counted down to 0. */
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
