/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Spinlocks. While a CPU holds a spinlock, it has interrupts off. So a thread that holds a spinlock is never
 * preempted, and an interrupt handler may take any spinlock. Not recursive.
 */
#ifndef DEMO_SPINLOCK_H
#define DEMO_SPINLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct spinlock {
	uint32_t holder; /* 0 if the lock is free; otherwise 1 + the number of the CPU that holds it */
	const char *name;
};

#define SPINLOCK(n)         \
	{                   \
		.name = (n) \
	}

/* Takes the lock. Returns true if interrupts were on; pass the result to spin_unlock. */
bool spin_lock(struct spinlock *lock);
/*
 * Like spin_lock(), for a function that takes the lock on behalf of its caller. The trace shows the code
 * address `place`.
 */
bool spin_lock_at(struct spinlock *lock, uintptr_t place);
void spin_unlock(struct spinlock *lock, bool irq_on);

#endif
