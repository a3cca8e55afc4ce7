/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stddef.h>

#include "arch.h"
#include "sched.h"
#include "thread.h"
#include "wait.h"

void wait_sleep(struct wait_queue *queue)
{
	struct thread *self = thread_self();

	sched_block(queue);
	self->next = NULL;
	if (queue->last)
		queue->last->next = self;
	else
		queue->first = self;
	queue->last = self;

	/* Whoever takes the lock now may wake us before we have switched away; schedule copes. */
	spin_unlock(&queue->lock, false);
	schedule();
	spin_lock(&queue->lock);
}

void wait_wake_one(struct wait_queue *queue)
{
	struct thread *thread = queue->first;

	if (!thread)
		return;
	queue->first = thread->next;
	if (!queue->first)
		queue->last = NULL;
	sched_wake(thread);
}

void wait_wake_all(struct wait_queue *queue)
{
	while (queue->first)
		wait_wake_one(queue);
}

void latch_count_down(struct latch *latch)
{
	bool irq_on = spin_lock(&latch->queue.lock);

	if (--latch->count == 0)
		wait_wake_all(&latch->queue);
	spin_unlock(&latch->queue.lock, irq_on);
}

void latch_wait(struct latch *latch)
{
	bool irq_on = spin_lock(&latch->queue.lock);

	while (latch->count > 0)
		wait_sleep(&latch->queue);
	spin_unlock(&latch->queue.lock, irq_on);
}
