/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Locks that are built from a queue of sleepers and a lock that protects the queue, such as a mutex that is
 * made of a semaphore. A thread that waits for such an outer lock takes the queue's lock, announces a sleep
 * on the queue, and releases the queue's lock when it goes to sleep. When a thread takes the queue's lock,
 * its row in the kernel's table no longer shows the wait for the outer lock. At the end, the table shows only
 * a sleep on the queue. Events of the thread show the outer lock.
 */
#include "analyze/keyed.h"
#include "ktrx/slot.h"
#include "why/evidence_state.h"
#include "why/pulse.h"

/*
 * time in ms: if a timestamp in the table and one in an event are closer than this, they are about the same
 * sleep
 */
#define SAME_MS 1u

static bool is_own(const struct why_thread *thread, const struct ktread_event *event)
{
	return event->context == KTRX_CONTEXT_THREAD && event->thread == thread->id;
}

/*
 * Returns the id of the thread that holds the lock, as in struct ktrx_holder. Returns 0 if a CPU holds it, or
 * if the holder is unknown.
 */
static uint32_t owner_of(const struct ktread_event *event)
{
	struct ktread_value kind, owner;

	if (ktread_value_named(event, "kind", &kind) != 0 || kind.length == 0 || kind.string[0] != 't' ||
	    ktread_value_named(event, "holder", &owner) != 0 || owner.number >= KTRX_HOLDER_CPU - 1)
		return 0;
	return (uint32_t)owner.number + 1;
}

void why_outer_contend(struct why_thread *thread, const struct ktread_event *event, uint64_t lock)
{
	struct why_outer *outer = &thread->outer;

	if (!is_own(thread, event))
		return;
	if (outer->wait[0].lock != lock)
		outer->wait[1] = outer->wait[0];
	outer->wait[0] =
		(struct why_outer_wait){ .lock = lock, .since = event->stamp, .owner = owner_of(event) };
}

void why_outer_acquire(struct why_thread *thread, const struct ktread_event *event, uint64_t lock)
{
	struct why_outer *outer = &thread->outer;

	if (!is_own(thread, event))
		return;
	/* if the newer wait was for the queue's lock, the older wait, for the outer lock, continues */
	if (outer->wait[0].lock == lock)
		outer->wait[0] = outer->wait[1];
	else if (outer->wait[1].lock == lock)
		outer->wait[0] = (struct why_outer_wait){ 0 };
	else
		return;
	outer->wait[1] = (struct why_outer_wait){ 0 };
}

void why_outer_block(struct why_thread *thread, const struct ktread_event *event, uint64_t newest,
		     uint64_t taken)
{
	struct why_outer *outer = &thread->outer;

	outer->queue_lock = 0;
	outer->released = false;
	if (is_own(thread, event) && outer->wait[0].lock && newest && newest != outer->wait[0].lock &&
	    taken >= outer->wait[0].since && thread->last_action <= outer->wait[0].since)
		outer->queue_lock = newest;
}

void why_outer_release(struct why_thread *thread, const struct ktread_event *event, uint64_t lock)
{
	if (is_own(thread, event) && thread->blocked && lock == thread->outer.queue_lock)
		thread->outer.released = true;
}

void why_outer_forget(struct why_thread *thread)
{
	thread->outer = (struct why_outer){ 0 };
}

/*
 * Returns whether the row shows the sleep that the event at `blocked` announced. If so, the thread has done
 * nothing after that event, even if later events are lost.
 */
static bool is_same_sleep(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;

	return thread->has_holder && row->state == KTRX_THREAD_WAITING && row->wait == KTRX_WAIT_EVENT &&
	       row->deadline == 0 && thread->blocked && row->object == thread->blocked_on &&
	       elapsed(row->wait_stamp, thread->blocked) + elapsed(thread->blocked, row->wait_stamp) <=
		       why_ms(evidence, SAME_MS);
}

void why_outer_settle(const struct why_evidence *evidence, struct why_thread *thread)
{
	const struct why_outer_wait *wait = &thread->outer.wait[0];

	thread->waits_for_outer = wait->lock && thread->outer.queue_lock && thread->outer.released &&
				  is_same_sleep(evidence, thread);
	if (!thread->waits_for_outer)
		return;
	thread->holder.wait = KTRX_WAIT_LOCK;
	thread->holder.object = wait->lock;
	thread->holder.owner = wait->owner;
	thread->holder.wait_stamp = wait->since;
}
