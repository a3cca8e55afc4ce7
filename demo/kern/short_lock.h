/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the tracer's libraries lock: no spinlock of the kernel's own, for those are traced themselves, and these are taken
 * for each record. Any context but non-maskable interrupts.
 */
#ifndef DEMO_SHORT_LOCK_H
#define DEMO_SHORT_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"

static inline bool short_lock_take(uint32_t *lock)
{
	bool irq_on = arch_irq_enabled();

	arch_irq_mask();
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(lock, __ATOMIC_RELAXED))
			arch_relax();
	return irq_on;
}

static inline void short_lock_give(uint32_t *lock, bool irq_on)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
	if (irq_on)
		arch_irq_unmask();
}

#endif
