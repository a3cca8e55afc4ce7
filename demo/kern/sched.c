/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A thread may be in a run queue although a CPU still uses its stack: if the thread was preempted, or was
 * woken after it decided to block, but before the switch to the next thread is complete. The CPU that uses
 * the stack takes the thread only after this switch. Other CPUs do not take a thread whose on_cpu is set.
 */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "clock.h"
#include "cpu.h"
#include "hardware_trace.h"
#include "ipi.h"
#include "probes.h"
#include "process.h"
#include "sched.h"
#include "thread.h"
#include "timer.h"
#include "user.h"

/* Inserts a thread into a run queue, after all threads that have the same or a higher priority. */
static void queue_put(struct run_queue *queue, struct thread *thread)
{
	struct thread **at = &queue->first;

	if (queue->last && queue->last->priority >= thread->priority)
		at = &queue->last->next;
	while (*at && (*at)->priority >= thread->priority)
		at = &(*at)->next;
	thread->next = *at;
	*at = thread;
	if (!thread->next)
		queue->last = thread;
	queue->length++;
}

/*
 * Removes and returns the first thread of a run queue. If another CPU steals from the queue (`stealing`),
 * takes the first thread that may move to another CPU. Returns NULL if there is none.
 */
static struct thread *queue_take(struct run_queue *queue, bool stealing)
{
	struct thread *before = NULL;

	for (struct thread *t = queue->first; t; before = t, t = t->next) {
		if (stealing && (t->pinned || __atomic_load_n(&t->on_cpu, __ATOMIC_ACQUIRE)))
			continue;
		if (before)
			before->next = t->next;
		else
			queue->first = t->next;
		if (queue->last == t)
			queue->last = before;
		queue->length--;
		return t;
	}
	return NULL;
}

static struct thread *steal(struct cpu *self)
{
	for (unsigned i = 1; i < cpu_count; i++) {
		struct run_queue *queue = &cpus[(self->id + i) % cpu_count].queue;
		struct thread *thread;

		if (__atomic_load_n(&queue->length, __ATOMIC_RELAXED) == 0)
			continue;
		spin_lock(&queue->lock);
		thread = queue_take(queue, true);
		spin_unlock(&queue->lock, false);
		if (thread)
			return thread;
	}
	return NULL;
}

static struct thread *pick_next(struct cpu *self, struct thread *running)
{
	struct thread *next;

	spin_lock(&self->queue.lock);
	if (running->state == THREAD_RUNNING) {
		running->state = THREAD_RUNNABLE;
		if (running != self->idle)
			queue_put(&self->queue, running);
	}
	next = queue_take(&self->queue, false);
	spin_unlock(&self->queue.lock, false);

	if (!next)
		next = steal(self);
	return next ? next : self->idle;
}

/*
 * Records in the process trace that the thread leaves its CPU (`out` is 1) or runs again (0). The record
 * shows whether the thread waits for something, that is, whether the switch is voluntary.
 */
static void trace_switch(struct thread *thread, int out)
{
	if (thread->process)
		ktrace_proc_csw(&thread->process->trace, &thread->trace, out, thread->waits_by_name != NULL,
				thread->waits_by_name);
}

void schedule(void)
{
	struct cpu *self = arch_this_cpu();
	struct thread *previous = self->current;
	struct thread *next;
	uint64_t now = clock_ns();
	uintptr_t place = KTRACE_RETURN_ADDRESS;

	thread_check_stack(previous, place);
	next = pick_next(self, previous);
	self->need_resched = false;
	next->state = THREAD_RUNNING;
	next->cpu = self;
	ktrace_switch(previous->id, next->id, previous->state, now - previous->started_ns);
	if (next == previous) {
		previous->waits_by_name = NULL;
		return;
	}

	trace_switch(previous, 1);
	if (next != self->idle)
		timer_run();
	next->started_ns = now;
	next->on_cpu = true;
	self->current = next;
	self->trace_context = next->id;
	ktrace_mode(next == self->idle ? KTRX_MODE_IDLE : KTRX_MODE_KERNEL);
	self->previous = previous;
	ktrace_hwt_switch_out(&previous->hardware_trace);
	if (previous->space || next->space)
		thread_enter_space(next, next->space);
	hardware_trace_switch(next);
	ktrace_hwt_switch_in(&next->hardware_trace);
	arch_switch(&previous->sp, next->sp);
	/* This thread had interrupts off at the call, but the CPU's previous thread may have had them on. */
	ktrace_interrupts_at(0, place);
	sched_switch_done();
	trace_switch(previous, 0); /* here the thread runs again after its switch */
	previous->waits_by_name = NULL;
}

void sched_yield(void)
{
	bool irq_on = arch_irq_save();

	schedule();
	arch_irq_restore(irq_on);
}

void sched_switch_done(void)
{
	struct thread *previous = arch_this_cpu()->previous;

	if (previous->state == THREAD_DEAD)
		thread_free(previous);
	else
		__atomic_store_n(&previous->on_cpu, false, __ATOMIC_RELEASE);
}

void sched_block(const struct sleep *sleep)
{
	struct thread *self = arch_this_cpu()->current;
	uint64_t deadline = sleep->deadline_ns == WAIT_FOR_EVER ? 0 : clock_ticks(sleep->deadline_ns);

	ktrace_block_at(sleep->kind == KTRX_WAIT_THREAD ? (void *)(uintptr_t)sleep->thread : sleep->object,
			sleep->name, sleep->kind, deadline, sleep->place);
	self->waits_for = sleep->object;
	self->waits_by_name = sleep->name ? sleep->name : "";
	self->state = sleep->how;
	__atomic_store_n(&self->asleep, sleep->how, __ATOMIC_SEQ_CST);
}

static bool is_idle(const struct cpu *cpu)
{
	return __atomic_load_n(&cpu->current, __ATOMIC_RELAXED) == cpu->idle;
}

/*
 * Makes a CPU notice that a thread was queued on `target`. If `target` is busy and the thread is not pinned,
 * wakes an idle CPU to take the thread. The fences here and in sched_idle prevent a lost wakeup: a CPU that
 * becomes idle first makes that visible, and then checks its queue again.
 */
static void nudge(struct cpu *target, bool pinned)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!is_idle(target) && !pinned) {
		for (unsigned i = 0; i < cpu_count; i++) {
			if (is_idle(&cpus[i])) {
				target = &cpus[i];
				break;
			}
		}
	}
	if (target == arch_this_cpu())
		target->need_resched = true;
	else if (is_idle(target))
		ipi_send(target, IPI_RESCHEDULE);
}

void sched_wake(struct thread *thread)
{
	struct cpu *target = thread->cpu;
	bool irq_on = spin_lock(&target->queue.lock), pinned = thread->pinned;

	ktrace_wake(thread->id, (uint8_t)target->id, thread->waits_for);
	thread->waits_for = NULL;
	thread->state = THREAD_RUNNABLE;
	queue_put(&target->queue, thread);
	spin_unlock(&target->queue.lock, false);
	nudge(target, pinned); /* does not access the woken thread, which may already have run and ended */
	arch_irq_restore(irq_on);
}

bool sched_end_sleep(struct thread *thread, enum wake_reason reason)
{
	uint32_t asleep = __atomic_load_n(&thread->asleep, __ATOMIC_SEQ_CST);

	if (!asleep || (reason == WOKEN_BY_SIGNAL && asleep != THREAD_SLEEPING))
		return false;
	if (!__atomic_compare_exchange_n(&thread->asleep, &asleep, 0, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return false;
	thread->woken_by = reason;
	sched_wake(thread);
	return true;
}

static bool may_be_moved_from(struct run_queue *queue)
{
	struct thread *thread;
	bool irq_on = spin_lock(&queue->lock);

	for (thread = queue->first; thread && thread->pinned;)
		thread = thread->next;
	spin_unlock(&queue->lock, irq_on);
	return thread;
}

/*
 * Returns an idle CPU whose timer tick is stopped, or NULL. Such a CPU must be woken before it takes threads
 * from other CPUs.
 */
static struct cpu *find_paused(void)
{
	for (unsigned i = 0; i < cpu_count; i++)
		if (is_idle(&cpus[i]) && timer_is_paused(&cpus[i]))
			return &cpus[i];
	return NULL;
}

void sched_tick(void)
{
	struct cpu *self = arch_this_cpu(), *paused;
	bool idle = is_idle(self), waited_for = __atomic_load_n(&self->queue.length, __ATOMIC_RELAXED) > 0;

	if (idle || waited_for)
		self->need_resched = true;
	if (idle || !waited_for)
		return;
	paused = find_paused();
	if (paused && may_be_moved_from(&self->queue))
		ipi_send(paused, IPI_RESCHEDULE);
}

void sched_idle(void)
{
	ktrace_mode(KTRX_MODE_IDLE);
	for (;;) {
		schedule();
		probes_run();
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (__atomic_load_n(&arch_this_cpu()->queue.length, __ATOMIC_RELAXED) == 0) {
			timer_pause();
			ktrace_interrupts(1);
			arch_idle();
			ktrace_interrupts(0);
		}
	}
}
