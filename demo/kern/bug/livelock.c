/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Two clerks move money between two accounts, in opposite directions. A clerk locks the first account and
 * tries to lock the second one. If that fails, the clerk does not wait, to avoid a deadlock, but unlocks the
 * first account and starts again.
 */
#include "bug/bug.h"
#include "clock.h"
#include "cpu.h"
#include "mutex.h"
#include "thread.h"
#include "timer.h"

#define LOOK_UP_NS (5 * NS_PER_MS)

static struct account {
	struct mutex lock;
	int64_t balance;
} savings = { .lock = MUTEX("savings") }, current = { .lock = MUTEX("current") };

/*
 * The mistake: a thread takes its first lock again immediately after releasing it, so the other thread never
 * gets this lock.
 */
static void move(struct account *from, struct account *to)
{
	for (;;) {
		mutex_lock(&from->lock);
		timer_sleep(LOOK_UP_NS);
		if (mutex_try_lock(&to->lock))
			break;
		mutex_unlock(&from->lock);
	}
	from->balance--;
	to->balance++;
	mutex_unlock(&to->lock);
	mutex_unlock(&from->lock);
}

static void saver(void *unused)
{
	(void)unused;
	for (;;)
		move(&current, &savings);
}

static void spender(void *unused)
{
	(void)unused;
	for (;;)
		move(&savings, &current);
}

/* Both threads run on one CPU, where the timer tick wakes them alternately. */
void bug_livelock(uint64_t until_ns)
{
	(void)until_ns;
	thread_create("saver", saver, NULL, (int)cpu_count - 1);
	thread_create("spender", spender, NULL, (int)cpu_count - 1);
	for (;;)
		timer_sleep(NS_PER_S);
}
