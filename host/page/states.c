/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "page/pass.h"

static const uint8_t class_of[] = {
	[THREADS_UNKNOWN] = PAGE_CLASS_UNKNOWN,	  [THREADS_RUNNING] = PAGE_CLASS_RUNNING,
	[THREADS_RUNNABLE] = PAGE_CLASS_RUNNABLE, [THREADS_SLEEPING] = PAGE_CLASS_SLEEPING,
	[THREADS_WAITING] = PAGE_CLASS_BLOCKED,	  [THREADS_STOPPED] = PAGE_CLASS_STOPPED,
	[THREADS_DEAD] = PAGE_CLASS_DEAD,
};

/*
 * Adds the slice of a state that ends at `end`. If slots are missing during the state, or if events were
 * disabled, the slice ends at the last time at which the state is certain. `cpu`: the CPU of a running
 * thread, otherwise GAPS_ANYWHERE. Returns whether the state certainly ended at `end`.
 */
static bool add_state(struct page_pass *pass, const struct page_begun *state, uint32_t lane, uint32_t cpu,
		      uint64_t end, unsigned flags)
{
	struct page *page = pass->page;
	uint64_t gap;

	if (!gaps_state_lasts(page->gaps, page->scheduling, cpu != GAPS_ANYWHERE, cpu, state->begin, end)) {
		flags |= PAGE_SLICE_END_UNKNOWN;
		gap = gaps_first(page->gaps, cpu, state->begin, end);
		end = gap < end ? gap : state->begin;
	}
	page_slice_end(pass, state, lane - 1, PAGE_ROW_STATE, 0, end, flags);
	return (flags & PAGE_SLICE_END_UNKNOWN) == 0;
}

static struct page_begun begin(const struct page_pass *pass, uint64_t stamp, unsigned class, uint32_t other)
{
	return (struct page_begun){ .begin = stamp,
				    .slot = pass->event->index,
				    .ring = pass->event->ring,
				    .other = other,
				    .class = (uint8_t) class };
}

static void end_running(struct page_pass *pass, uint32_t cpu, uint64_t stamp, unsigned flags)
{
	struct page_owner *owner = page_owner_cpu(pass, cpu);

	if (!owner || owner->state == 0)
		return;
	owner->state = 0;
	add_state(pass, &owner->current, owner->lane, cpu, stamp, flags);
}

/* Ends the CPU's slice of a thread that ran there, and begins one for a thread that runs there now. */
static void change_cpu(struct page_pass *pass, const struct threads_change *change, uint32_t lane, bool idle)
{
	const uint32_t thread = change->thread->index + 1;
	struct page_owner *owner = page_owner_cpu(pass, change->cpu);

	if (!owner)
		return;
	if (change->thread->state != THREADS_RUNNING) {
		if (owner->state == thread)
			end_running(pass, change->cpu, change->time,
				    change->thread->state == THREADS_UNKNOWN ? PAGE_SLICE_END_UNKNOWN : 0);
		return;
	}
	end_running(pass, change->cpu, change->time, PAGE_SLICE_END_UNKNOWN);
	owner->state = thread;
	owner->current = begin(pass, change->time, idle ? PAGE_CLASS_IDLE : PAGE_CLASS_RUNNING, lane);
}

/*
 * Ends the state of a thread; `next` is the following state. If `next` is THREADS_UNKNOWN, it is uncertain
 * when the state ended.
 */
static void end_state(struct page_pass *pass, struct page_owner *owner, uint64_t stamp,
		      enum threads_state next)
{
	const uint32_t cpu = owner->state == THREADS_RUNNING ? owner->cpu : GAPS_ANYWHERE;
	bool certain;

	if (owner->state == THREADS_UNKNOWN)
		return;
	certain = add_state(pass, &owner->current, owner->lane, cpu, stamp,
			    next == THREADS_UNKNOWN ? PAGE_SLICE_END_UNKNOWN : 0);
	owner->state = THREADS_UNKNOWN;
	if (owner->woken.other == 0)
		return;
	page_arrow_end(pass, &owner->woken, owner->lane - 1, PAGE_ARROW_WAKE,
		       certain && next == THREADS_RUNNING && stamp > owner->woken.begin
			       ? stamp - owner->woken.begin
			       : 0);
	owner->woken.other = 0;
}

/*
 * Returns the class of a state. An idle thread that does not run does not wait for a CPU, so it is shown as
 * sleeping.
 */
static unsigned class_of_thread(const struct page_owner *owner, unsigned state)
{
	if (!owner->idle)
		return class_of[state];
	return state == THREADS_RUNNING	   ? PAGE_CLASS_IDLE
	       : state == THREADS_RUNNABLE ? PAGE_CLASS_SLEEPING
					   : class_of[state];
}

void page_thread_changed(void *context, const struct threads_change *change)
{
	struct page_pass *pass = context;
	const struct threads_thread *thread = change->thread;
	struct page_owner *owner, *cpu;

	/* Thread 0 is the idle thread of all CPUs at the same time, so it has no lane and no states. */
	if (thread->id == 0) {
		change_cpu(pass, change, 0, true);
		return;
	}
	/* end the state before the thread's new life gets another lane */
	if (thread->index < pass->of_threads.room)
		end_state(pass, &pass->of_threads.owner[thread->index], change->time,
			  (enum threads_state)thread->state);
	owner = page_owner_thread(pass, thread);
	if (owner && !change->woken)
		change_cpu(pass, change, owner->lane, owner->idle);
	if (!owner || thread->state == THREADS_UNKNOWN)
		return;
	cpu = thread->state == THREADS_RUNNING ? page_owner_cpu(pass, change->cpu) : NULL;
	owner->state = thread->state;
	owner->cpu = change->cpu;
	owner->current =
		begin(pass, change->time, class_of_thread(owner, thread->state), cpu ? cpu->lane : 0);
	if (change->woken)
		owner->woken = begin(pass, change->time, 0, page_lane_of(pass, pass->event));
}

void page_states_end(struct page_pass *pass)
{
	for (uint32_t n = 0; n < pass->of_threads.room; n++)
		end_state(pass, &pass->of_threads.owner[n], pass->last, THREADS_UNKNOWN);
	for (uint32_t cpu = 0; cpu < pass->cpus.room && cpu < THREADS_CPUS_MAX; cpu++)
		if (pass->cpus.owner[cpu].state)
			end_running(pass, cpu, pass->last, PAGE_SLICE_END_UNKNOWN);
}
