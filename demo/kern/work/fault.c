/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Page faults: each CPU accesses a part of the window that only it uses, and all CPUs access a shared part.
 */
#include "clock.h"
#include "cpu.h"
#include "panic.h"
#include "print.h"
#include "timer.h"
#include "window.h"
#include "work.h"

#define STRETCH 16 /* number of pages in the shared part and in each CPU's part */

static uint64_t walks;

static void walk_own(unsigned n)
{
	size_t first = (n + 1) * STRETCH;

	for (size_t i = 0; i < STRETCH; i++) {
		volatile uint64_t *word = (uint64_t *)window_address(first + i);

		if (*word != 0)
			panic("fault: page %lu is not fresh", first + i);
		*word = first + i;
	}
	for (size_t i = 0; i < STRETCH; i++) {
		volatile uint64_t *word = (uint64_t *)window_address(first + i);

		if (*word != first + i)
			panic("fault: page %lu holds %lu", first + i, *word);
	}
	window_drop(first, STRETCH);
}

/*
 * Increments a word in each shared page. If two CPUs first access a page at the same time, both increments
 * must be counted.
 */
static void walk_shared(void)
{
	for (size_t i = 0; i < STRETCH; i++)
		__atomic_fetch_add((uint64_t *)window_address(i), 1, __ATOMIC_RELAXED);
}

static void walker(unsigned n, uint64_t until_ns)
{
	do {
		walk_shared();
		walk_own(n);
		__atomic_fetch_add(&walks, 1, __ATOMIC_RELAXED);
		timer_sleep(40 * NS_PER_MS);
	} while (!work_over(until_ns));
}

void work_fault(uint64_t until_ns)
{
	walks = 0;
	work_crew("fault", cpu_count, walker, until_ns);
	for (size_t i = 0; i < STRETCH; i++)
		if (*(uint64_t *)window_address(i) != walks)
			panic("fault: shared page %lu was replaced", i);
	window_drop(0, STRETCH);
	kprintf("fault: %lu walks\n", walks);
}
