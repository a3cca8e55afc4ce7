/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A thread writes its log to a device while it holds the log's spinlock. Writing takes a while, and the
 * thread sleeps until it is done.
 */
#include "bug/bug.h"
#include "clock.h"
#include "cpu.h"
#include "spinlock.h"
#include "timer.h"

#define WRITE_NS (20 * NS_PER_MS)

static struct spinlock log_lock = SPINLOCK("log");
static uint64_t lines;

static void write_out(void)
{
	timer_sleep(WRITE_NS);
}

/*
 * The mistake: sleeping while holding a spinlock. If another thread on the same CPU then spins for this lock,
 * the holder cannot run and release the lock.
 */
static void append(void)
{
	bool irq_on = spin_lock(&log_lock);

	lines++;
	write_out();
	spin_unlock(&log_lock, irq_on);
}

/* The main function of the writers. There are two writers for each CPU. */
static void logger(unsigned n, uint64_t until_ns)
{
	(void)n;
	while (!work_over(until_ns)) {
		append();
		timer_sleep(WRITE_NS);
	}
}

void bug_sleep_spin(uint64_t until_ns)
{
	work_crew("logger", 2 * cpu_count, logger, until_ns);
}
