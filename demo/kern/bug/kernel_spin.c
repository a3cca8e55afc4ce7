/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A driver spins until its device answers, but the device never answers. Interrupts stay on. */
#include "arch.h"
#include "bug/bug.h"
#include "clock.h"
#include "cpu.h"
#include "thread.h"
#include "timer.h"

#define READY 1u

static volatile uint32_t status; /* simulated status register of the device */

/* The mistake: the wait has no timeout. */
static void wait_until_ready(void)
{
	while (!(status & READY))
		arch_relax();
}

static void driver(void *unused)
{
	(void)unused;
	timer_sleep(100 * NS_PER_MS);
	wait_until_ready();
}

void bug_kernel_spin(uint64_t until_ns)
{
	(void)until_ns;
	thread_create("driver", driver, NULL, (int)cpu_count - 1);
	for (;;)
		timer_sleep(NS_PER_S);
}
