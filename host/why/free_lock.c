/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Locks that are free, although a thread waits for them. */
#include "why/graph.h"
#include "why/pulse.h"
#include "why/untimed.h"

#define RELEASED_MS 2000u /* minimum time in ms for which a thread has waited for a lock that was released */
#define UNHELD_MS   5000u /* the same, for a lock whose holder the kernel did not name */

static bool has_row(const struct why_evidence *evidence, uint32_t owner)
{
	const struct why_thread *thread = why_thread_find(evidence, owner - 1);
	const uint32_t cpu = owner & ~KTRX_HOLDER_CPU;

	if (owner & KTRX_HOLDER_CPU)
		return cpu < evidence->cpus && evidence->cpu[cpu].has_holder;
	return thread && thread->has_holder;
}

static bool events_show_holder(const struct why_evidence *evidence, uint64_t lock)
{
	for (uint32_t n = 0; n < evidence->holds; n++)
		if (evidence->hold[n].lock == lock)
			return true;
	return false;
}

/*
 * Returns whether events show that the lock is free: it was taken before the wait began, was released, and
 * has not been taken since, as far as all events of the lock are in the trace.
 */
static bool was_released(const struct why_evidence *evidence, const struct why_untimed *untimed)
{
	const uint64_t key[KEYED_WORDS] = { untimed->object };
	const struct keyed_entry *lasted = keyed_find(&evidence->lasted, key);

	return !untimed->held && lasted && !lasted->known && lasted->time < untimed->since &&
	       why_is_whole_since(evidence, lasted->time) &&
	       scheduling_covers(evidence->scheduling, WELLKNOWN_LOCK_ACQUIRE, lasted->time, evidence->end) &&
	       scheduling_covers(evidence->scheduling, WELLKNOWN_LOCK_RELEASE, lasted->time, evidence->end) &&
	       !events_show_holder(evidence, untimed->object);
}

/* Returns whether the row may contain the lock: it names the lock, or the holder has more locks than fit. */
static bool may_hold(const struct ktrx_holder *row, uint64_t lock)
{
	for (uint32_t n = 0; n < KTRX_HELD; n++)
		if (n < row->held_count && (row->held[n].object == lock || row->held[n].object == 0))
			return true;
	return row->held_count > KTRX_HELD;
}

/*
 * Returns whether no row of the kernel's table contains the lock, and rows of threads contain other locks: so
 * the kernel reports the locks that threads take, except locks of programs.
 */
static bool nobody_holds(const struct why_evidence *evidence, uint64_t lock)
{
	bool named = false;

	if (why_is_far(evidence, lock))
		return false;

	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];

		if (thread->has_holder && may_hold(&thread->holder, lock))
			return false;
		named |= thread->has_holder && thread->holder.held_count;
	}
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].has_holder && may_hold(&evidence->cpu[n].holder, lock))
			return false;
	return named && !events_show_holder(evidence, lock);
}

enum why_free why_lock_is_free(const struct why_evidence *evidence, const struct why_untimed *untimed,
			       uint64_t ticks)
{
	const struct ktrx_holder *row = &untimed->thread->holder;

	if (!untimed->by_table || row->state != KTRX_THREAD_WAITING || !why_tables_show_locks(evidence) ||
	    evidence->left_out)
		return WHY_FREE_UNKNOWN;
	if (row->owner)
		return has_row(evidence, row->owner) &&
				       (untimed->owner == 0 || was_released(evidence, untimed)) &&
				       ticks >= why_ms(evidence, RELEASED_MS)
			       ? WHY_FREE_RELEASED
			       : WHY_FREE_UNKNOWN;
	return untimed->owner == 0 && ticks >= why_ms(evidence, UNHELD_MS) &&
			       nobody_holds(evidence, untimed->object)
		       ? WHY_FREE_UNHELD
		       : WHY_FREE_UNKNOWN;
}
