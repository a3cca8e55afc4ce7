/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Nobody waits in vain: who comes counts itself as a waiter and then tries once more; who leaves frees the lock and
 * then looks for waiters. One of the two sees the other.
 */
#include <ktrace/ktrace.h>

#include "mutex.h"
#include "thread.h"

KTRACE_EVENT(lock, contend, "%p %s held by thread %u", (const void *, lock), (const char *, name),
	     (uint32_t, holder));
KTRACE_EVENT(lock, acquire, "%p", (const void *, lock));
KTRACE_EVENT(lock, release, "%p", (const void *, lock));

static bool try_lock(struct mutex *mutex, uint32_t self)
{
	uint32_t nobody = 0;

	return __atomic_compare_exchange_n(&mutex->holder, &nobody, self, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

static void wait_and_lock(struct mutex *mutex, uint32_t self)
{
	bool irq_on;

	KTRACE(lock, contend, mutex, mutex->queue.lock.name,
	       __atomic_load_n(&mutex->holder, __ATOMIC_RELAXED));
	irq_on = spin_lock(&mutex->queue.lock);
	__atomic_add_fetch(&mutex->waiters, 1, __ATOMIC_SEQ_CST);
	while (!try_lock(mutex, self))
		wait_sleep(&mutex->queue);
	__atomic_sub_fetch(&mutex->waiters, 1, __ATOMIC_RELAXED);
	spin_unlock(&mutex->queue.lock, irq_on);
}

void mutex_lock(struct mutex *mutex)
{
	uint32_t self = thread_self()->id;

	if (!try_lock(mutex, self))
		wait_and_lock(mutex, self);
	KTRACE(lock, acquire, mutex);
}

void mutex_unlock(struct mutex *mutex)
{
	bool irq_on;

	KTRACE(lock, release, mutex);
	__atomic_store_n(&mutex->holder, 0, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&mutex->waiters, __ATOMIC_RELAXED) == 0)
		return;
	irq_on = spin_lock(&mutex->queue.lock);
	wait_wake_one(&mutex->queue);
	spin_unlock(&mutex->queue.lock, irq_on);
}
