/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stddef.h>

#include <ktrace/ktrace.h>

#include "arch.h"
#include "clock.h"
#include "sched.h"
#include "signal.h"
#include "thread.h"
#include "timer.h"
#include "wait.h"

static void queue_put(struct wait_queue *queue, struct thread *thread)
{
	thread->next_waiter = NULL;
	if (queue->last)
		queue->last->next_waiter = thread;
	else
		queue->first = thread;
	queue->last = thread;
}

/* Removes a thread from the queue. Does nothing if the thread is not in the queue any more. */
static void queue_remove(struct wait_queue *queue, struct thread *thread)
{
	struct thread *before = NULL;

	for (struct thread *t = queue->first; t; before = t, t = t->next_waiter) {
		if (t != thread)
			continue;
		if (before)
			before->next_waiter = t->next_waiter;
		else
			queue->first = t->next_waiter;
		if (queue->last == t)
			queue->last = before;
		return;
	}
}

static struct thread *queue_take(struct wait_queue *queue)
{
	struct thread *thread = queue->first;

	if (thread)
		queue_remove(queue, thread);
	return thread;
}

static struct sleep sleep_for(const struct wait_queue *queue, enum thread_state how, uint64_t deadline_ns,
			      uintptr_t place)
{
	return (struct sleep){
		.object = queue,
		.name = queue->lock.name,
		.kind = queue->kind ? queue->kind : KTRX_WAIT_EVENT,
		.thread = queue->thread,
		.deadline_ns = deadline_ns,
		.place = place,
		.how = how,
	};
}

void wait_sleep(struct wait_queue *queue)
{
	uintptr_t place = KTRACE_RETURN_ADDRESS;
	const struct sleep sleep = sleep_for(queue, THREAD_BLOCKED, WAIT_FOR_EVER, place);

	queue_put(queue, thread_self());
	sched_block(&sleep);

	/*
	 * From here on, another CPU may take the lock and wake this thread, even before this CPU has
	 * switched to another thread. schedule() handles this case.
	 */
	spin_unlock(&queue->lock, false);
	schedule();
	spin_lock_at(&queue->lock, place);
}

static bool signal_is_due(const struct thread *self)
{
	return self->process && signal_pending(self);
}

enum wake_reason wait_sleep_as(struct wait_queue *queue, const struct sleep *sleep)
{
	uint64_t deadline_ns = sleep->deadline_ns;
	struct thread *self = thread_self();
	struct timer timer;

	if (signal_is_due(self))
		return WOKEN_BY_SIGNAL;
	if (clock_ns() >= deadline_ns)
		return WOKEN_BY_TIME;
	queue_put(queue, self);
	sched_block(sleep);
	if (deadline_ns != WAIT_FOR_EVER)
		timer_start(&timer, deadline_ns);
	/*
	 * If a signal was sent after the first check, but before sched_block(), it has not ended this sleep.
	 */
	if (signal_is_due(self))
		sched_end_sleep(self, WOKEN_BY_SIGNAL);
	spin_unlock(&queue->lock, false);
	schedule();
	if (deadline_ns != WAIT_FOR_EVER)
		timer_cancel(&timer);
	spin_lock_at(&queue->lock, sleep->place);
	if (self->woken_by != WOKEN_BY_EVENT)
		queue_remove(queue, self);
	return self->woken_by;
}

enum wake_reason wait_sleep_until(struct wait_queue *queue, uint64_t deadline_ns)
{
	const struct sleep sleep = sleep_for(queue, THREAD_SLEEPING, deadline_ns, KTRACE_RETURN_ADDRESS);

	return wait_sleep_as(queue, &sleep);
}

bool wait_wake_thread(struct wait_queue *queue, struct thread *thread)
{
	queue_remove(queue, thread);
	return sched_end_sleep(thread, WOKEN_BY_EVENT);
}

/* Wakes the first thread that still sleeps in the queue. Returns false if there is none. */
static bool wake_first(struct wait_queue *queue)
{
	struct thread *thread;

	/* A thread that a signal or its timeout has woken may still be in the queue: skip it. */
	do
		thread = queue_take(queue);
	while (thread && !sched_end_sleep(thread, WOKEN_BY_EVENT));
	return thread;
}

void wait_wake_one(struct wait_queue *queue)
{
	if (!wake_first(queue))
		ktrace_wake_nobody(queue);
}

void wait_wake_all(struct wait_queue *queue)
{
	bool anybody = false;

	while (wake_first(queue))
		anybody = true;
	if (!anybody)
		ktrace_wake_nobody(queue);
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
