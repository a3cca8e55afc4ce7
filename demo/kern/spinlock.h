/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Spinlocks. Holding one keeps interrupts off on this CPU, so a holder is never preempted and an interrupt
 * handler may take any lock that its CPU does not hold. Not recursive.
 */
#ifndef DEMO_SPINLOCK_H
#define DEMO_SPINLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct spinlock {
	uint32_t holder; /* 0, or the number of the CPU that holds it plus 1 */
	const char *name;
};

#define SPINLOCK(n)         \
	{                   \
		.name = (n) \
	}

/* Returns whether interrupts were on, to be handed to spin_unlock. */
bool spin_lock(struct spinlock *lock);
/* For those that take a lock for others: `place` is the code that wants it. */
bool spin_lock_at(struct spinlock *lock, uintptr_t place);
void spin_unlock(struct spinlock *lock, bool irq_on);

#endif
