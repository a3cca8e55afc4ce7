/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Counts interrupts, each kind under a lock of its own. A thread computes the sum of two counts. It takes the
 * second count's lock before it releases the first count's lock.
 * The mistake: when the thread releases the first lock, it turns interrupts on again, as they were before it
 * took that lock. But it still holds the second lock. An interrupt handler on this CPU may then spin for ever
 * for the second lock.
 */
#include "arch.h"
#include "cpu.h"
#include "interrupt.h"
#include "print.h"
#include "spinlock.h"
#include "bug/bug.h"

#define REPORT_EVERY 1000

static struct count {
	struct spinlock lock;
	uint64_t interrupts[CPU_MAX];
} counts[] = {
	[IRQ_TIMER] = { .lock = SPINLOCK("timer count") },
	[IRQ_IPI] = { .lock = SPINLOCK("ipi count") },
};

static void count_interrupt(enum irq irq)
{
	struct count *count = &counts[irq];
	bool irq_on;

	if (irq != IRQ_TIMER && irq != IRQ_IPI)
		return;
	irq_on = spin_lock(&count->lock);
	count->interrupts[arch_this_cpu()->id]++;
	spin_unlock(&count->lock, irq_on);
}

static uint64_t sum_of_cpus(const struct count *count)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < cpu_count; i++)
		sum += count->interrupts[i];
	return sum;
}

static uint64_t add_up(void)
{
	struct count *ipis = &counts[IRQ_IPI], *ticks = &counts[IRQ_TIMER];
	bool irq_on = spin_lock(&ipis->lock), irq_on_inside;
	uint64_t sum = sum_of_cpus(ipis);

	irq_on_inside = spin_lock(&ticks->lock);
	spin_unlock(&ipis->lock, irq_on);
	sum += sum_of_cpus(ticks);
	spin_unlock(&ticks->lock, irq_on_inside);
	return sum;
}

static void reporter(unsigned n, uint64_t until_ns)
{
	uint64_t reported = 0;

	(void)n;
	while (!work_over(until_ns)) {
		uint64_t sum = add_up();

		if (sum - reported >= REPORT_EVERY)
			kprintf("%lu interrupts\n", reported = sum);
	}
}

void bug_self_irq(uint64_t until_ns)
{
	(void)until_ns;
	__atomic_store_n(&interrupt_observer, count_interrupt, __ATOMIC_RELEASE);
	work_crew("reporter", 1, reporter, UINT64_MAX);
}
