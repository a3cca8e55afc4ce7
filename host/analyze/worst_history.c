/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads the trace once and collects the events that worst.h needs. */
#include "analyze/worst.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/names.h"
#include "analyze/spans.h"
#include "analyze/wellknown.h"
#include "base/grow.h"
#include "base/index.h"
#include "ktrx/v2.h"

struct reading {
	struct history *history;
	struct gaps *gaps;
	struct threads *threads;
	struct spans *spans;
	struct wellknown_table known;
	uint64_t stamp; /* timestamp of the current change, which is an event or the beginning of a gap */
	uint64_t *seen; /* time of each CPU's last event */
	uint64_t *last; /* timestamp of each CPU's last event */
	struct open {
		uint64_t from;
		uint32_t cpu;
		uint8_t state;
	} * open; /* by index of a thread: the state that lasts */
	uint32_t opens;
	/* bit maps of the events that change states of threads, and of the lock events */
	uint8_t scheduling[(KTRX_EVENT_MAX + 1) / 8];
	struct object_names names;
	struct object_name name; /* name of the lock or interrupt of the current event, from earlier events */
	int error;
};

static uint64_t end_of(const struct history *history)
{
	return history->windows ? history->window[history->windows - 1].to : 0;
}

/* Returns whether a time overlaps a window. */
static bool is_needed(const struct history *history, uint64_t from, uint64_t to)
{
	const size_t before = base_count_up_to(history->window, history->windows, sizeof(history->window[0]),
					       offsetof(struct history_window, to), from);

	return from < to && before < history->windows && history->window[before].from < to;
}

static void add_span(struct reading *r, struct history_spans *spans, const struct history_span *span)
{
	struct history_span *larger;

	if (!is_needed(r->history, span->from, span->to))
		return;
	if (spans->count == HISTORY_MOST) {
		r->history->cut = true;
		return;
	}
	larger = base_grow(spans->span, &spans->room, (size_t)spans->count + 1, sizeof(*larger));
	if (!larger) {
		r->error = KTREAD_E_MEMORY;
		return;
	}
	spans->span = larger;
	larger[spans->count++] = *span;
}

/* ---- States of threads ---- */

static void push_state(struct reading *r, const struct history_state *state)
{
	struct history *history = r->history;
	struct history_state *larger;

	if (!is_needed(history, state->from, state->to))
		return;
	if (history->states == HISTORY_MOST) {
		history->cut = true;
		return;
	}
	larger = base_grow(history->state, &history->room, (size_t)history->states + 1, sizeof(*larger));
	if (!larger) {
		r->error = KTREAD_E_MEMORY;
		return;
	}
	history->state = larger;
	larger[history->states++] = *state;
	if (state->state == THREADS_RUNNING)
		add_span(r, &history->runs,
			 &(struct history_span){ state->cpu, state->from, state->to, state->owner, "",
						 false });
}

/* Adds a state, cut where slots were lost: after that, the state is not proved. */
static void add_state(struct reading *r, struct history_state state)
{
	const uint32_t place = state.state == THREADS_RUNNING ? state.cpu : GAPS_ANYWHERE;
	uint64_t lost;

	if (!is_needed(r->history, state.from, state.to) ||
	    scheduling_switched(gaps_scheduling(r->gaps), r->scheduling, state.from, state.to))
		return;
	lost = gaps_first(r->gaps, place, state.from, state.to);
	if (lost < state.to) {
		state.to = lost;
		state.woken = false;
		state.next_cpu = KTRX_NO_CPU;
	}
	push_state(r, &state);
}

static struct open *open_of(struct reading *r, uint32_t index)
{
	struct open *larger = base_grow(r->open, &r->opens, (size_t)index + 1, sizeof(*larger));

	if (!larger) {
		r->error = KTREAD_E_MEMORY;
		return NULL;
	}
	r->open = larger;
	return &larger[index];
}

static void on_change(void *context, const struct threads_change *change)
{
	struct reading *r = context;
	const struct threads_thread *thread = change->thread;
	struct open *open = open_of(r, thread->index);

	if (!open)
		return;
	if (open->state != THREADS_UNKNOWN)
		add_state(r, (struct history_state){
				     .owner = thread->id,
				     .from = open->from,
				     .to = r->stamp,
				     .cpu = open->cpu,
				     .next_cpu = thread->state == THREADS_RUNNING ? change->cpu : KTRX_NO_CPU,
				     .state = open->state,
				     .woken = change->woken,
				     .interrupt = change->interrupt,
				     .waker = change->waker });
	open->state = thread->state;
	open->from = r->stamp;
	open->cpu = thread->state == THREADS_RUNNING ? change->cpu : thread->cpu;
}

/* Ends the states that last beyond the end of the history. */
static void close_states(struct reading *r)
{
	for (uint32_t n = 0; n < r->opens && n < threads_count(r->threads); n++)
		if (r->open[n].state != THREADS_UNKNOWN)
			add_state(r, (struct history_state){ .owner = threads_at(r->threads, n)->id,
							     .from = r->open[n].from,
							     .to = end_of(r->history),
							     .cpu = r->open[n].cpu,
							     .next_cpu = KTRX_NO_CPU,
							     .state = r->open[n].state });
}

/* ---- Locks and interrupts ---- */

static void on_end(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		   const struct ktread_event *event, uint64_t time)
{
	struct reading *r = context;
	struct history_span entry = { .from = span->stamp, .to = r->stamp, .ended = event != NULL };
	const struct threads_thread *thread = owner.cpu ? NULL : threads_at(r->threads, owner.number);
	struct ktread_value name;

	(void)lane;
	(void)time;
	if (!event) /* the trace lacks the end: the span is known only up to the first gap */
		entry.to = gaps_first(r->gaps, GAPS_ANYWHERE, span->stamp, r->stamp);
	if (entry.to == UINT64_MAX)
		entry.to = r->stamp;
	if (event && wellknown_string(wellknown_of(&r->known, event), event, WELLKNOWN_NAME, &name) &&
	    name.length > 0)
		memcpy(entry.name, name.string, name.length < WORST_NAME - 1 ? name.length : WORST_NAME - 1);
	else if (event && r->name.bytes)
		memcpy(entry.name, r->name.bytes,
		       r->name.length < WORST_NAME - 1 ? r->name.length : WORST_NAME - 1);
	if (span->kind == WELLKNOWN_IRQ_ENTER && owner.cpu) {
		entry.owner = owner.number;
		entry.key = span->has_key ? span->key : 0;
		add_span(r, &r->history->interrupts, &entry);
	} else if (span->kind == WELLKNOWN_LOCK_CONTEND && thread) {
		entry.owner = thread->id;
		entry.key = span->key;
		add_span(r, &r->history->waits, &entry);
	} else if (span->kind == WELLKNOWN_LOCK_ACQUIRE && thread) {
		entry.owner = span->key;
		entry.key = thread->id;
		add_span(r, &r->history->holds, &entry);
	}
}

/* ---- Reading the trace ---- */

static void take(struct reading *r, const struct ktread_event *event, uint64_t time)
{
	const struct wellknown *known = wellknown_of(&r->known, event);
	int error;

	if (event->cpu < THREADS_CPUS_MAX) {
		if (event->lost > 0) {
			r->stamp = r->last[event->cpu];
			threads_gap(r->threads, event->cpu, r->seen[event->cpu]);
			r->stamp = event->stamp;
			spans_gap(r->spans, event->cpu, r->seen[event->cpu]);
		}
		r->seen[event->cpu] = time;
		r->last[event->cpu] = event->stamp;
	}
	r->stamp = event->stamp;
	r->name = object_names_event(&r->names, event, known);
	error = threads_event(r->threads, event, known, time);
	if (!error && spans_event(r->spans, event, known, time) < 0)
		error = KTREAD_E_MEMORY;
	if (error)
		r->error = error;
}

static int read_all(struct reading *r, struct ktread *trace)
{
	static const enum wellknown_kind kinds[] = { WELLKNOWN_SWITCH, WELLKNOWN_WAKE, WELLKNOWN_WAKE_QUEUE,
						     WELLKNOWN_EXIT };
	const struct spans_sink sink = { .context = r, .end = on_end };
	const struct ktread_event *event;
	uint64_t time = 0;
	int status = threads_create(&r->threads, on_change, r);

	if (!status)
		status = spans_create(&r->spans, r->threads, &sink);
	if (!status)
		status = spans_track_switches(r->spans, trace);
	if (status)
		return status;
	threads_learn(r->threads, gaps_scheduling(r->gaps));
	spans_know_gaps(r->spans, r->gaps);
	for (size_t n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++)
		wellknown_mark(trace, &r->known, kinds[n], r->scheduling);
	while ((status = ktread_next(trace, &event)) > 0 && !r->error && event->stamp <= end_of(r->history))
		take(r, event, time += 2);
	r->stamp = end_of(r->history);
	close_states(r);
	spans_close(r->spans, time + 2);
	return r->error ? r->error : status < 0 ? status : 0;
}

static int by_owner_of_state(const void *a, const void *b)
{
	const struct history_state *left = a, *right = b;

	if (left->owner != right->owner)
		return left->owner < right->owner ? -1 : 1;
	return left->from < right->from ? -1 : left->from > right->from;
}

static int by_owner(const void *a, const void *b)
{
	const struct history_span *left = a, *right = b;

	if (left->owner != right->owner)
		return left->owner < right->owner ? -1 : 1;
	return left->from < right->from ? -1 : left->from > right->from;
}

/*
 * Sorts spans, and cuts spans that overlap: an interrupt handler may be interrupted, and locks may be shared.
 */
static void sort(struct history_spans *spans)
{
	uint32_t count = 0;

	if (spans->count)
		qsort(spans->span, spans->count, sizeof(spans->span[0]), by_owner);
	for (uint32_t n = 0; n < spans->count; n++) {
		struct history_span span = spans->span[n];
		const struct history_span *last = count ? &spans->span[count - 1] : NULL;

		if (last && last->owner == span.owner && span.from < last->to)
			span.from = last->to;
		if (span.from < span.to)
			spans->span[count++] = span;
	}
	spans->count = count;
}

int history_read(struct history *history, struct ktread *trace, struct gaps *gaps)
{
	struct reading *r = calloc(1, sizeof(*r));
	int status = KTREAD_E_MEMORY, again;

	if (!r)
		return status;
	r->history = history;
	r->gaps = gaps;
	r->seen = calloc(THREADS_CPUS_MAX, sizeof(*r->seen));
	r->last = calloc(THREADS_CPUS_MAX, sizeof(*r->last));
	ktread_apply_filter(trace, 0);
	again = ktread_rewind(trace);
	if (r->seen && r->last)
		status = again ? again : read_all(r, trace);
	ktread_apply_filter(trace, 1);
	again = ktread_rewind(trace);
	if (history->states)
		qsort(history->state, history->states, sizeof(history->state[0]), by_owner_of_state);
	sort(&history->waits);
	sort(&history->holds);
	sort(&history->interrupts);
	sort(&history->runs);
	spans_destroy(r->spans);
	threads_destroy(r->threads);
	free(r->open);
	free(r->seen);
	free(r->last);
	free(r);
	return status < 0 ? status : again;
}

void history_free(struct history *history)
{
	free(history->state);
	free(history->waits.span);
	free(history->holds.span);
	free(history->interrupts.span);
	free(history->runs.span);
}

uint32_t history_find_state(const struct history *history, uint64_t owner, uint64_t from)
{
	uint32_t low = 0, high = history->states;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct history_state *state = &history->state[middle];

		if (state->owner < owner || (state->owner == owner && state->to <= from))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t history_find_span(const struct history_spans *spans, uint64_t owner, uint64_t from)
{
	uint32_t low = 0, high = spans->count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct history_span *span = &spans->span[middle];

		if (span->owner < owner || (span->owner == owner && span->to <= from))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
