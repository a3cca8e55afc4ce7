/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A client asks a disk for a block, and sleeps until the answer has arrived.
 * The mistake: the client checks before it takes the lock whether the answer has arrived, and does not check
 * again. If the answer arrives in between, its wakeup finds no sleeping thread, and the client sleeps for
 * ever. An answer takes much longer than the few instructions in between, so it arrives there only if
 * something delays the client's CPU.
 */
#include <ktrace/ktrace.h>

#include "wait.h"
#include "bug/bug.h"
#include "bug/rounds.h"

#define BLOCKS 3

KTRACE_EVENT(disk, read, "block %u", (uint32_t, block));

static struct wait_queue answers = WAIT_QUEUE("answers"); /* the lock of this queue guards `answered` */
static bool answered;

static void ask(void)
{
	static uint32_t block;

	KTRACE(disk, read, block++);
	__atomic_store_n(&answered, false, __ATOMIC_RELAXED);
	rounds_hand_over();
}

static void read_block(void)
{
	bool irq_on;

	ask();
	if (__atomic_load_n(&answered, __ATOMIC_ACQUIRE))
		return;
	irq_on = spin_lock(&answers.lock);
	wait_sleep(&answers);
	spin_unlock(&answers.lock, irq_on);
}

static void read_block_safely(void)
{
	bool irq_on;

	ask();
	irq_on = spin_lock(&answers.lock);
	while (!answered)
		wait_sleep(&answers);
	spin_unlock(&answers.lock, irq_on);
}

static void answer(void)
{
	bool irq_on = spin_lock(&answers.lock);

	__atomic_store_n(&answered, true, __ATOMIC_RELEASE);
	wait_wake_all(&answers);
	spin_unlock(&answers.lock, irq_on);
}

void bug_rare_wakeup(uint64_t until_ns)
{
	rounds_run(&(struct rounds){ "disk", BLOCKS, read_block, answer }, until_ns);
}

void bug_no_rare_wakeup(uint64_t until_ns)
{
	rounds_run(&(struct rounds){ "disk", BLOCKS, read_block_safely, answer }, until_ns);
}
