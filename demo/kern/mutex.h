/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sleeping locks. A thread that finds a mutex taken sleeps until the mutex is released. Use a mutex for
 * critical sections that are long or that sleep. Not recursive. Requires: thread context, no spinlock held.
 */
#ifndef DEMO_MUTEX_H
#define DEMO_MUTEX_H

#include <stdbool.h>
#include <stdint.h>

#include "wait.h"

struct mutex {
	/*
	 * Id of the thread that holds the mutex; 0 if the mutex is free. This must be the first field: the
	 * trace identifies locks by address, so the mutex and the lock of its queue must have different
	 * addresses.
	 */
	uint32_t holder;
	uint32_t waiters; /* number of threads that wait for the mutex */
	struct wait_queue queue;
};

#define MUTEX(n)                       \
	{                              \
		.queue = WAIT_QUEUE(n) \
	}

void mutex_lock(struct mutex *mutex);
/*
 * Like mutex_lock(), for a function that takes the mutex on behalf of its caller. The trace shows the code
 * address `place` instead of the address of this call.
 */
void mutex_lock_at(struct mutex *mutex, uintptr_t place);
bool mutex_try_lock(struct mutex *mutex); /* returns false if the mutex is taken */
void mutex_unlock(struct mutex *mutex);

/*
 * Reports that the running thread is about to sleep for a lock of any kind. `owner` is the id of the thread
 * that holds the lock, 0 if unknown.
 */
void mutex_contend(const void *lock, const char *name, uint32_t owner, uintptr_t place);

#endif
