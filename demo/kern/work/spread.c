/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * As many threads as CPUs start on the last CPU and never sleep. Each CPU must eventually run one of them.
 * The threads are pinned until they run for the first time, so that creating them does not yet move them
 * to idle CPUs. Only the scheduler's tick can distribute them.
 */
#include "arch.h"
#include "clock.h"
#include "cpu.h"
#include "panic.h"
#include "thread.h"
#include "timer.h"
#include "wait.h"
#include "work.h"

#define TIMEOUT_NS (20 * NS_PER_S)

static uint32_t reached; /* bit n is set if CPU n has run one of the threads; accessed atomically */

static bool is_everywhere(void)
{
	return __atomic_load_n(&reached, __ATOMIC_RELAXED) == (1u << cpu_count) - 1;
}

static void mark_cpu(void)
{
	bool irq_on = arch_irq_save();

	__atomic_fetch_or(&reached, 1u << arch_this_cpu()->id, __ATOMIC_RELAXED);
	arch_irq_restore(irq_on);
}

static void member(void *done)
{
	thread_self()->pinned = false;
	while (!is_everywhere()) {
		mark_cpu();
		arch_relax();
	}
	latch_count_down(done);
}

void work_spread(uint64_t until_ns)
{
	struct latch done = LATCH("spread", cpu_count);
	uint64_t end = clock_ns() + TIMEOUT_NS;

	(void)until_ns;
	reached = 0;
	thread_self()->pinned = true;
	for (unsigned n = 0; n < cpu_count; n++)
		thread_create("spread", member, &done, (int)cpu_count - 1);
	while (!is_everywhere()) {
		if (clock_ns() > end)
			panic("spread: only CPUs %#x were reached",
			      __atomic_load_n(&reached, __ATOMIC_RELAXED));
		timer_sleep(10 * NS_PER_MS);
	}
	latch_wait(&done);
	thread_self()->pinned = false;
}
