/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * user-dead-owner: a worker updates an index under its lock; other threads search the index under the same
 * lock. The mistake: when there are no more jobs, the worker ends without releasing the lock.
 */
#include <program.h>
#include <thread.h>
#include <unistd.h>

#define JOBS 5

static struct mutex lock = MUTEX("index");
static unsigned jobs_left = JOBS;
static volatile unsigned entries;

static void update(void *unused)
{
	(void)unused;
	for (;;) {
		mutex_lock(&lock);
		if (jobs_left == 0)
			return;
		jobs_left--;
		entries = entries + 1;
		mutex_unlock(&lock);
		sleep_ms(5);
	}
}

static void look_up(void *unused)
{
	(void)unused;
	for (;;) {
		mutex_lock(&lock);
		check(entries <= JOBS, "no more entries than jobs");
		mutex_unlock(&lock);
		sleep_ms(7);
	}
}

int main(int argc, char **argv)
{
	struct thread worker, reader;

	(void)argc, (void)argv;
	thread_start(&worker, "worker", update, NULL);
	thread_start(&reader, "reader", look_up, NULL);
	thread_await(&worker);
	sleep_ms(100);
	look_up(NULL);
	finish();
}
