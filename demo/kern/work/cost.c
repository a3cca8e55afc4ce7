/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Measures the cost of events on this machine, in picoseconds: a read of the clock, an event that is off, an
 * event of one slot, an event of three slots. Each cost includes that of the loop around the operation.
 * Interrupts are off during the measurement.
 */
#include <ktrace/ktrace.h>

#include "clock.h"
#include "print.h"
#include "work.h"

#define ROUNDS 50000u

KTRACE_EVENT(cost, off, "%u", (uint32_t, round));
KTRACE_EVENT(cost, small, "%u %u", (uint32_t, round), (uint32_t, other));
KTRACE_EVENT(cost, large, "%u %llu %llu %llu %llu %llu %llu", (uint32_t, round), (unsigned long long, word1),
	     (unsigned long long, word2), (unsigned long long, word3), (unsigned long long, word4),
	     (unsigned long long, word5), (unsigned long long, word6));

static void read_clock(void)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		arch_clock();
}

static void record_off(void)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		KTRACE(cost, off, i);
}

static void record_small(void)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		KTRACE(cost, small, i, i);
}

static void record_large(void)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		KTRACE(cost, large, i, i, i, i, i, i, i);
}

/*
 * Returns the time of a round of the loop in picoseconds. A first run of the loop warms up the caches and is
 * not measured.
 */
static uint64_t measure(void (*loop)(void))
{
	bool irq_on = arch_irq_save();
	uint64_t begin;

	loop();
	begin = clock_ns();
	loop();
	begin = clock_ns() - begin;
	arch_irq_restore(irq_on);
	return begin * 1000 / ROUNDS;
}

void work_cost(uint64_t until_ns)
{
	(void)until_ns;
	ktrace_control("cost.off=off");
	kprintf("cost: clock %lu ps, event off %lu ps, one slot %lu ps, three slots %lu ps\n",
		measure(read_clock), measure(record_off), measure(record_small), measure(record_large));
}
