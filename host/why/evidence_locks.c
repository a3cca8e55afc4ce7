/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Evaluates events about locks: which threads hold them, which threads wait for them, and in which order
 * threads take them. A lost slot of any CPU may have contained the release of a lock. So after a gap, no lock
 * counts as held until an event shows that it was taken.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/keyed.h"
#include "ktrx/slot.h"
#include "why/evidence_state.h"
#include "why/tries.h"

void why_thread_void_old(struct why_reader *reader, uint32_t index)
{
	struct why_progress *progress = &reader->progress[index];
	struct why_thread *thread = &reader->evidence->thread[index];

	if (progress->gaps == reader->gaps)
		return;
	progress->gaps = reader->gaps;
	progress->held_count = 0;
	thread->contends = 0;
	why_outer_forget(thread);
	thread->in_syscall = false;
	thread->repeats = thread->fault_repeats = thread->fault_nest.count = 0;
	thread->repeats_cut = true;
	why_tries_forget(thread);
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
		progress->held_count--;
		memmove(&progress->held[n], &progress->held[n + 1],
			(progress->held_count - n) * sizeof(progress->held[0]));
		memmove(&progress->under[n], &progress->under[n + 1],
			(progress->held_count - n) * sizeof(progress->under[0]));
		return;
	}
}

/*
 * Releases a lock, even if the event's thread is not its holder. This is needed because a lock may be taken
 * by one thread and released by another, as the scheduler's lock often is.
 */
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
 * Returns the place where a lock was taken: the event's field `place` if it has one, otherwise the place at
 * which the event was recorded. The latter is often in a lock function, which is the same for all callers.
 */
static uint64_t place_of(const struct ktread_event *event, const struct wellknown *known)
{
	uint64_t place;

	if (wellknown_number(known, event, WELLKNOWN_PLACE, &place))
		return place;
	return event->callers ? event->caller[0] : event->site;
}

/* Handles the release of a lock. If it is known when the lock was taken, counts how long it was held. */
static int note_held(struct why_reader *reader, const struct ktread_event *event, uint64_t lock)
{
	const uint64_t key[KEYED_WORDS] = { lock };
	const struct keyed_entry *hold = keyed_find(&reader->holds, key);
	const uint64_t ticks = hold ? elapsed(hold->stamp, event->stamp) : 0;
	struct keyed_entry *lasted;
	int error;

	if (!hold)
		return 0;
	error = keyed_put(&reader->evidence->lasted, key, &lasted);
	if (error || !lasted)
		return error;
	lasted->count++;
	lasted->time = hold->stamp;
	lasted->cpu = hold->cpu;
	lasted->thread = (uint32_t)reader->gaps;
	lasted->known = hold->thread != event->thread; /* the order of events, or a holder, is uncertain */
	if (ticks > lasted->stamp)
		lasted->stamp = ticks;
	return 0;
}

uint64_t why_lock_lasted(const struct why_evidence *evidence, uint64_t lock, uint64_t *longest)
{
	const uint64_t key[KEYED_WORDS] = { lock };
	const struct keyed_entry *lasted = keyed_find(&evidence->lasted, key);

	*longest = lasted ? lasted->stamp : 0;
	return lasted ? lasted->count : 0;
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

/* Removes from `outer` all locks that are not among the `count` locks in `held`. */
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
 * Returns the thread whose lock order the event changes. Returns NULL if an interrupt handler recorded the
 * event, because the handler holds the lock, not the thread. Returns NULL for thread 0, too, because thread 0
 * may run on several CPUs at the same time.
 */
static struct why_progress *in_order_of(struct why_reader *reader, const struct ktread_event *event)
{
	return event->context == KTRX_CONTEXT_THREAD && event->thread != 0
		       ? progress_of(reader, event->thread)
		       : NULL;
}

/* Returns a mask with one bit set, which depends on the lock. Few pairs of locks have the same bit. */
static uint32_t bit_of(uint64_t lock)
{
	const uint64_t key[KEYED_WORDS] = { lock };

	return UINT32_C(1) << (keyed_hash(key, sizeof(key)) % 32);
}

/*
 * Handles the release of `lock` by the thread. Counts each other lock that protects `lock`. A lock protects
 * `lock` if the thread held it when it took `lock`, then released it, and took it again to release `lock`.
 */
static void note_protected(struct why_reader *reader, const struct ktread_event *event, uint64_t lock)
{
	const struct why_progress *progress = in_order_of(reader, event);
	uint32_t at = 0;

	while (progress && at < progress->held_count && progress->held[at] != lock)
		at++;
	for (uint32_t n = at + 1; progress && n < progress->held_count; n++) {
		const uint64_t key[KEYED_WORDS] = { progress->held[n], lock };
		const struct keyed_entry *entry = keyed_find(&reader->orders, key);

		if ((progress->under[at] & bit_of(progress->held[n])) && entry && entry->known)
			reader->evidence->order[entry->count].protects++;
	}
}

/*
 * Returns whether the thread could have waited for the lock. A thread does not wait for a lock that it takes
 * by an attempt recorded as lock.try.
 */
static bool could_wait(const struct ktread_event *event)
{
	return strcmp(event->type->name, "try") != 0;
}

static int take(struct why_reader *reader, const struct ktread_event *event, const struct wellknown *known,
		uint64_t lock, struct why_thread *thread)
{
	const uint64_t key[KEYED_WORDS] = { lock }, place = place_of(event, known);
	struct why_progress *progress = in_order_of(reader, event);
	struct why_object *object = why_object_find(reader->evidence, lock);
	struct keyed_entry *entry;
	int error = 0;

	if (object)
		object->taken = true;
	drop(reader, lock);
	if (thread && thread->contends == lock)
		thread->contends = 0;
	if (thread)
		why_outer_acquire(thread, event, lock);
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
	entry->time = 0;
	if (progress && progress->held_count < WHY_NESTED) {
		progress->under[progress->held_count] = 0;
		for (uint32_t n = 0; n < progress->held_count; n++)
			progress->under[progress->held_count] |= bit_of(progress->held[n]);
		progress->held[progress->held_count++] = lock;
	}
	return 0;
}

/* Stores whether the lock for which the event shows a wait is held by a CPU or by a thread, and which CPU. */
static void note_kind(struct why_reader *reader, const struct ktread_event *event, uint64_t lock)
{
	struct why_object *object = why_object_find(reader->evidence, lock);
	struct ktread_value kind, holder;

	if (!object || ktread_value_named(event, "kind", &kind) != 0 || kind.length == 0)
		return;
	if (kind.string[0] == 'C' && ktread_value_named(event, "holder", &holder) == 0 &&
	    holder.number < reader->evidence->cpus)
		reader->evidence->cpu[holder.number].named = true;
	object->by_cpu |= kind.string[0] == 'C';
	object->by_thread |= kind.string[0] == 't';
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
	/*
	 * do not store a holder if releases are not recorded, because the lock may have been released later
	 */
	if (known->kind == WELLKNOWN_LOCK_ACQUIRE)
		return why_records(reader, WELLKNOWN_LOCK_RELEASE) ? take(reader, event, known, lock, thread)
								   : 0;
	if (known->kind == WELLKNOWN_LOCK_RELEASE) {
		error = note_held(reader, event, lock);
		note_protected(reader, event, lock);
		drop(reader, lock);
		if (thread)
			why_outer_release(thread, event, lock);
		return error;
	}
	note_kind(reader, event, lock);
	if (thread) {
		why_thread_void_old(reader, (uint32_t)(thread - reader->evidence->thread));
		thread->contends = lock;
		thread->contends_since = event->stamp;
		why_outer_contend(thread, event, lock);
	}
	return 0;
}

uint64_t why_lock_newest(struct why_reader *reader, uint32_t thread, uint64_t *taken)
{
	const struct why_progress *progress = progress_of(reader, thread);
	const struct keyed_entry *entry;
	uint64_t key[KEYED_WORDS] = { 0 };

	*taken = 0;
	if (!progress || progress->held_count == 0)
		return 0;
	key[0] = progress->held[progress->held_count - 1];
	entry = keyed_find(&reader->holds, key);
	if (!entry || entry->thread != thread)
		return 0;
	*taken = entry->stamp;
	return key[0];
}

void why_lock_owner_ended(struct why_reader *reader, uint32_t thread)
{
	const struct why_progress *progress = progress_of(reader, thread);

	for (uint32_t n = 0; progress && n < progress->held_count; n++) {
		const uint64_t key[KEYED_WORDS] = { progress->held[n] };
		struct keyed_entry *entry = keyed_find(&reader->holds, key);

		if (entry && entry->thread == thread && !entry->time)
			entry->time = reader->stamp;
	}
}

void why_lock_switch(struct why_reader *reader, const struct ktread_event *event,
		     const struct wellknown *known)
{
	struct why_progress *progress;
	uint32_t next;

	if (event->stamp >= reader->gap_stamp || !wellknown_thread(known, event, WELLKNOWN_NEXT, &next))
		return;
	progress = progress_of(reader, next);
	while (progress && progress->held_count > 0) {
		const uint64_t key[KEYED_WORDS] = { progress->held[--progress->held_count] };
		struct keyed_entry *entry = keyed_find(&reader->holds, key);

		if (entry && entry->thread == next)
			keyed_remove(&reader->holds, entry);
	}
}

void why_lock_gap(struct why_reader *reader)
{
	keyed_free(&reader->holds);
	reader->gaps++;
}

int why_lock_settle(struct why_reader *reader)
{
	struct why_evidence *evidence = reader->evidence;

	for (uint32_t n = 0; n < evidence->lasted.count; n++)
		evidence->lasted.entry[n].known |= evidence->lasted.entry[n].thread != (uint32_t)reader->gaps;
	for (uint32_t n = 0; n < evidence->threads; n++) {
		struct why_thread *thread = &evidence->thread[n];

		/* a gap does not end this wait: the thread's row shows whether it still sleeps as before */
		why_outer_settle(evidence, thread);
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
									       .ended = entry->time,
									       .thread = entry->thread,
									       .cpu = entry->cpu };
	}
	return 0;
}

/*
 * Lock orders of earlier traces. When they are added, each lock of an earlier trace is replaced by the same
 * lock of this trace.
 */

struct translation {
	struct why_evidence *to;
	const struct why_evidence *from;
	/* keyed by name: locks of this trace and locks added from earlier traces; `count` is the address */
	struct keyed names;
	bool same_build;
};

static int index_name(struct translation *translation, const char *name, uint64_t address)
{
	const uint64_t key[KEYED_WORDS] = { keyed_hash(name, strlen(name)) };
	struct keyed_entry *entry;
	int error = keyed_put(&translation->names, key, &entry);

	if (!error && entry)
		entry->count = address;
	return error;
}

static int index_names(struct translation *translation)
{
	const struct why_evidence *to = translation->to;
	int error = 0;

	for (uint32_t n = 0; n < to->objects && !error; n++)
		error = index_name(translation, to->object[n].name, to->object[n].address);
	return error;
}

/* Adds a lock that does not occur in this trace. Sets *address to a unique odd number that identifies it. */
static int add_elsewhere(struct translation *translation, const char *name, uint64_t *address)
{
	struct why_evidence *to = translation->to;
	const uint32_t before = to->objects;
	int error;

	*address = 2 * (uint64_t)before + 1;
	error = why_object_touch(to, *address, name, strlen(name));
	if (to->objects > before)
		to->object[before].elsewhere = true;
	return error ? error : index_name(translation, name, *address);
}

/*
 * Finds the lock of this trace that is the same as a lock of the earlier trace, and sets *address to its
 * address in this trace; 0 if it is unknown. If this trace does not have the lock, adds it.
 */
static int translate(struct translation *translation, uint64_t lock, uint64_t *address)
{
	const char *name = why_object_name(translation->from, lock);
	const uint64_t key[KEYED_WORDS] = { keyed_hash(name, strlen(name)) };
	const struct keyed_entry *entry;

	*address = 0;
	if (!*name) {
		if (translation->same_build && !*why_object_name(translation->to, lock))
			*address = lock;
		return 0;
	}
	if (translation->same_build && strcmp(name, why_object_name(translation->to, lock)) == 0) {
		*address = lock;
		return 0;
	}
	entry = keyed_find(&translation->names, key);
	if (!entry)
		return add_elsewhere(translation, name, address);
	*address = entry->count;
	return 0;
}

static bool is_same_build(const struct ktread_info *one, const struct ktread_info *other)
{
	return one->build_id_size && one->build_id_size == other->build_id_size &&
	       memcmp(one->build_id, other->build_id, one->build_id_size) == 0;
}

/*
 * Replaces the two locks of a lock order and its outer locks by the same locks of this trace. Sets *known to
 * true if this was possible for all these locks.
 */
static int translate_order(struct translation *translation, struct why_order *order, bool *known)
{
	int error = translate(translation, order->first, &order->first);

	if (!error)
		error = translate(translation, order->then, &order->then);
	*known = order->first && order->then && order->first != order->then;
	for (uint32_t n = 0; n < WHY_OUTER && order->outer[n] && *known && !error; n++) {
		error = translate(translation, order->outer[n], &order->outer[n]);
		*known = order->outer[n] != 0;
	}
	return error;
}

static int add_orders(struct translation *translation, uint32_t number)
{
	struct why_evidence *to = translation->to;
	struct why_order *order =
		realloc(to->order, ((size_t)to->orders + translation->from->orders + 1) * sizeof(*order));
	int error = order ? 0 : KTREAD_E_MEMORY;

	if (order)
		to->order = order;
	for (uint32_t n = 0; n < translation->from->orders && !error; n++) {
		struct why_order *added = &order[to->orders];
		bool known;

		*added = translation->from->order[n];
		added->trace = number;
		if (!translation->same_build)
			added->first_pc = added->then_pc = 0;
		error = translate_order(translation, added, &known);
		to->orders += known;
	}
	return error;
}

int why_evidence_add_earlier(struct why_evidence *evidence, struct ktread *earlier, uint32_t number)
{
	struct translation translation = { .to = evidence };
	struct why_evidence *from;
	int error = why_evidence_read(&from, earlier, NULL);

	translation.from = from;
	if (!error) {
		translation.same_build = is_same_build(evidence->info, from->info);
		error = index_names(&translation);
	}
	if (!error)
		error = add_orders(&translation, number);
	keyed_free(&translation.names);
	why_evidence_free(from);
	return error;
}
