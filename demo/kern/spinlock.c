/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "arch.h"
#include "spinlock.h"

bool spin_lock(struct spinlock *lock)
{
	bool irq_on = arch_irq_save();
	uint32_t ticket = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);

	while (__atomic_load_n(&lock->serving, __ATOMIC_ACQUIRE) != ticket)
		arch_relax();
	return irq_on;
}

void spin_unlock(struct spinlock *lock, bool irq_on)
{
	__atomic_store_n(&lock->serving, lock->serving + 1, __ATOMIC_RELEASE);
	arch_irq_restore(irq_on);
}
