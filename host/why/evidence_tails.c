/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Locks that the kernel takes at the end of an interrupt. Many kernels report that the handler has returned,
 * and then let the scheduler preempt the interrupted thread, or look for its signals. The locks that they
 * take there are recorded with the context of the thread, but the thread has done nothing.
 *
 * A tail is a sequence of events of a CPU. It begins after the end of a handler, or after a switch from a
 * thread that stays runnable: the new thread may put the old one into the run queue. It contains only events
 * about locks, and each lock is taken only once. If a lock is taken again, the thread itself runs.
 */
#include "why/evidence_state.h"

/*
 * minimum number of tails of interrupts that took the lock and ended with the preemption of the thread, so
 * that the lock counts as the scheduler's
 */
#define PREEMPTIONS 8u

static struct why_run_lock *run_lock(struct why_reader *reader, uint64_t lock)
{
	for (uint32_t n = 0; n < WHY_RUN_LOCKS; n++)
		if (reader->run_lock[n].preemptions && reader->run_lock[n].lock == lock)
			return &reader->run_lock[n];
	return NULL;
}

/*
 * Counts a preemption for the lock. The table contains the locks with most preemptions: if it is full, a new
 * lock takes 1 from the count of each lock.
 */
static void count_preemption(struct why_reader *reader, uint64_t lock)
{
	struct why_run_lock *known = run_lock(reader, lock);

	for (uint32_t n = 0; n < WHY_RUN_LOCKS && !known; n++)
		if (reader->run_lock[n].preemptions == 0) {
			known = &reader->run_lock[n];
			known->lock = lock;
		}
	if (known) {
		known->preemptions++;
		return;
	}
	for (uint32_t n = 0; n < WHY_RUN_LOCKS; n++)
		reader->run_lock[n].preemptions--;
}

static bool is_preemption(const struct ktread_event *event, const struct wellknown *known)
{
	uint64_t state;

	return wellknown_number(known, event, WELLKNOWN_STATE, &state) && state == WELLKNOWN_STATE_RUNNABLE;
}

static void on_switch(struct why_reader *reader, struct why_tail *tail, const struct ktread_event *event,
		      const struct wellknown *known)
{
	const bool preempts = is_preemption(event, known);

	for (uint32_t n = 0; tail->open && tail->of_interrupt && preempts && n < tail->locks; n++)
		count_preemption(reader, tail->lock[n]);
	*tail = (struct why_tail){ .open = preempts };
}

/* Adds a lock event to the tail. Closes the tail if the lock was taken before in this tail. */
static void add(struct why_tail *tail, enum wellknown_kind kind, uint64_t lock)
{
	uint32_t at = 0;

	while (at < tail->locks && tail->lock[at] != lock)
		at++;
	if (kind == WELLKNOWN_LOCK_RELEASE)
		tail->open = at < tail->locks;
	else if (at < tail->locks || at == WHY_TAIL_LOCKS)
		tail->open = false;
	else if (kind == WELLKNOWN_LOCK_ACQUIRE)
		tail->lock[tail->locks++] = lock;
}

enum why_actor_kind why_tail_event(struct why_reader *reader, const struct ktread_event *event,
				   const struct wellknown *known)
{
	const struct why_run_lock *scheduler;
	struct why_irqs_open *open;
	uint64_t lock;

	if (event->cpu >= reader->evidence->cpus)
		return WHY_ACTS_THREAD;
	open = &reader->open[event->cpu];
	switch (known->kind) {
	case WELLKNOWN_SWITCH:
		on_switch(reader, &open->tail, event, known);
		return WHY_ACTS_THREAD;
	case WELLKNOWN_IRQ_EXIT:
		open->tail = (struct why_tail){ .open = open->depth == 0, .of_interrupt = true };
		return WHY_ACTS_THREAD;
	case WELLKNOWN_IRQ_EOI: /* some kernels end the interrupt at the controller after this */
		return WHY_ACTS_THREAD;
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
	case WELLKNOWN_LOCK_RELEASE:
		break;
	default:
		open->tail.open = false;
		return WHY_ACTS_THREAD;
	}
	if (!open->tail.open || !wellknown_number(known, event, WELLKNOWN_OBJECT, &lock))
		return WHY_ACTS_THREAD;
	add(&open->tail, known->kind, lock);
	scheduler = run_lock(reader, lock);
	if (!open->tail.open)
		return WHY_ACTS_THREAD;
	return scheduler && scheduler->preemptions >= PREEMPTIONS ? WHY_ACTS_SCHEDULER : WHY_ACTS_EITHER;
}
