/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Locks for the libraries of ktrace. The kernel's spinlocks cannot be used there: they are traced themselves,
 * and the libraries take a lock for each record. Any context except NMI.
 */
#ifndef DEMO_UNTRACED_LOCK_H
#define DEMO_UNTRACED_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"

static inline bool untraced_lock_take(uint32_t *lock)
{
	bool irq_on = arch_irq_enabled();

	arch_irq_mask();
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(lock, __ATOMIC_RELAXED))
			arch_relax();
	return irq_on;
}

static inline void untraced_lock_release(uint32_t *lock, bool irq_on)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
	if (irq_on)
		arch_irq_unmask();
}

#endif
