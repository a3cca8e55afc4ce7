/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * All CPUs contend for one spinlock, in bursts. The lock guards a counter, which must be correct at the end.
 */
#include "clock.h"
#include "cpu.h"
#include "panic.h"
#include "print.h"
#include "spinlock.h"
#include "timer.h"
#include "work.h"

#define BURST 200

static struct spinlock prize = SPINLOCK("prize");
static uint64_t guarded; /* incremented under the lock, without atomic instructions */
static uint64_t counted; /* atomic */

static void fighter(unsigned n, uint64_t until_ns)
{
	(void)n;
	do {
		for (int i = 0; i < BURST; i++) {
			bool irq_on = spin_lock(&prize);

			guarded++;
			spin_unlock(&prize, irq_on);
		}
		__atomic_fetch_add(&counted, BURST, __ATOMIC_RELAXED);
		timer_sleep(5 * NS_PER_MS);
	} while (!work_over(until_ns));
}

void work_spin(uint64_t until_ns)
{
	work_crew("spin", cpu_count, fighter, until_ns);
	if (guarded != counted)
		panic("spin: %lu of %lu increments were lost", counted - guarded, counted);
	kprintf("spin: %lu rounds\n", counted);
}
