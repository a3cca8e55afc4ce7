/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Mistakes in the hooks of locks and interrupts, and the tables of a search for mistakes. */
#include "doctor/mistakes_state.h"

#define CPU_OWNER (UINT64_C(1) << 32)

void mistakes_note(struct mistakes_reading *r, enum mistake mistake, const struct ktread_event *event,
		   uint64_t value)
{
	struct mistake_count *row = &r->mistakes->of[mistake];

	if (row->count++ == 0) {
		row->stamp = event->stamp;
		row->cpu = event->cpu;
		row->value = value;
	}
}

struct keyed_entry *mistakes_find(const struct keyed *table, uint64_t value)
{
	const uint64_t key[KEYED_WORDS] = { value };

	return keyed_find(table, key);
}

struct keyed_entry *mistakes_put(struct mistakes_reading *r, struct keyed *table, uint64_t value)
{
	const uint64_t key[KEYED_WORDS] = { value };
	struct keyed_entry *entry = NULL;

	if (!r->blind && keyed_put(table, key, &entry) < 0)
		r->error = KTREAD_E_MEMORY;
	return entry;
}

void mistakes_drop(struct keyed *table, uint64_t value)
{
	struct keyed_entry *entry = mistakes_find(table, value);

	if (entry)
		keyed_remove(table, entry);
}

/* Adds `more` to a count of this interrupt. Returns the count; 0 if it is not known. */
static uint64_t add_to(struct mistakes_reading *r, uint64_t irq, uint64_t which, uint64_t more)
{
	const uint64_t key[KEYED_WORDS] = { irq, which };
	struct keyed_entry *entry = NULL;

	if (!r->blind && keyed_put(&r->irqs, key, &entry) < 0)
		r->error = KTREAD_E_MEMORY;
	if (entry)
		entry->count += more;
	return entry ? entry->count : 0;
}

/*
 * Counts an entry of an interrupt, and whether the interrupt had not ended before. For the interrupt that
 * lacks most ends, both counts are stored in r->mistakes: other interrupts may come far more often.
 */
static void count_entry(struct mistakes_reading *r, uint64_t irq, bool missing)
{
	const uint64_t entries = add_to(r, irq, 0, 1), ends = add_to(r, irq, 1, missing);

	if (ends < r->mistakes->lost_ends)
		return;
	r->mistakes->lost_ends = ends;
	r->mistakes->lost_ends_of = entries;
}

static void enter(struct mistakes_reading *r, const struct ktread_event *event, uint64_t irq)
{
	struct mistakes_cpu *cpu = &r->cpu[event->cpu];
	uint32_t at = 0;

	r->mistakes->enters++;
	while (at < cpu->depth && cpu->irq[at] != irq)
		at++;
	count_entry(r, irq, at < cpu->depth);
	if (at < cpu->depth) {
		mistakes_note(r, MISTAKE_IRQ_EXIT, event, irq);
		cpu->depth = at; /* this interrupt and all interrupts nested in it have ended */
	}
	if (cpu->depth < MISTAKES_NESTED)
		cpu->irq[cpu->depth++] = irq;
}

static void leave(struct mistakes_reading *r, const struct ktread_event *event, bool has_irq, uint64_t irq)
{
	struct mistakes_cpu *cpu = &r->cpu[event->cpu];
	uint32_t at = cpu->depth;

	while (at > 0 && has_irq && cpu->irq[at - 1] != irq)
		at--;
	if (at == 0 && cpu->settled)
		mistakes_note(r, MISTAKE_IRQ_ENTER, event, irq);
	cpu->depth = at ? at - 1 : 0;
	cpu->settled |= cpu->depth == 0;
}

void mistakes_take_irq(struct mistakes_reading *r, const struct ktread_event *event,
		       const struct wellknown *known)
{
	uint64_t irq = 0;
	const bool has = wellknown_number(known, event, WELLKNOWN_NUMBER, &irq);

	if (event->context == KTRX_CONTEXT_NMI)
		return;
	if (known->kind == WELLKNOWN_IRQ_EXIT)
		leave(r, event, has, irq);
	else if (has)
		enter(r, event, irq);
}

bool mistakes_balance(struct mistakes_reading *r, enum mistake mistake, uint64_t thread, uint64_t object,
		      bool begins)
{
	const uint64_t key[KEYED_WORDS] = { thread, object };
	struct mistakes_balance *balance = &r->balance[mistake];
	struct mistake_count *row = &r->mistakes->of[mistake];
	struct keyed_entry *entry = r->blind ? NULL : keyed_find(&balance->open, key);
	int64_t open;

	if (!entry && !r->blind && !balance->full) {
		if (keyed_put(&balance->open, key, &entry) < 0)
			r->error = KTREAD_E_MEMORY;
		balance->full = !entry;
	}
	if (!entry)
		return false;
	open = (int64_t)entry->count;
	entry->count = (uint64_t)(begins ? open + 1 : open - 1);
	if (entry->count == 0)
		keyed_remove(&balance->open, entry);
	if (begins && open >= 1)
		row->sure++;
	else if (!begins && open >= 2)
		row->sure--;
	return begins && open >= 1;
}

void mistakes_balance_forget(struct mistakes_reading *r, enum mistake mistake, uint64_t thread)
{
	mistakes_drop(&r->balance[mistake].open, thread);
}

/*
 * Returns the owner of a lock that this event takes or releases: the CPU if the event comes from an
 * interrupt handler, otherwise the thread that recorded it.
 */
static uint64_t owner_of(const struct ktread_event *event)
{
	return event->context == KTRX_CONTEXT_THREAD && event->thread ? event->thread
								      : CPU_OWNER | event->cpu;
}

/*
 * Counts in `stayed` the mistakes of owners that stay on one CPU. The order of events of a CPU is certain. So
 * if an owner contends two locks in turn there, only an event of another CPU can be the end of the first
 * contention. `ended`: the event is such an end. Otherwise, the owner has contended two locks in turn on the
 * CPU of the event.
 */
static void stay(struct mistakes_reading *r, const struct ktread_event *event, uint64_t owner, bool ended)
{
	const uint64_t key[KEYED_WORDS] = { owner };
	struct keyed_entry *entry = NULL;
	int64_t open;

	if (keyed_put(&r->stays, key, &entry) < 0)
		r->error = KTREAD_E_MEMORY;
	if (!entry)
		return;
	if (!entry->known) {
		entry->known = true;
		entry->cpu = event->cpu;
	}
	open = (int64_t)entry->count;
	if (ended && entry->cpu != event->cpu) {
		entry->count = (uint64_t)(open - 1);
		r->stayed -= open >= 2;
	} else if (!ended && entry->cpu == event->cpu) {
		entry->count = (uint64_t)(open + 1);
		r->stayed += open >= 1;
	}
}

/*
 * Returns whether an event that ends the wait is certainly in the trace, if there is one. If slots are
 * missing, this is so if the thread has not left the CPU since the wait began.
 */
static bool end_is_recorded(const struct mistakes_reading *r, const struct keyed_entry *wait,
			    const struct ktread_event *event)
{
	const struct mistakes_cpu *cpu = &r->cpu[event->cpu];

	return wait->cpu == event->cpu &&
	       (r->whole || (!r->mistakes->switches_off && cpu->switched && wait->thread == cpu->switched));
}

static void contend(struct mistakes_reading *r, const struct ktread_event *event, uint64_t owner,
		    uint64_t lock)
{
	struct keyed_entry *entry;

	r->mistakes->contends += !r->blind;
	mistakes_balance(r, MISTAKE_CONTEND, owner, lock, true);
	entry = mistakes_put(r, &r->waits, owner);
	if (!entry)
		return;
	if (entry->count && entry->count != lock) {
		mistakes_note(r, MISTAKE_CONTEND, event, entry->count);
		if (end_is_recorded(r, entry, event))
			stay(r, event, owner, false);
	}
	entry->count = lock;
	entry->cpu = event->cpu;
	entry->thread = r->cpu[event->cpu].switched;
}

void mistakes_take_lock(struct mistakes_reading *r, const struct ktread_event *event,
			const struct wellknown *known)
{
	const uint64_t owner = owner_of(event);
	struct keyed_entry *entry;
	uint64_t lock;

	if (!wellknown_number(known, event, WELLKNOWN_OBJECT, &lock))
		return;
	if (known->kind == WELLKNOWN_LOCK_CONTEND) {
		contend(r, event, owner, lock);
		return;
	}
	entry = mistakes_find(&r->waits, owner);
	if (entry && entry->count == lock && known->kind != WELLKNOWN_LOCK_RELEASE)
		keyed_remove(&r->waits, entry);
	if (known->kind != WELLKNOWN_LOCK_RELEASE) {
		mistakes_balance(r, MISTAKE_CONTEND, owner, lock, false);
		stay(r, event, owner, true);
	}
	if (known->kind == WELLKNOWN_LOCK_ACQUIRE) {
		mistakes_balance(r, MISTAKE_RELEASE, owner, lock, false);
		entry = mistakes_put(r, &r->locks, lock);
		if (entry)
			entry->count = owner;
	} else if (known->kind == WELLKNOWN_LOCK_RELEASE) {
		r->mistakes->releases += !r->blind;
		if (!(owner & CPU_OWNER))
			mistakes_balance(r, MISTAKE_RELEASE, owner, lock, true);
		entry = mistakes_find(&r->locks, lock);
		if (entry && entry->count != owner && !(entry->count & CPU_OWNER) && !(owner & CPU_OWNER))
			mistakes_note(r, MISTAKE_RELEASE, event, lock);
		mistakes_drop(&r->locks, lock);
	}
}
