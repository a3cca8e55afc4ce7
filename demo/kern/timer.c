/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "arch.h"
#include "clock.h"
#include "cpu.h"
#include "sched.h"
#include "thread.h"
#include "timer.h"

void timer_sleep(uint64_t ns)
{
	bool irq_on = arch_irq_save();
	struct cpu *cpu = arch_this_cpu();
	struct thread *self = cpu->current;
	struct thread **at = &cpu->sleepers;

	self->wake_ns = clock_ns() + ns;
	sched_block(&cpu->sleepers);
	while (*at && (*at)->wake_ns <= self->wake_ns)
		at = &(*at)->next;
	self->next = *at;
	*at = self;
	schedule();
	arch_irq_restore(irq_on);
}

static void wake_sleepers(struct cpu *cpu)
{
	uint64_t now = clock_ns();

	while (cpu->sleepers && cpu->sleepers->wake_ns <= now) {
		struct thread *thread = cpu->sleepers;

		cpu->sleepers = thread->next;
		sched_wake(thread);
	}
}

void timer_tick(void)
{
	wake_sleepers(arch_this_cpu());
	sched_tick();
}
