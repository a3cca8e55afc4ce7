/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A measurement must not be disturbed by ticks, so the measuring function stops its CPU's timer and starts
 * the timer again at the end. The mistake: if the measurement takes too long, the function returns early,
 * without starting the timer. From then on, the CPU has no ticks: it handles interrupts from other CPUs,
 * but timed sleeps on it never end.
 */
#include "arch.h"
#include "bug/bug.h"
#include "clock.h"
#include "cpu.h"
#include "thread.h"
#include "timer.h"
#include "wait.h"

#define SPAN_NS	       (2 * NS_PER_MS)
#define SHORT_LIMIT_NS (SPAN_NS / 2)
#define MEASURE_NS     (50 * NS_PER_MS)
#define ROUNDS	       5

static struct wait_queue errands = WAIT_QUEUE("errands");

/* This early return is the mistake. */
static void measure(uint64_t limit_ns)
{
	bool irq_on = arch_irq_save();
	uint64_t begin = clock_ns();

	arch_timer_stop();
	while (clock_ns() - begin < SPAN_NS) {
		if (clock_ns() - begin > limit_ns) {
			arch_irq_restore(irq_on);
			return;
		}
		arch_relax();
	}
	arch_timer_start();
	arch_irq_restore(irq_on);
}

static void meter(void *unused)
{
	(void)unused;
	for (unsigned round = 0;; round++) {
		measure(round < ROUNDS ? 2 * SPAN_NS : SHORT_LIMIT_NS);
		timer_sleep(MEASURE_NS);
	}
}

/*
 * The main function of a thread on the CPU whose timer is stopped. Another thread wakes this thread
 * periodically.
 */
static void runner(void *unused)
{
	(void)unused;
	for (;;) {
		bool irq_on = spin_lock(&errands.lock);

		wait_sleep(&errands);
		spin_unlock(&errands.lock, irq_on);
	}
}

void bug_dead_timer(uint64_t until_ns)
{
	(void)until_ns;
	thread_create("meter", meter, NULL, (int)cpu_count - 1);
	thread_create("runner", runner, NULL, (int)cpu_count - 1);
	for (;;) {
		bool irq_on = spin_lock(&errands.lock);

		wait_wake_all(&errands);
		spin_unlock(&errands.lock, irq_on);
		timer_sleep(MEASURE_NS);
	}
}
