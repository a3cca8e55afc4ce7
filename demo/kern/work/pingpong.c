/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Two threads wake each other through a wait queue. They run on different CPUs if there are several. */
#include "print.h"
#include "wait.h"
#include "work.h"

static struct wait_queue table = WAIT_QUEUE("pingpong");
static unsigned turn; /* number of the player whose turn it is */
static unsigned rounds;
static bool over;

/*
 * Waits until it is player n's turn, and then makes it the other player's turn. Returns false when the game
 * is over.
 */
static bool play(unsigned n, uint64_t until_ns)
{
	bool irq_on = spin_lock(&table.lock);
	bool playing;

	while (turn != n && !over)
		wait_sleep(&table);
	turn = 1 - n;
	rounds++;
	over = over || work_over(until_ns);
	playing = !over;
	wait_wake_one(&table);
	spin_unlock(&table.lock, irq_on);
	return playing;
}

static void player(unsigned n, uint64_t until_ns)
{
	while (play(n, until_ns))
		;
}

void work_pingpong(uint64_t until_ns)
{
	over = false;
	rounds = 0;
	work_crew("pingpong", 2, player, until_ns);
	kprintf("pingpong: %u rounds\n", rounds);
}
