/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Money is transferred around a ring of accounts, by one thread for each account.
 * The mistake: a transfer first locks the account that pays. So each thread can hold the lock of one account
 * while it waits for the lock of the next one.
 */
#include "clock.h"
#include "mutex.h"
#include "timer.h"
#include "bug/bug.h"

#define ACCOUNTS 3

static struct account {
	struct mutex lock;
	int balance;
} accounts[ACCOUNTS] = {
	{ MUTEX("savings"), 100 },
	{ MUTEX("checking"), 100 },
	{ MUTEX("pension"), 100 },
};

static unsigned in_use;

/* The sleep before the second lock gives the deadlock time to occur. */
static void transfer(struct account *from, struct account *to, int amount)
{
	mutex_lock(&from->lock);
	from->balance -= amount;
	timer_sleep(20 * NS_PER_MS);
	mutex_lock(&to->lock);
	to->balance += amount;
	mutex_unlock(&to->lock);
	mutex_unlock(&from->lock);
}

static void pay_next(unsigned n, uint64_t until_ns)
{
	while (!work_over(until_ns))
		transfer(&accounts[n], &accounts[(n + 1) % in_use], 1);
}

void bug_abba(uint64_t until_ns)
{
	(void)until_ns;
	in_use = 2;
	work_crew("abba", in_use, pay_next, UINT64_MAX);
}

void bug_cycle3(uint64_t until_ns)
{
	(void)until_ns;
	in_use = 3;
	work_crew("cycle3", in_use, pay_next, UINT64_MAX);
}
