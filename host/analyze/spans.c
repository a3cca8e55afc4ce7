/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/spans.h"

#include <stdlib.h>

#include "analyze/scheduling.h"
#include "base/grow.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/*
 * Lost slots of a CPU (a gap) affect every thread that may have run on this CPU during the gap: all threads
 * except those that ran on another CPU all the time. spans_gap() only increments a counter. The spans of an
 * owner are ended when its next event comes, or at the end of the trace.
 */

struct owner {
	uint64_t seen;	 /* time of the owner's last event */
	uint64_t before; /* time of the event before that one */
	uint64_t events; /* for a CPU: number of its events so far */
	uint32_t depth;
	uint32_t gaps; /* for a thread: number of gaps that were handled so far */
	struct spans_span nest[SPANS_NEST];
	/* spans on the lanes of locks; a lane is free if its span has kind 0 */
	struct spans_span lock[SPANS_LOCKS];
};

struct pool {
	struct owner *owner;
	uint32_t count;
};

struct spans {
	const struct threads *threads;
	struct spans_sink sink;
	struct pool cpus, of_threads;
	/* whether events are recorded; NULL if the trace does not declare ktrace.switched */
	struct recorded *recorded;
	struct gaps *missing;		  /* gaps that are known in advance; NULL: none */
	const struct scheduling *folding; /* when events were folded; NULL: never */
	uint32_t gaps;
	bool hides;	   /* true if the current event is hidden */
	bool tells_hidden; /* true if the sink gets hidden spans and ends, too */
	uint64_t unpaired;
	uint64_t threadless; /* number of events that are not paired because their thread is unknown */
};

/* indexed by the kind of event that ends a span: the kind of event that begins it */
static const uint8_t beginning_of[] = {
	[WELLKNOWN_SYSCALL_EXIT] = WELLKNOWN_SYSCALL_ENTER,
	[WELLKNOWN_IRQ_EXIT] = WELLKNOWN_IRQ_ENTER,
	[WELLKNOWN_FAULT_EXIT] = WELLKNOWN_FAULT_ENTER,
};

int spans_create(struct spans **spans, const struct threads *threads, const struct spans_sink *sink)
{
	struct spans *s = calloc(1, sizeof(*s));

	if (!s)
		return KTREAD_E_MEMORY;
	s->threads = threads;
	s->sink = *sink;
	*spans = s;
	return 0;
}

int spans_track_switches(struct spans *s, const struct ktread *trace)
{
	return recorded_create(&s->recorded, trace);
}

void spans_know_gaps(struct spans *s, struct gaps *gaps)
{
	s->missing = gaps;
	s->folding = gaps ? recorded_folding(gaps_scheduling(gaps)) : NULL;
}

void spans_hide(struct spans *s, bool hide)
{
	s->hides = hide;
}

void spans_tell_hidden(struct spans *s)
{
	s->tells_hidden = true;
}

void spans_destroy(struct spans *s)
{
	if (!s)
		return;
	free(s->recorded);
	free(s->cpus.owner);
	free(s->of_threads.owner);
	free(s);
}

static int grow(struct spans *s, struct pool *pool, uint32_t number)
{
	uint32_t i = pool->count;
	struct owner *owner = base_grow(pool->owner, &pool->count, (size_t)number + 1, sizeof(*owner));

	if (!owner)
		return KTREAD_E_MEMORY;
	for (; i < pool->count; i++)
		owner[i].gaps = s->gaps;
	pool->owner = owner;
	return 0;
}

static inline int reserve(struct spans *s, struct pool *pool, uint32_t number)
{
	return __builtin_expect(number < pool->count, 1) ? 0 : grow(s, pool, number);
}

static struct owner *lookup(struct spans *s, struct spans_owner who)
{
	return &(who.cpu ? &s->cpus : &s->of_threads)->owner[who.number];
}

static void begin(struct spans *s, struct spans_owner who, unsigned lane, const struct spans_span *span,
		  const struct ktread_event *event)
{
	if (s->sink.begin && (!span->hidden || s->tells_hidden))
		s->sink.begin(s->sink.context, who, lane, span, event);
}

static void end(struct spans *s, struct spans_owner who, unsigned lane, const struct spans_span *span,
		const struct ktread_event *event, uint64_t time)
{
	const bool hides = s->hides && !s->tells_hidden;

	if (span->hidden && !s->tells_hidden)
		return;
	if (!event || hides)
		s->unpaired++;
	s->sink.end(s->sink.context, who, lane, span, hides ? NULL : event, time);
}

/* Handles an end without a beginning. */
static void no_beginning(struct spans *s)
{
	s->unpaired += !s->hides || s->tells_hidden;
}

/* Ends the innermost spans until `depth` spans are left, because the events that end them are missing. */
static void unwind(struct spans *s, struct spans_owner who, uint32_t depth, uint64_t time)
{
	struct owner *owner = lookup(s, who);

	while (owner->depth > depth)
		end(s, who, 0, &owner->nest[--owner->depth], NULL, time);
}

/*
 * Ends the owner's spans of these families (`families` has a bit for each), and the spans that began inside
 * of them.
 */
static void end_families(struct spans *s, struct spans_owner who, unsigned families, uint64_t time)
{
	struct owner *owner = lookup(s, who);

	for (uint32_t i = 0; i < owner->depth; i++)
		if (families >> recorded_family_of(owner->nest[i].kind) & 1u)
			unwind(s, who, i, time);
	for (unsigned i = 0; i < SPANS_LOCKS && families >> RECORDED_LOCKS & 1u; i++) {
		if (owner->lock[i].kind == 0)
			continue;
		end(s, who, i + 1, &owner->lock[i], NULL, time);
		owner->lock[i].kind = 0;
	}
}

static void end_all(struct spans *s, struct spans_owner who, uint64_t time)
{
	end_families(s, who, ~0u, time);
}

/* Ends the spans that a thread may have ended in gaps since it was last handled. */
static void settle(struct spans *s, uint32_t index)
{
	struct owner *owner = &s->of_threads.owner[index];

	if (owner->gaps == s->gaps)
		return;
	owner->gaps = s->gaps;
	end_all(s, (struct spans_owner){ .number = index }, owner->seen);
}

static inline void read_key(struct spans_span *span, const struct ktread_event *event,
			    const struct wellknown *known)
{
	span->has_key = wellknown_number(known, event, WELLKNOWN_NUMBER, &span->key) ||
			wellknown_number(known, event, WELLKNOWN_OBJECT, &span->key);
}

/*
 * Assigns field by field, because building the structure elsewhere and copying it would be several times
 * slower.
 */
static inline void describe(const struct spans *s, struct spans_span *span, const struct ktread_event *event,
			    const struct wellknown *known)
{
	span->key = 0;
	read_key(span, event, known);
	span->stamp = event->stamp;
	span->events = spans_events(s, event->cpu);
	span->cpu = event->cpu;
	span->thread = event->thread;
	span->kind = known->kind;
	span->hidden = s->hides;
}

static bool same_key(const struct spans_span *a, const struct spans_span *b)
{
	return !a->has_key || !b->has_key || a->key == b->key;
}

/* Returns whether an earlier end of a span that the current event ends may be missing, or was folded. */
static inline bool may_have_ended(const struct spans *s, struct spans_owner who,
				  const struct spans_span *span, const struct ktread_event *event)
{
	return s->missing &&
	       (gaps_between(s->missing, spans_place(s, who, span, event), span->stamp, event->stamp) ||
		(s->folding &&
		 recorded_was_off(s->folding, (enum wellknown_kind)span->kind, span->stamp, event->stamp)));
}

static __attribute__((noinline)) int nest_begin(struct spans *s, struct spans_owner who, struct owner *owner,
						const struct ktread_event *event,
						const struct wellknown *known, uint64_t time)
{
	struct spans_span *span;

	/*
	 * Calls do not nest. If the span of an earlier call is still open, the call's return was not
	 * recorded, or the call never returns.
	 */
	if (__builtin_expect(owner->depth > 0, 0) && known->kind == WELLKNOWN_SYSCALL_ENTER)
		for (uint32_t i = 0; i < owner->depth; i++)
			if (owner->nest[i].kind == WELLKNOWN_SYSCALL_ENTER)
				unwind(s, who, i, time);
	if (owner->depth == SPANS_NEST)
		return 0;
	span = &owner->nest[owner->depth++];
	describe(s, span, event, known);
	begin(s, who, 0, span, event);
	return 1;
}

static __attribute__((noinline)) int nest_end(struct spans *s, struct spans_owner who, struct owner *owner,
					      const struct ktread_event *event, const struct wellknown *known,
					      uint64_t time)
{
	const uint8_t kind = beginning_of[known->kind];
	struct spans_span span;
	uint32_t i = owner->depth;

	read_key(&span, event, known);
	while (i > 0 && (owner->nest[i - 1].kind != kind || !same_key(&owner->nest[i - 1], &span)))
		i--;
	if (i > 0 && may_have_ended(s, who, &owner->nest[i - 1], event)) {
		unwind(s, who, i - 1, owner->before);
		i = 0;
	}
	if (i == 0) {
		no_beginning(s);
		return 0;
	}
	if (owner->depth > i)
		unwind(s, who, i, time);
	owner->depth--;
	end(s, who, 0, &owner->nest[owner->depth], event, time);
	if (!owner->nest[owner->depth].hidden)
		return 1;
	no_beginning(s);
	return 0;
}

/* Returns the lane minus 1 of the lock `key`, or of a free lane if `key` is NULL. SPANS_LOCKS: none. */
static unsigned find_lock(const struct owner *owner, const struct spans_span *key)
{
	unsigned i = 0;

	while (i < SPANS_LOCKS &&
	       (key ? owner->lock[i].kind == 0 || owner->lock[i].key != key->key : owner->lock[i].kind != 0))
		i++;
	return i;
}

static __attribute__((noinline)) int lock_event(struct spans *s, struct spans_owner who, struct owner *owner,
						const struct ktread_event *event,
						const struct wellknown *known, uint64_t time)
{
	struct spans_span span;
	bool lost = false, hidden = false;
	unsigned i;

	describe(s, &span, event, known);
	i = find_lock(owner, &span);
	if (i < SPANS_LOCKS) {
		/*
		 * An acquire is the end of the span of waiting for the lock, and a release is the end of the
		 * span of holding it. For all other events with this lock, the event that ends the lock's
		 * previous span is missing.
		 */
		bool proper = span.kind == WELLKNOWN_LOCK_RELEASE ||
			      (span.kind == WELLKNOWN_LOCK_ACQUIRE &&
			       owner->lock[i].kind == WELLKNOWN_LOCK_CONTEND);

		lost = proper && may_have_ended(s, who, &owner->lock[i], event);
		hidden = owner->lock[i].hidden;
		end(s, who, i + 1, &owner->lock[i], proper && !lost ? event : NULL,
		    lost ? owner->before : time);
		owner->lock[i].kind = 0;
		if (span.kind == WELLKNOWN_LOCK_RELEASE && !lost && !hidden)
			return 1;
	} else {
		i = find_lock(owner, NULL);
	}
	if (span.kind == WELLKNOWN_LOCK_RELEASE || i == SPANS_LOCKS) {
		no_beginning(s);
		return 0;
	}
	owner->lock[i] = span;
	begin(s, who, i + 1, &owner->lock[i], event);
	return 1;
}

/*
 * The thread stops waiting for a lock without having got it. Returns 0 even if a span ends: the span does not
 * show that the thread gave up.
 */
static __attribute__((noinline)) int lock_fail(struct spans *s, struct spans_owner who, struct owner *owner,
					       const struct ktread_event *event,
					       const struct wellknown *known, uint64_t time)
{
	struct spans_span span;
	unsigned i;

	describe(s, &span, event, known);
	i = find_lock(owner, &span);
	if (i == SPANS_LOCKS || owner->lock[i].kind != WELLKNOWN_LOCK_CONTEND)
		return 0;
	if (may_have_ended(s, who, &owner->lock[i], event))
		end(s, who, i + 1, &owner->lock[i], NULL, owner->before);
	else
		end(s, who, i + 1, &owner->lock[i], event, time);
	owner->lock[i].kind = 0;
	return 0;
}

/*
 * Handles an event that records that other events were switched on or off: ends all spans of these events,
 * because a beginning before it and an end after it must not be paired. If the events were switched off
 * earlier, the spans end at the last event of their owner.
 */
static void end_at_switch(struct spans *s, const struct ktread_event *event, uint64_t time)
{
	bool late = false;
	const unsigned families = recorded_event(s->recorded, event, s->gaps, &late);

	for (uint32_t i = 0; families && i < s->of_threads.count; i++) {
		settle(s, i);
		end_families(s, (struct spans_owner){ .number = i }, families,
			     late ? s->of_threads.owner[i].seen : time);
	}
	for (uint32_t i = 0; families && i < s->cpus.count; i++)
		end_families(s, (struct spans_owner){ .cpu = true, .number = i }, families,
			     late ? s->cpus.owner[i].seen : time);
}

/* Ends the spans that end at any context switch. They do not count as unpaired. */
static __attribute__((noinline)) int on_switch(struct spans *s, const struct ktread_event *event,
					       const struct wellknown *known, uint64_t time)
{
	const struct threads_thread *prev = NULL;
	uint64_t unpaired = s->unpaired;
	uint32_t id;

	/* A switch at the end of an interrupt handler ends the interrupt's span on this CPU. */
	unwind(s, (struct spans_owner){ .cpu = true, .number = event->cpu }, 0, time);
	/* A system call that ends its thread does not return. */
	if (wellknown_thread(known, event, WELLKNOWN_PREV, &id))
		prev = threads_find_left(s->threads, id);
	if (prev && prev->state == THREADS_DEAD && prev->index < s->of_threads.count)
		end_all(s, (struct spans_owner){ .number = prev->index }, time);
	s->unpaired = unpaired;
	return 0;
}

static bool belongs_to_cpu(enum wellknown_kind kind)
{
	return kind == WELLKNOWN_SWITCH || kind == WELLKNOWN_IRQ_ENTER || kind == WELLKNOWN_IRQ_EXIT;
}

/* An interrupt belongs to its CPU, even if the kernel does not report the interrupt context at this event. */
static __attribute__((noinline)) int interrupt_event(struct spans *s, const struct ktread_event *event,
						     const struct wellknown *known, uint64_t time)
{
	const struct spans_owner who = { .cpu = true, .number = event->cpu };
	struct owner *owner = lookup(s, who);

	return known->kind == WELLKNOWN_IRQ_ENTER ? nest_begin(s, who, owner, event, known, time)
						  : nest_end(s, who, owner, event, known, time);
}

/* Returns whether the event is about a span of one of several threads that all are recorded as thread 0. */
static bool is_threadless(const struct spans *s, const struct ktread_event *event,
			  const struct wellknown *known)
{
	const enum recorded_family family = recorded_family_of((enum wellknown_kind)known->kind);

	return event->thread == 0 && event->context == KTRX_CONTEXT_THREAD && family != RECORDED_FAMILIES &&
	       family != RECORDED_INTERRUPTS && threads_mixes_zero(s->threads);
}

/*
 * Begins or ends the span of an event. Requires: the owner `who` and the event's CPU have entries, and all
 * spans that end before this event are already closed.
 */
static inline __attribute__((always_inline)) int take(struct spans *s, struct spans_owner who,
						      const struct ktread_event *event,
						      const struct wellknown *known, uint64_t time)
{
	struct owner *owner = lookup(s, who), *cpu;

	owner->before = owner->seen;
	owner->seen = time;
	if (event->cpu < s->cpus.count) {
		cpu = &s->cpus.owner[event->cpu];
		if (cpu != owner)
			cpu->before = cpu->seen;
		cpu->seen = time;
		cpu->events++;
	}
	if (!recorded_now(s->recorded, known->kind))
		return 0;
	if (who.cpu && __builtin_expect(is_threadless(s, event, known), 0)) {
		s->threadless++;
		return 0;
	}
	switch (known->kind) {
	case WELLKNOWN_SYSCALL_ENTER:
	case WELLKNOWN_FAULT_ENTER:
		return nest_begin(s, who, owner, event, known, time);
	case WELLKNOWN_SYSCALL_EXIT:
	case WELLKNOWN_FAULT_EXIT:
		return nest_end(s, who, owner, event, known, time);
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
	case WELLKNOWN_LOCK_RELEASE:
		return lock_event(s, who, owner, event, known, time);
	case WELLKNOWN_LOCK_FAIL:
		return lock_fail(s, who, owner, event, known, time);
	case WELLKNOWN_IRQ_ENTER:
	case WELLKNOWN_IRQ_EXIT:
		return interrupt_event(s, event, known, time);
	case WELLKNOWN_SWITCH:
		return on_switch(s, event, known, time);
	default:
		return 0;
	}
}

/* Establishes the preconditions of take(), and then calls it. */
static __attribute__((noinline)) int take_slowly(struct spans *s, struct spans_owner who,
						 const struct ktread_event *event,
						 const struct wellknown *known, uint64_t time)
{
	const bool placed = event->cpu < THREADS_CPUS_MAX;
	int error = placed ? reserve(s, &s->cpus, event->cpu) : 0;

	/* If the CPU is unknown, spans of threads are still paired. */
	if (!placed && (who.cpu || belongs_to_cpu(known->kind))) {
		end_at_switch(s, event, time);
		return 0;
	}
	if (!error && !who.cpu)
		error = reserve(s, &s->of_threads, who.number);
	if (error)
		return error;
	end_at_switch(s, event, time);
	if (!who.cpu)
		settle(s, who.number);
	return take(s, who, event, known, time);
}

int spans_event_of(struct spans *s, struct spans_owner who, const struct ktread_event *event,
		   const struct wellknown *known, uint64_t time)
{
	if (__builtin_expect(event->cpu >= s->cpus.count || recorded_is_due(s->recorded, event), 0))
		return take_slowly(s, who, event, known, time);
	if (!who.cpu &&
	    __builtin_expect(
		    who.number >= s->of_threads.count || s->of_threads.owner[who.number].gaps != s->gaps, 0))
		return take_slowly(s, who, event, known, time);
	return take(s, who, event, known, time);
}

int spans_event(struct spans *s, const struct ktread_event *event, const struct wellknown *known,
		uint64_t time)
{
	return spans_event_of(s, spans_owner_by(s->threads, event), event, known, time);
}

/* Does the same as spans_place(), for an event of this CPU. */
static uint32_t place_of(const struct spans *s, struct spans_owner who, const struct spans_span *span,
			 uint32_t cpu)
{
	const struct threads_thread *running = who.cpu ? NULL : threads_on(s->threads, cpu);
	const bool stayed =
		who.cpu || (running && running->index == who.number && running->stamp <= span->stamp);

	return stayed && cpu == span->cpu && cpu != KTRX_NO_CPU ? cpu : GAPS_ANYWHERE;
}

uint32_t spans_place(const struct spans *s, struct spans_owner who, const struct spans_span *span,
		     const struct ktread_event *event)
{
	return place_of(s, who, span, event->cpu);
}

void spans_gap(struct spans *s, uint32_t cpu, uint64_t from)
{
	s->gaps++;
	for (uint32_t other = 0; from != 0 && other < s->cpus.count; other++) {
		const struct threads_thread *running = other != cpu ? threads_on(s->threads, other) : NULL;

		if (running && running->id != 0 && running->since < from &&
		    running->index < s->of_threads.count &&
		    s->of_threads.owner[running->index].gaps == s->gaps - 1)
			s->of_threads.owner[running->index].gaps = s->gaps;
	}
	if (cpu < s->cpus.count)
		end_all(s, (struct spans_owner){ .cpu = true, .number = cpu }, s->cpus.owner[cpu].seen);
}

void spans_finish(struct spans *s)
{
	for (uint32_t i = 0; i < s->of_threads.count; i++)
		settle(s, i);
}

/* Does the work of spans_finish_gaps() for an owner. */
static void finish_owner(struct spans *s, struct spans_owner who, uint64_t until)
{
	struct owner *owner = lookup(s, who);

	for (uint32_t i = 0; i < owner->depth; i++) {
		const struct spans_span *span = &owner->nest[i];

		if (gaps_first(s->missing, place_of(s, who, span, span->cpu), span->stamp, until) !=
		    UINT64_MAX)
			unwind(s, who, i, owner->seen);
	}
	for (unsigned i = 0; i < SPANS_LOCKS; i++) {
		struct spans_span *span = &owner->lock[i];

		if (span->kind == 0 || gaps_first(s->missing, place_of(s, who, span, span->cpu), span->stamp,
						  until) == UINT64_MAX)
			continue;
		end(s, who, i + 1, span, NULL, owner->seen);
		span->kind = 0;
	}
}

void spans_finish_gaps(struct spans *s, uint64_t until)
{
	for (uint32_t i = 0; s->missing && i < s->of_threads.count; i++)
		finish_owner(s, (struct spans_owner){ .number = i }, until);
	for (uint32_t i = 0; s->missing && i < s->cpus.count; i++)
		finish_owner(s, (struct spans_owner){ .cpu = true, .number = i }, until);
}

void spans_close(struct spans *s, uint64_t time)
{
	uint64_t unpaired = s->unpaired;

	for (uint32_t i = 0; i < s->of_threads.count; i++)
		end_all(s, (struct spans_owner){ .number = i }, time);
	for (uint32_t i = 0; i < s->cpus.count; i++)
		end_all(s, (struct spans_owner){ .cpu = true, .number = i }, time);
	s->unpaired = unpaired;
}

uint64_t spans_events(const struct spans *s, uint32_t cpu)
{
	return cpu < s->cpus.count ? s->cpus.owner[cpu].events : 0;
}

uint64_t spans_threadless(const struct spans *s)
{
	return s->threadless;
}

uint64_t spans_unpaired(const struct spans *s)
{
	return s->unpaired;
}
