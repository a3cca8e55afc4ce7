/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A log is written out while its spinlock is held. Writing takes a while: the writer sleeps. */
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
 * The mistake: sleeping while holding a spinlock. Another thread on the same CPU that spins for the lock
 * prevents the holder from running.
 */
static void append(void)
{
	bool irq_on = spin_lock(&log_lock);

	lines++;
	write_out();
	spin_unlock(&log_lock, irq_on);
}

/* Two threads for each CPU. */
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
