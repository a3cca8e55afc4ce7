/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Each CPU repeatedly calls a function on all CPUs. When a call returns, the function must have run on each
 * CPU.
 */
#include "clock.h"
#include "cpu.h"
#include "ipi.h"
#include "panic.h"
#include "print.h"
#include "timer.h"
#include "work.h"

#define BURST 2

static uint64_t calls;

static void count(void *counter)
{
	__atomic_fetch_add((unsigned *)counter, 1, __ATOMIC_RELAXED);
}

static void caller(unsigned n, uint64_t until_ns)
{
	(void)n;
	do {
		unsigned answers = 0;

		for (int i = 0; i < BURST; i++)
			ipi_call_all(count, &answers);
		if (answers != BURST * cpu_count)
			panic("ipi: %u answers to %u calls", answers, BURST);
		__atomic_fetch_add(&calls, BURST, __ATOMIC_RELAXED);
		timer_sleep(40 * NS_PER_MS);
	} while (!work_over(until_ns));
}

void work_ipi(uint64_t until_ns)
{
	work_crew("ipi", cpu_count, caller, until_ns);
	kprintf("ipi: %lu calls\n", calls);
}
