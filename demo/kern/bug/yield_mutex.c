/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A mutex whose waiters do not sleep: a thread that finds the mutex taken yields and tries again, so the
 * thread stays runnable. Two clerks work on two ledgers, each guarded by such a mutex. The mistake of
 * bug_abba_yield: the clerks lock the ledgers in opposite orders. bug_no_abba_yield uses one order and has no
 * mistake.
 */
#include <stddef.h>

#include <ktrace/hooks.h>

#include "clock.h"
#include "sched.h"
#include "thread.h"
#include "timer.h"
#include "bug/bug.h"

#define CLERKS 2

struct yield_mutex {
	uint32_t holder; /* id of the thread that holds the mutex; 0 if it is free */
	const char *name;
};

static struct yield_mutex ledger[] = { { 0, "income" }, { 0, "expenses" } };

static bool try_lock(struct yield_mutex *mutex, uint32_t self)
{
	uint32_t no_holder = 0;

	return __atomic_compare_exchange_n(&mutex->holder, &no_holder, self, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void lock(struct yield_mutex *mutex)
{
	const uint32_t self = thread_self()->id;
	uint32_t owner;

	while (!try_lock(mutex, self)) {
		owner = __atomic_load_n(&mutex->holder, __ATOMIC_RELAXED);
		ktrace_lock_wait(mutex, mutex->name, KTRACE_BY_THREAD, owner ? owner : KTRACE_NOBODY);
		sched_yield();
	}
	ktrace_lock_acquire(mutex, KTRACE_BY_THREAD);
}

static void unlock(struct yield_mutex *mutex)
{
	ktrace_lock_release(mutex, KTRACE_BY_THREAD);
	__atomic_store_n(&mutex->holder, 0, __ATOMIC_RELEASE);
}

static void book(struct yield_mutex *first, struct yield_mutex *second)
{
	lock(first);
	timer_sleep(20 * NS_PER_MS);
	lock(second);
	unlock(second);
	unlock(first);
}

static void book_crosswise(unsigned n, uint64_t until_ns)
{
	while (!work_over(until_ns))
		book(&ledger[n], &ledger[1 - n]);
}

static void book_in_order(unsigned n, uint64_t until_ns)
{
	(void)n;
	while (!work_over(until_ns))
		book(&ledger[0], &ledger[1]);
}

void bug_abba_yield(uint64_t until_ns)
{
	(void)until_ns;
	work_crew("clerk", CLERKS, book_crosswise, UINT64_MAX);
}

void bug_no_abba_yield(uint64_t until_ns)
{
	work_crew("clerk", CLERKS + 1, book_in_order, until_ns);
}
