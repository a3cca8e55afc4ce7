/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A printer takes jobs from a spooler; clients wait until their job is printed.
 * The mistake: an urgent job is put at the front of the queue, but the printer is not woken. This has an
 * effect only if the printer sleeps: a busy printer finds the job anyway.
 */
#include <stddef.h>

#include "args.h"
#include "clock.h"
#include "thread.h"
#include "timer.h"
#include "wait.h"
#include "bug/bug.h"

#define ORDINARY_JOBS 24

struct job {
	struct job *next;
	bool printed; /* guarded by the lock of `prints` */
};

/* The queue's lock guards the list of jobs. */
static struct {
	struct wait_queue queue;
	struct job *first, *last;
} spooler = { .queue = WAIT_QUEUE("spooler") };

static struct wait_queue prints = WAIT_QUEUE("printed pages");

static void submit(struct job *job)
{
	bool irq_on = spin_lock(&spooler.queue.lock);

	job->next = NULL;
	if (spooler.first)
		spooler.last->next = job;
	else
		spooler.first = job;
	spooler.last = job;
	wait_wake_one(&spooler.queue);
	spin_unlock(&spooler.queue.lock, irq_on);
}

static void submit_urgent(struct job *job)
{
	bool irq_on = spin_lock(&spooler.queue.lock);

	job->next = spooler.first;
	if (!spooler.first)
		spooler.last = job;
	spooler.first = job;
	spin_unlock(&spooler.queue.lock, irq_on);
}

static struct job *take_job(void)
{
	bool irq_on = spin_lock(&spooler.queue.lock);
	struct job *job;

	while (!spooler.first)
		wait_sleep(&spooler.queue);
	job = spooler.first;
	spooler.first = job->next;
	spin_unlock(&spooler.queue.lock, irq_on);
	return job;
}

static void printer(void *unused)
{
	(void)unused;
	for (;;) {
		struct job *job = take_job();
		bool irq_on;

		timer_sleep(NS_PER_MS);
		irq_on = spin_lock(&prints.lock);
		job->printed = true;
		wait_wake_all(&prints);
		spin_unlock(&prints.lock, irq_on);
	}
}

static void print(void (*how)(struct job *job))
{
	struct job job = { NULL, false };
	bool irq_on;

	how(&job);
	irq_on = spin_lock(&prints.lock);
	while (!job.printed)
		wait_sleep(&prints);
	spin_unlock(&prints.lock, irq_on);
	timer_sleep(NS_PER_MS);
}

static void client(unsigned n, uint64_t until_ns)
{
	unsigned ordinary = ORDINARY_JOBS + (unsigned)arg_number("seed", 0) % ORDINARY_JOBS;

	(void)n;
	while (!work_over(until_ns)) {
		for (unsigned i = 0; i < ordinary; i++)
			print(submit);
		print(submit_urgent);
	}
}

void bug_lost_wakeup(uint64_t until_ns)
{
	thread_create("printer", printer, NULL, CPU_ANY);
	work_crew("client", 1, client, until_ns);
}
