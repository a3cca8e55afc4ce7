/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Spinlocks and mutexes. Both kinds are in one file, because the trace treats them the same and identifies
 * them by their addresses.
 *
 * Locks are not fair: any CPU or thread may take a free lock. A queue of waiters would be bad on a virtual
 * machine: if the host is not running the first waiting CPU at the moment, all other waiters would have to
 * wait for that CPU.
 */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "cpu.h"
#include "mutex.h"
#include "spinlock.h"
#include "thread.h"

KTRACE_EVENT(lock, fail, "%p %s held by %s %u, tried at %p", (const void *, lock), (const char *, name),
	     (const char *, kind), (uint32_t, holder), (const void *, place));

/* Tries to take a lock, which is one word: the number of its holder, or 0 if the lock is free. */
static bool try_lock(uint32_t *lock, uint32_t holder)
{
	uint32_t no_holder = 0;

	return __atomic_compare_exchange_n(lock, &no_holder, holder, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* ---- Spinlocks --------------------------------------------------------------------------------- */

static void spin_until_locked(struct spinlock *lock, uint32_t holder, uintptr_t place)
{
	/* If the holder has just released the lock, the result is 0 - 1, which equals KTRACE_NOBODY. */
	uint32_t owner = __atomic_load_n(&lock->holder, __ATOMIC_RELAXED) - 1;

	ktrace_contend_at(lock, lock->name, KTRACE_BY_CPU, owner, place);
	do {
		while (__atomic_load_n(&lock->holder, __ATOMIC_RELAXED) != 0)
			arch_relax();
	} while (!try_lock(&lock->holder, holder));
}

bool spin_lock_at(struct spinlock *lock, uintptr_t place)
{
	bool irq_on = arch_irq_save_at(place);
	struct cpu *self = arch_this_cpu();

	thread_check_stack(self->current, place);
	if (!try_lock(&lock->holder, self->id + 1))
		spin_until_locked(lock, self->id + 1, place);
	ktrace_acquire_at(lock, KTRACE_BY_CPU, place);
	ktrace_preempt(++self->spinlocks);
	return irq_on;
}

bool spin_lock(struct spinlock *lock)
{
	return spin_lock_at(lock, KTRACE_RETURN_ADDRESS);
}

void spin_unlock(struct spinlock *lock, bool irq_on)
{
	ktrace_release_at(lock, KTRACE_BY_CPU, KTRACE_RETURN_ADDRESS);
	ktrace_preempt(--arch_this_cpu()->spinlocks);
	__atomic_store_n(&lock->holder, 0, __ATOMIC_RELEASE);
	arch_irq_restore(irq_on);
}

/* ---- Sleeping locks ---------------------------------------------------------------------------- */

void mutex_contend(const void *lock, const char *name, uint32_t owner, uintptr_t place)
{
	ktrace_contend_at(lock, name, KTRACE_BY_THREAD, owner ? owner : KTRACE_NOBODY, place);
}

/*
 * No wakeup is lost: a waiter first increments `waiters`, and then tries again to take the lock. A thread
 * that unlocks first frees the lock, and then reads `waiters`. So the waiter sees the free lock, or the
 * unlocking thread sees the waiter.
 */
static void sleep_until_locked(struct mutex *mutex, uint32_t self, uintptr_t place)
{
	bool irq_on;

	mutex_contend(mutex, mutex->queue.lock.name, __atomic_load_n(&mutex->holder, __ATOMIC_RELAXED),
		      place);
	irq_on = spin_lock(&mutex->queue.lock);
	__atomic_add_fetch(&mutex->waiters, 1, __ATOMIC_SEQ_CST);
	while (!try_lock(&mutex->holder, self))
		wait_sleep(&mutex->queue);
	__atomic_sub_fetch(&mutex->waiters, 1, __ATOMIC_RELAXED);
	spin_unlock(&mutex->queue.lock, irq_on);
}

void mutex_lock_at(struct mutex *mutex, uintptr_t place)
{
	uint32_t self = thread_self()->id;

	if (!try_lock(&mutex->holder, self))
		sleep_until_locked(mutex, self, place);
	ktrace_acquire_at(mutex, KTRACE_BY_THREAD, place);
}

void mutex_lock(struct mutex *mutex)
{
	mutex_lock_at(mutex, KTRACE_RETURN_ADDRESS);
}

bool mutex_try_lock(struct mutex *mutex)
{
	if (!try_lock(&mutex->holder, thread_self()->id)) {
		KTRACE(lock, fail, mutex, mutex->queue.lock.name, "thread",
		       __atomic_load_n(&mutex->holder, __ATOMIC_RELAXED),
		       (const void *)KTRACE_RETURN_ADDRESS);
		return false;
	}
	ktrace_try_acquire_at(mutex, KTRACE_BY_THREAD, KTRACE_RETURN_ADDRESS);
	return true;
}

void mutex_unlock(struct mutex *mutex)
{
	bool irq_on;

	ktrace_release_at(mutex, KTRACE_BY_THREAD, KTRACE_RETURN_ADDRESS);
	__atomic_store_n(&mutex->holder, 0, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&mutex->waiters, __ATOMIC_RELAXED) == 0)
		return;
	irq_on = spin_lock(&mutex->queue.lock);
	wait_wake_one(&mutex->queue);
	spin_unlock(&mutex->queue.lock, irq_on);
}
