/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sleeping locks: whoever finds one taken sleeps until it is given up. For what takes long or sleeps itself. Thread
 * context only, no spinlock held; not recursive.
 */
#ifndef DEMO_MUTEX_H
#define DEMO_MUTEX_H

#include <stdbool.h>
#include <stdint.h>

#include "wait.h"

struct mutex {
	uint32_t holder;  /* thread id, 0: free; first: the trace tells it from the queue's lock by address */
	uint32_t waiters; /* threads that found it taken */
	struct wait_queue queue;
};

#define MUTEX(n)                       \
	{                              \
		.queue = WAIT_QUEUE(n) \
	}

void mutex_lock(struct mutex *mutex);
/* As spin_lock_at(). */
void mutex_lock_at(struct mutex *mutex, uintptr_t place);
bool mutex_try_lock(struct mutex *mutex); /* false: it is taken */
void mutex_unlock(struct mutex *mutex);

/* The running thread is about to sleep for a lock, of whatever kind. `owner`: a thread, 0 if it is unknown. */
void mutex_contend(const void *lock, const char *name, uint32_t owner, uintptr_t place);

#endif
