/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Whoever comes first takes a free lock. There is no queue: on a virtual machine the next in line may be a
 * CPU that the host is not running just now, and all behind it would wait for that.
 */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "cpu.h"
#include "spinlock.h"

KTRACE_EVENT(lock, contend, "%p %s held by CPU %u", (const void *, lock), (const char *, name),
	     (uint32_t, holder));
KTRACE_EVENT(lock, acquire, "%p", (const void *, lock));
KTRACE_EVENT(lock, release, "%p", (const void *, lock));

static bool try_lock(struct spinlock *lock, uint32_t holder)
{
	uint32_t nobody = 0;

	return __atomic_compare_exchange_n(&lock->holder, &nobody, holder, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void wait_and_lock(struct spinlock *lock, uint32_t holder)
{
	KTRACE(lock, contend, lock, lock->name, __atomic_load_n(&lock->holder, __ATOMIC_RELAXED) - 1);
	do {
		while (__atomic_load_n(&lock->holder, __ATOMIC_RELAXED) != 0)
			arch_relax();
	} while (!try_lock(lock, holder));
}

bool spin_lock(struct spinlock *lock)
{
	bool irq_on = arch_irq_save();
	uint32_t holder = arch_this_cpu()->id + 1;

	if (!try_lock(lock, holder))
		wait_and_lock(lock, holder);
	KTRACE(lock, acquire, lock);
	return irq_on;
}

void spin_unlock(struct spinlock *lock, bool irq_on)
{
	KTRACE(lock, release, lock);
	__atomic_store_n(&lock->holder, 0, __ATOMIC_RELEASE);
	arch_irq_restore(irq_on);
}
