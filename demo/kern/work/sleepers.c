/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Threads sleep for different times; none may wake too early. */
#include "clock.h"
#include "panic.h"
#include "print.h"
#include "timer.h"
#include "work.h"

#define SLEEPERS 4

static uint64_t naps;

static void sleeper(unsigned n, uint64_t until_ns)
{
	uint64_t nap_ns = (n + 1) * 7 * NS_PER_MS;

	while (!work_over(until_ns)) {
		uint64_t begin = clock_ns();

		timer_sleep(nap_ns);
		if (clock_ns() - begin < nap_ns)
			panic("sleepers: woken %lu ns too early", nap_ns - (clock_ns() - begin));
		__atomic_fetch_add(&naps, 1, __ATOMIC_RELAXED);
	}
}

void work_sleepers(uint64_t until_ns)
{
	work_crew("sleepers", SLEEPERS, sleeper, until_ns);
	kprintf("sleepers: %lu naps\n", naps);
}
