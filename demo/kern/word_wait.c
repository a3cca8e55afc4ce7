/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads that wait for words in user memory are in one of a few queues, which is selected by process and
 * address. No wakeup is lost: a thread that waits enters its queue before it reads the word; a thread that
 * wakes others changes the word before it searches the queue. So the first thread sees the new value, or the
 * second one finds the first.
 */
#include <ktrace/ktrace.h>

#include "word_wait.h"

#include "mutex.h"
#include "process.h"
#include "string.h"
#include "wait.h"

#define QUEUES	  16
#define PID_SHIFT 40 /* position of the lowest bit of the pid; the address of a word is in the bits below */

_Static_assert(USER_END <= UINT64_C(1) << PID_SHIFT, "an address and a pid do not overlap");

/*
 * An entry of a queue: a waiting thread. The entry is on the thread's stack, and the queue's lock guards
 * it.
 */
struct waiter {
	const struct process *process;
	uintptr_t address;
	struct thread *thread;
	bool sleeps;
	bool woken; /* true: wake() has removed this waiter from the list and ended its sleep */
	struct waiter *next;
};

static struct word_queue {
	struct wait_queue sleepers;
	struct waiter *first, *last;
} queues[QUEUES];

static struct word_queue *queue_of(const struct process *process, uintptr_t address)
{
	struct word_queue *queue = &queues[(address / sizeof(uint32_t) + process->pid) % QUEUES];

	queue->sleepers.lock.name = "words";
	return queue;
}

static void put(struct word_queue *queue, struct waiter *waiter)
{
	if (queue->last)
		queue->last->next = waiter;
	else
		queue->first = waiter;
	queue->last = waiter;
}

static void take_out(struct word_queue *queue, const struct waiter *waiter)
{
	struct waiter *before = NULL, *at = queue->first;

	while (at != waiter) {
		before = at;
		at = at->next;
	}
	if (before)
		before->next = at->next;
	else
		queue->first = at->next;
	if (queue->last == at)
		queue->last = before;
}

/*
 * Returns a value that identifies the word in traces: pid and address, because different processes use the
 * same addresses.
 */
static const void *object_of(const struct waiter *waiter)
{
	return (const void *)(waiter->address | (uintptr_t)waiter->process->pid << PID_SHIFT);
}

/*
 * Sleeps until wake(), a signal or the deadline ends the sleep. If the word is a lock, its value contains the
 * id of the thread that holds it. Requires: queue locked.
 */
static enum wake_reason sleep(struct word_queue *queue, struct waiter *waiter, const struct word_wait *wanted)
{
	struct sleep sleep = {
		.object = object_of(waiter),
		.name = waiter->thread->waits_for_word,
		.kind = wanted->is_lock ? KTRX_WAIT_LOCK : KTRX_WAIT_EVENT,
		.deadline_ns = wanted->deadline_ns,
		.place = wanted->place,
		.how = THREAD_SLEEPING,
	};
	enum wake_reason reason;

	if (wanted->is_lock)
		mutex_contend(sleep.object, sleep.name, wanted->value & WAIT_OWNER_MASK, sleep.place);
	waiter->sleeps = true;
	reason = wait_sleep_as(&queue->sleepers, &sleep);
	waiter->sleeps = false;
	if (wanted->is_lock)
		ktrace_lock_give_up(KTRACE_BY_THREAD);
	return reason;
}

/*
 * Sleeps, unless another thread has already woken this one, or `error` is nonzero because the check of the
 * word failed. Removes the waiter from the list. Returns 0 or -errno. Requires: the waiter is in the list,
 * unless it has been woken.
 */
static int wait_in(struct word_queue *queue, struct waiter *waiter, const struct word_wait *wanted, int error)
{
	enum wake_reason reason = WOKEN_BY_EVENT;
	bool irq_on = spin_lock(&queue->sleepers.lock);

	if (!waiter->woken && !error)
		reason = sleep(queue, waiter, wanted);
	if (!waiter->woken)
		take_out(queue, waiter);
	spin_unlock(&queue->sleepers.lock, irq_on);
	if (waiter->woken)
		return 0;
	return error ? error : reason == WOKEN_BY_TIME ? -ETIMEDOUT : -EINTR;
}

int word_wait(const struct word_wait *wanted)
{
	struct thread *self = thread_self();
	struct word_queue *queue = queue_of(self->process, wanted->address);
	struct waiter waiter = { .process = self->process, .address = wanted->address, .thread = self };
	const char *name = wanted->is_lock ? "user lock" : "user word";
	bool irq_on = spin_lock(&queue->sleepers.lock);
	uint32_t value;
	int error;

	put(queue, &waiter);
	spin_unlock(&queue->sleepers.lock, irq_on);
	string_copy(self->waits_for_word, *wanted->name ? wanted->name : name, sizeof(self->waits_for_word));
	error = vm_copy_in(&self->process->vm, &value, wanted->address, sizeof(value));
	if (!error && value != wanted->value)
		error = -EAGAIN;
	return wait_in(queue, &waiter, wanted, error);
}

/*
 * Wakes a waiting thread. Its word_wait() then returns 0, even if a signal or a timeout has already ended the
 * sleep.
 */
static void wake(struct word_queue *queue, struct waiter *waiter)
{
	take_out(queue, waiter);
	waiter->woken = true;
	if (waiter->sleeps)
		wait_wake_thread(&queue->sleepers, waiter->thread);
}

unsigned word_wake(uintptr_t address, unsigned most)
{
	const struct process *self = process_self();
	struct word_queue *queue = queue_of(self, address);
	bool irq_on = spin_lock(&queue->sleepers.lock);
	struct waiter *waiter = queue->first, *next;
	unsigned woken = 0;

	for (; waiter && woken < most; waiter = next) {
		next = waiter->next;
		if (waiter->process != self || waiter->address != address)
			continue;
		wake(queue, waiter);
		woken++;
	}
	spin_unlock(&queue->sleepers.lock, irq_on);
	return woken;
}
