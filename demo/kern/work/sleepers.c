/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads sleep for different times; no thread may wake up too early. Each thread is pinned, so the sleep
 * is timed and measured with the counter of the same CPU. Under a hypervisor, a virtual CPU may move
 * between processors whose counters differ, so that its time steps back. Therefore, if a wakeup is early
 * by less than a tick, it is only counted and reported.
 */
#include "clock.h"
#include "panic.h"
#include "print.h"
#include "timer.h"
#include "work.h"

#define SLEEPERS 4

#define STEP_MAX_NS (NS_PER_S / TICK_HZ)

static uint64_t naps, short_naps;

static void check_nap(uint64_t slept_ns, uint64_t nap_ns)
{
	__atomic_fetch_add(&naps, 1, __ATOMIC_RELAXED);
	if (slept_ns >= nap_ns)
		return;
	if (nap_ns - slept_ns >= STEP_MAX_NS)
		panic("sleepers: woken %lu ns too early", nap_ns - slept_ns);
	__atomic_fetch_add(&short_naps, 1, __ATOMIC_RELAXED);
}

static void sleeper(unsigned n, uint64_t until_ns)
{
	uint64_t nap_ns = (n + 1) * 7 * NS_PER_MS;

	do {
		uint64_t begin = clock_ns();

		timer_sleep(nap_ns);
		check_nap(clock_ns() - begin, nap_ns);
	} while (!work_over(until_ns));
}

void work_sleepers(uint64_t until_ns)
{
	work_crew("sleepers", SLEEPERS, sleeper, until_ns);
	kprintf("sleepers: %lu naps, %lu too short\n", naps, short_naps);
}
