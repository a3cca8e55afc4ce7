/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "arch.h"
#include "args.h"
#include "clock.h"
#include "cpu.h"
#include "file.h"
#include "sched.h"
#include "thread.h"
#include "timer.h"

static bool tickless;

void timer_init(void)
{
	tickless = arg_number("tickless", 0) != 0;
}

void timer_run(void)
{
	struct cpu *self = arch_this_cpu();

	if (self->ticks)
		return;
	__atomic_store_n(&self->ticks, true, __ATOMIC_RELAXED);
	arch_timer_start();
}

void timer_pause(void)
{
	struct cpu *self = arch_this_cpu();

	if (!tickless || !self->ticks || self->id == 0 ||
	    __atomic_load_n(&self->timers.first, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&self->ticks, false, __ATOMIC_RELAXED);
	arch_timer_stop();
}

bool timer_is_paused(const struct cpu *cpu)
{
	return !__atomic_load_n(&cpu->ticks, __ATOMIC_RELAXED);
}

void timer_start(struct timer *timer, uint64_t wake_ns)
{
	struct cpu *cpu = arch_this_cpu();
	struct timer **at = &cpu->timers.first;

	timer->cpu = cpu;
	timer->thread = cpu->current;
	timer->wake_ns = wake_ns;
	spin_lock(&cpu->timers.lock);
	while (*at && (*at)->wake_ns <= wake_ns)
		at = &(*at)->next;
	timer->next = *at;
	*at = timer;
	spin_unlock(&cpu->timers.lock, false);
}

void timer_cancel(struct timer *timer)
{
	struct timer_list *timers = &timer->cpu->timers;
	bool irq_on = spin_lock(&timers->lock);

	for (struct timer **at = &timers->first; *at; at = &(*at)->next) {
		if (*at != timer)
			continue;
		*at = timer->next;
		break;
	}
	spin_unlock(&timers->lock, irq_on);
}

void timer_sleep(uint64_t ns)
{
	bool irq_on = arch_irq_save();
	const struct sleep sleep = {
		.object = &arch_this_cpu()->timers,
		.name = "timer",
		.kind = KTRX_WAIT_TIME,
		.deadline_ns = clock_ns() + ns,
		.place = KTRACE_RETURN_ADDRESS,
		.how = THREAD_BLOCKED,
	};
	struct timer timer;

	sched_block(&sleep);
	timer_start(&timer, sleep.deadline_ns);
	schedule();
	timer_cancel(&timer);
	arch_irq_restore(irq_on);
}

static void end_sleeps(struct timer_list *timers)
{
	uint64_t now = clock_ns();

	if (!__atomic_load_n(&timers->first, __ATOMIC_RELAXED))
		return;
	spin_lock(&timers->lock);
	while (timers->first && timers->first->wake_ns <= now) {
		struct thread *thread = timers->first->thread;

		timers->first = timers->first->next;
		sched_end_sleep(thread, WOKEN_BY_TIME);
	}
	spin_unlock(&timers->lock, false);
}

void timer_tick(void)
{
	struct cpu *self = arch_this_cpu();

	end_sleeps(&self->timers);
	if (self->id == 0)
		console_tick();
	sched_tick();
}
