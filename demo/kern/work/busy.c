/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * More work than CPUs: a planner fills a list with pieces of work; workers take the pieces out of the list,
 * compute, and count the finished pieces under a mutex. At the end, all planned pieces must have been
 * counted.
 */
#include <stddef.h>

#include "args.h"
#include "clock.h"
#include "cpu.h"
#include "mutex.h"
#include "panic.h"
#include "print.h"
#include "wait.h"
#include "work.h"

#define ROOM	     32u
#define PIECE_NS     (NS_PER_MS / 4)
#define PIECES_EVERY 8u /* every 8th piece of work takes 8 times as long as the others */

/* The list of pieces. Workers and planner wait in `queue`, whose lock guards all fields. */
static struct {
	struct wait_queue queue;
	unsigned piece[ROOM]; /* duration of each piece, in units of PIECE_NS */
	unsigned planned, taken;
	bool over;
} list = { .queue = WAIT_QUEUE("work list") };

static struct mutex book = MUTEX("book");
static uint64_t booked; /* guarded by the mutex `book` */

/* Takes a piece of work out of the list. Waits if the list is empty. Returns false when all work is done. */
static bool take(unsigned *piece)
{
	bool irq_on = spin_lock(&list.queue.lock);
	bool found;

	while (list.planned == list.taken && !list.over)
		wait_sleep(&list.queue);
	found = list.planned != list.taken;
	if (found)
		*piece = list.piece[list.taken++ % ROOM];
	wait_wake_all(&list.queue);
	spin_unlock(&list.queue.lock, irq_on);
	return found;
}

static void work(void)
{
	unsigned piece;

	while (take(&piece)) {
		work_compute(piece * PIECE_NS);
		mutex_lock(&book);
		booked++;
		mutex_unlock(&book);
	}
}

static void plan(unsigned piece)
{
	bool irq_on = spin_lock(&list.queue.lock);

	while (list.planned - list.taken == ROOM)
		wait_sleep(&list.queue);
	list.piece[list.planned++ % ROOM] = piece;
	wait_wake_all(&list.queue);
	spin_unlock(&list.queue.lock, irq_on);
}

static void plan_until(uint64_t until_ns)
{
	uint64_t seed = arg_number("seed", 0);
	bool irq_on;

	do {
		unsigned chance = work_random(&seed);

		plan(chance % PIECES_EVERY == 0 ? PIECES_EVERY : 1 + chance % 3);
	} while (!work_over(until_ns));
	irq_on = spin_lock(&list.queue.lock);
	list.over = true;
	wait_wake_all(&list.queue);
	spin_unlock(&list.queue.lock, irq_on);
}

/* Member 0 is the planner; the other members are workers. */
static void member(unsigned n, uint64_t until_ns)
{
	if (n == 0)
		plan_until(until_ns);
	else
		work();
}

void work_busy(uint64_t until_ns)
{
	list.planned = list.taken = 0;
	list.over = false;
	booked = 0;
	work_crew("busy", 2 * cpu_count, member, until_ns);
	if (booked != list.planned)
		panic("busy: only %lu of %u pieces of work were counted", booked, list.planned);
	kprintf("busy: %lu pieces of work\n", booked);
}
