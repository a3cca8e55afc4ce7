/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Locks by their events: who holds them, who waits for them, and in which order they are taken. Slots that
 * are missing, on whichever CPU, may have held a release: then all that was held is forgotten.
 */
#include <stdlib.h>
#include <string.h>

#include "ktrx/slot.h"
#include "why/evidence_state.h"

void why_thread_void_old(struct why_reader *reader, uint32_t index)
{
	struct why_progress *progress = &reader->progress[index];
	struct why_thread *thread = &reader->evidence->thread[index];

	if (progress->gaps == reader->gaps)
		return;
	progress->gaps = reader->gaps;
	progress->held_count = 0;
	thread->contends = 0;
	thread->in_syscall = false;
	thread->repeats = thread->fault_repeats = thread->fault_nest.count = 0;
	thread->repeats_cut = true;
	thread->tries.count = 0;
}

static struct why_progress *progress_of(struct why_reader *reader, uint32_t id)
{
	const struct why_thread *thread = why_thread_find(reader->evidence, id);
	uint32_t index;

	if (!thread)
		return NULL;
	index = (uint32_t)(thread - reader->evidence->thread);
	why_thread_void_old(reader, index);
	return &reader->progress[index];
}

static void forget_held(struct why_progress *progress, uint64_t lock)
{
	for (uint32_t n = 0; n < progress->held_count; n++) {
		if (progress->held[n] != lock)
			continue;
		memmove(&progress->held[n], &progress->held[n + 1],
			(--progress->held_count - n) * sizeof(progress->held[0]));
		return;
	}
}

/* By whoever: a scheduler's lock is given up by another thread than took it. */
static void drop(struct why_reader *reader, uint64_t lock)
{
	const uint64_t key[KEYED_WORDS] = { lock };
	struct keyed_entry *entry = keyed_find(&reader->holds, key);
	struct why_progress *holder = entry ? progress_of(reader, entry->thread) : NULL;

	if (holder)
		forget_held(holder, lock);
	if (entry)
		keyed_remove(&reader->holds, entry);
}

/*
 * Where a lock was taken: what the event says itself, for that it was recorded in a function that all call
 * says little.
 */
static uint64_t place_of(const struct ktread_event *event, const struct wellknown *known)
{
	uint64_t place;

	if (wellknown_number(known, event, WELLKNOWN_PLACE, &place))
		return place;
	return event->callers ? event->caller[0] : event->site;
}

static int new_order(struct why_reader *reader, struct keyed_entry *entry)
{
	struct why_evidence *evidence = reader->evidence;
	struct why_order *order = why_one_more(evidence->order, evidence->orders, sizeof(*order));

	if (!order)
		return KTREAD_E_MEMORY;
	evidence->order = order;
	order[evidence->orders] = (struct why_order){ .first = entry->key[0], .then = entry->key[1] };
	entry->known = true;
	entry->count = evidence->orders++;
	return 0;
}

/* Keeps of `outer` what is among the `count` locks held, but for `first`. */
static void keep_outer(struct why_order *order, const uint64_t *held, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t n = 0; n < WHY_OUTER && order->outer[n]; n++) {
		uint32_t at = 0;

		while (at < count && held[at] != order->outer[n])
			at++;
		if (at < count)
			order->outer[kept++] = order->outer[n];
	}
	while (kept < WHY_OUTER)
		order->outer[kept++] = 0;
}

static void begin_outer(struct why_order *order, const uint64_t *held, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t n = 0; n < count && kept < WHY_OUTER; n++)
		if (held[n] != order->first)
			order->outer[kept++] = held[n];
}

static int note_order(struct why_reader *reader, const struct ktread_event *event,
		      const struct why_progress *progress, uint32_t n, uint64_t then, uint64_t place)
{
	const uint64_t first = progress->held[n];
	const uint64_t key[KEYED_WORDS] = { first, then }, lock[KEYED_WORDS] = { first };
	const struct keyed_entry *hold = keyed_find(&reader->holds, lock);
	struct keyed_entry *entry;
	struct why_order *order;
	int error = keyed_put(&reader->orders, key, &entry);

	if (!error && entry && !entry->known)
		error = new_order(reader, entry);
	reader->evidence->left_out += !error && !entry;
	if (error || !entry)
		return error;
	order = &reader->evidence->order[entry->count];
	if (order->count++ == 0)
		begin_outer(order, progress->held, progress->held_count);
	else
		keep_outer(order, progress->held, progress->held_count);
	order->several |= order->count > 1 && order->thread != event->thread;
	order->stamp = event->stamp;
	order->thread = event->thread;
	order->cpu = event->cpu;
	order->first_pc = hold ? hold->count : 0;
	order->then_pc = place;
	return 0;
}

/*
 * Whose order it is: what an interrupt takes is not that of the thread it interrupts, and thread 0 may be at
 * different things on several CPUs. NULL: nobody's.
 */
static struct why_progress *in_order_of(struct why_reader *reader, const struct ktread_event *event)
{
	return event->context == KTRX_CONTEXT_THREAD && event->thread != 0
		       ? progress_of(reader, event->thread)
		       : NULL;
}

/* Could it have had to wait for the lock, and so for who had it? */
static bool could_wait(const struct ktread_event *event)
{
	return strcmp(event->type->name, "try") != 0;
}

static int take(struct why_reader *reader, const struct ktread_event *event, const struct wellknown *known,
		uint64_t lock, struct why_thread *thread)
{
	const uint64_t key[KEYED_WORDS] = { lock }, place = place_of(event, known);
	struct why_progress *progress = in_order_of(reader, event);
	struct keyed_entry *entry;
	int error = 0;

	drop(reader, lock);
	if (thread && thread->contends == lock)
		thread->contends = 0;
	for (uint32_t n = 0; progress && could_wait(event) && !error && n < progress->held_count; n++)
		error = note_order(reader, event, progress, n, lock, place);
	if (!error)
		error = keyed_put(&reader->holds, key, &entry);
	if (error || !entry)
		return error;
	entry->stamp = event->stamp;
	entry->thread = event->thread;
	entry->cpu = event->cpu;
	entry->count = place;
	if (progress && progress->held_count < WHY_NESTED)
		progress->held[progress->held_count++] = lock;
	return 0;
}

int why_lock_event(struct why_reader *reader, const struct ktread_event *event, const struct wellknown *known,
		   struct why_thread *thread)
{
	struct ktread_value name;
	uint64_t lock;
	int error;

	if (!wellknown_number(known, event, WELLKNOWN_OBJECT, &lock))
		return 0;
	if (wellknown_string(known, event, WELLKNOWN_NAME, &name)) {
		error = why_object_touch(reader->evidence, lock, name.string, name.length);
		if (error)
			return error;
	}
	/* Where it is not told when a lock is given up, it is not known who has it. */
	if (known->kind == WELLKNOWN_LOCK_ACQUIRE)
		return why_records(reader, WELLKNOWN_LOCK_RELEASE) ? take(reader, event, known, lock, thread)
								   : 0;
	if (known->kind == WELLKNOWN_LOCK_RELEASE) {
		drop(reader, lock);
	} else if (thread) {
		why_thread_void_old(reader, (uint32_t)(thread - reader->evidence->thread));
		thread->contends = lock;
		thread->contends_since = event->stamp;
	}
	return 0;
}

void why_lock_gap(struct why_reader *reader)
{
	keyed_free(&reader->holds);
	reader->gaps++;
}

int why_lock_settle(struct why_reader *reader)
{
	struct why_evidence *evidence = reader->evidence;

	for (uint32_t n = 0; n < evidence->threads; n++) {
		struct why_thread *thread = &evidence->thread[n];

		why_thread_void_old(reader, n);
		if (thread->contends && scheduling_off(evidence->scheduling, WELLKNOWN_LOCK_ACQUIRE,
						       thread->contends_since, evidence->end))
			thread->contends = 0;
	}
	evidence->hold = calloc(reader->holds.count + 1, sizeof(*evidence->hold));
	if (!evidence->hold)
		return KTREAD_E_MEMORY;
	for (uint32_t n = 0; n < reader->holds.count; n++) {
		const struct keyed_entry *entry = &reader->holds.entry[n];

		if (scheduling_covers(evidence->scheduling, WELLKNOWN_LOCK_RELEASE, entry->stamp,
				      evidence->end))
			evidence->hold[evidence->holds++] = (struct why_hold){ .lock = entry->key[0],
									       .stamp = entry->stamp,
									       .pc = entry->count,
									       .thread = entry->thread,
									       .cpu = entry->cpu };
	}
	return 0;
}
