/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A writer and a reader exchange letters through a mailbox that holds one letter.
 * The mistake: the reader checks whether there is a letter before it takes the lock, and does not check
 * again. If a letter arrives in between, its wakeup finds no sleeping thread, and the reader sleeps although
 * the mailbox is full.
 */
#include "args.h"
#include "sched.h"
#include "wait.h"
#include "bug/bug.h"

#define PAUSE_MOST_NS 65536u

static struct wait_queue mailbox = WAIT_QUEUE("mailbox"); /* mailbox.lock guards `full` */
/* true: there is a letter in the mailbox, as at the start */
static bool full = true;

static void read_letter(void)
{
	bool there = __atomic_load_n(&full, __ATOMIC_ACQUIRE), irq_on;

	if (!there)
		sched_yield();
	irq_on = spin_lock(&mailbox.lock);
	if (!there)
		wait_sleep(&mailbox);
	full = false;
	wait_wake_all(&mailbox);
	spin_unlock(&mailbox.lock, irq_on);
}

static void write_letter(void)
{
	bool irq_on = spin_lock(&mailbox.lock);

	while (full)
		wait_sleep(&mailbox);
	full = true;
	wait_wake_all(&mailbox);
	spin_unlock(&mailbox.lock, irq_on);
}

static void reader(uint64_t until_ns)
{
	while (!work_over(until_ns))
		read_letter();
}

/* Writes letters, with random pauses in between. */
static void writer(uint64_t until_ns)
{
	uint64_t seed = arg_number("seed", 0);

	while (!work_over(until_ns)) {
		work_compute(work_random(&seed) % PAUSE_MOST_NS);
		write_letter();
	}
}

static void take_part(unsigned n, uint64_t until_ns)
{
	if (n == 0)
		reader(until_ns);
	else
		writer(until_ns);
}

void bug_wakeup_race(uint64_t until_ns)
{
	work_crew("mail", 2, take_part, until_ns);
}
