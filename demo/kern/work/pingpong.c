/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Two threads, on two CPUs where there are two, wake each other through a wait queue. */
#include "print.h"
#include "wait.h"
#include "work.h"

static struct wait_queue table = WAIT_QUEUE("pingpong");
static unsigned turn; /* whose it is */
static unsigned rounds;
static bool over;

static void player(unsigned n, uint64_t until_ns)
{
	bool irq_on = spin_lock(&table.lock);

	while (!over) {
		while (turn != n && !over)
			wait_sleep(&table);
		turn = 1 - n;
		rounds++;
		over = over || work_over(until_ns);
		wait_wake_one(&table);
	}
	spin_unlock(&table.lock, irq_on);
}

void work_pingpong(uint64_t until_ns)
{
	over = false;
	rounds = 0;
	work_crew("pingpong", 2, player, until_ns);
	kprintf("pingpong: %u rounds\n", rounds);
}
