/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * user-abba: two threads move goods between a shelf and a store, each of which has a lock.
 * The mistake: each thread first locks the place from which it takes goods, so the threads take the two locks
 * in opposite orders. With an argument, both threads move goods in the same direction, so there is no
 * mistake.
 */
#include <program.h>
#include <thread.h>
#include <unistd.h>

struct place {
	struct mutex lock;
	unsigned goods;
};

static struct place shelf = { MUTEX("shelf"), 1000 }, store = { MUTEX("store"), 1000 };

static void move(struct place *from, struct place *to)
{
	mutex_lock(&from->lock);
	sched_yield();
	mutex_lock(&to->lock);
	from->goods--;
	to->goods++;
	mutex_unlock(&to->lock);
	mutex_unlock(&from->lock);
}

static void sell(void *unused)
{
	(void)unused;
	for (;;)
		move(&store, &shelf);
}

static void take_back(void *unused)
{
	(void)unused;
	for (;;)
		move(&shelf, &store);
}

int main(int argc, char **argv)
{
	struct thread seller, returns;

	(void)argv;
	thread_start(&seller, "seller", sell, NULL);
	thread_start(&returns, "returns", argc > 1 ? sell : take_back, NULL);
	thread_await(&seller);
	thread_await(&returns);
	finish();
}
