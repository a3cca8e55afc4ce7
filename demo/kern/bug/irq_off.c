/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A driver, with interrupts off, polls a device that takes 50 ms to answer. */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "bug/bug.h"
#include "clock.h"
#include "cpu.h"
#include "timer.h"

#define CONVERSION_NS (50 * NS_PER_MS)
#define POLL_EVERY_NS NS_PER_MS
#define READ_EVERY_NS (200 * NS_PER_MS)

KTRACE_EVENT(sensor, poll, "%u", (uint32_t, tries));

/*
 * The mistake: interrupts are off during the whole conversion. No other code uses the sensor, so interrupts
 * could stay on.
 */
static void read_sensor(void)
{
	bool irq_on = arch_irq_save();
	uint64_t ready_ns = clock_ns() + CONVERSION_NS;

	for (uint32_t tries = 1; clock_ns() < ready_ns; tries++) {
		KTRACE(sensor, poll, tries);
		work_compute(POLL_EVERY_NS);
	}
	arch_irq_restore(irq_on);
}

static void reader(unsigned n, uint64_t until_ns)
{
	while (!work_over(until_ns)) {
		if (n == cpu_count - 1)
			read_sensor();
		timer_sleep(READ_EVERY_NS);
	}
}

void bug_irq_off(uint64_t until_ns)
{
	work_crew("sensor", cpu_count, reader, until_ns);
}
