/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/latencies.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/scheduling.h"
#include "analyze/spans.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "base/grow.h"
#include "ktrx/v2.h"

/* A thread that was woken and has not run since. */
struct waiting {
	uint64_t stamp; /* timestamp of the wakeup; 0 if there was no wakeup */
	uint32_t id;	/* id of the thread that was woken */
	uint32_t waker; /* thread that caused the wakeup */
	uint32_t cpu;	/* CPU on which the wakeup was caused */
	bool interrupt; /* true if an interrupt caused the wakeup */
	bool hidden;	/* true if the filter does not select the wakeup */
};

struct reading {
	struct latencies *latencies;
	const struct latencies_sink *sink; /* called with each duration; NULL: durations are added to rows */
	struct gaps *gaps;
	struct spans *spans;
	struct threads *threads;
	struct wellknown_table known;
	const struct ktread_event *event; /* the event that is being processed */
	uint64_t cost;
	latencies_each *each; /* callback for each duration; NULL: none */
	void *context;
	/* indexed by thread: its wakeup, if the thread was woken and has not run since */
	struct waiting *waiting;
	uint32_t waiting_count;
	uint64_t *seen; /* indexed by CPU: time of the last event */
	uint64_t last;	/* timestamp of the last event */
	/* indexed by the kind of duration: bit map of the events that begin and end it */
	uint8_t needed[LATENCIES_KINDS][(KTRX_EVENT_MAX + 1) / 8];
	/* true if the trace was read to its end, and durations that have not ended are being closed */
	bool closing;
	/*
	 * The trace's filter, if it selects events by CPU, thread or type; otherwise NULL. The trace is then
	 * read without it, because hidden events may end a duration. The filter selects durations by the
	 * events that end them.
	 */
	const struct ktread *filter;
	uint64_t since, until; /* the filter's time window */
	uint64_t hidden;       /* number of unpaired spans at events that the filter does not select */
	int error;
};

static int kind_of(uint8_t begins_by)
{
	switch (begins_by) {
	case WELLKNOWN_SYSCALL_ENTER:
		return LATENCIES_SYSCALL;
	case WELLKNOWN_IRQ_ENTER:
		return LATENCIES_IRQ;
	case WELLKNOWN_FAULT_ENTER:
		return LATENCIES_FAULT;
	case WELLKNOWN_LOCK_CONTEND:
		return LATENCIES_LOCK_WAIT;
	case WELLKNOWN_LOCK_ACQUIRE:
		return LATENCIES_LOCK_HELD;
	default:
		return -1;
	}
}

/* Finds or adds a row. Returns NULL if the table has no room for another row. */
static struct latencies_row *row_of(struct latencies *latencies, enum latencies_kind kind, bool has_number,
				    uint64_t number)
{
	struct latencies_row *row;

	has_number = has_number && (kind == LATENCIES_SYSCALL || kind == LATENCIES_IRQ);
	for (uint32_t n = 0; n < latencies->rows; n++) {
		row = &latencies->row[n];
		if (row->kind == kind && row->has_number == has_number &&
		    (!has_number || row->number == number))
			return row;
	}
	if (latencies->rows == LATENCIES_ROWS) {
		latencies->left_out++;
		return NULL;
	}
	row = &latencies->row[latencies->rows++];
	*row = (struct latencies_row){ .kind = kind, .has_number = has_number, .number = number };
	return row;
}

static bool is_selected(const struct reading *r, const struct ktread_event *event, uint64_t begin)
{
	return !r->filter || (begin >= r->since && begin <= r->until && ktread_selects(r->filter, event));
}

static void keep_error(struct reading *r, int error)
{
	if (error)
		r->error = error;
}

static void on_begin(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		     const struct ktread_event *event)
{
	struct reading *r = context;
	struct latencies_row *row;
	struct ktread_value name;

	(void)owner;
	(void)lane;
	if ((span->kind != WELLKNOWN_IRQ_ENTER && !r->sink) || !is_selected(r, event, event->stamp) ||
	    !wellknown_string(wellknown_of(&r->known, event), event, WELLKNOWN_NAME, &name))
		return;
	if (r->sink) {
		if (kind_of(span->kind) >= 0 && span->has_key)
			keep_error(r,
				   r->sink->name(r->sink->context, (enum latencies_kind)kind_of(span->kind),
						 span->key, name.string, name.length));
		return;
	}
	row = row_of(r->latencies, LATENCIES_IRQ, span->has_key, span->key);
	if (row && row->name[0] == '\0' && name.length < sizeof(row->name))
		memcpy(row->name, name.string, name.length);
}

/* Adds a duration to its row. */
static void measure(struct reading *r, struct latencies_row *row, uint64_t begin,
		    const struct ktread_event *end, uint64_t cost, uint64_t meanwhile)
{
	if (r->each)
		r->each(r->context, &(struct latencies_span){ row->kind, row->has_number, row->number, begin,
							      end->stamp, end->cpu, end->thread });
	keep_error(r, pairs_measure(&row->ticks, &row->worst, begin, end, cost, meanwhile));
}

bool latencies_is_certain(const struct spans *spans, struct gaps *gaps, const uint8_t *needed,
			  struct spans_owner owner, const struct spans_span *span,
			  const struct ktread_event *event)
{
	return event &&
	       !gaps_between(gaps, spans_place(spans, owner, span, event), span->stamp, event->stamp) &&
	       !gaps_switched(gaps, needed, span->stamp, event->stamp);
}

static bool is_measured(struct reading *r, struct spans_owner owner, const struct spans_span *span,
			const struct ktread_event *event, int kind)
{
	return latencies_is_certain(r->spans, r->gaps, r->needed[kind], owner, span, event);
}

/*
 * Counts a duration that is not measured. `end`: the event that ends it; NULL: the model ends it at the
 * current event, without an end, or the trace ends. If no slots are missing, and the current event records
 * that events were switched on or off, or an event was folded, that is why the end is missing.
 */
static void drop(struct reading *r, struct latencies_row *row, uint64_t begin, const struct ktread_event *end)
{
	struct switched_change change;
	bool off;

	if (end)
		off = gaps_switched(r->gaps, r->needed[row->kind], begin, end->stamp) != 0;
	else if (r->closing)
		off = gaps_switched(r->gaps, r->needed[row->kind], begin, r->last) != 0;
	else
		off = (switched_change_of(r->event, &change) ||
		       gaps_switched(r->gaps, r->needed[row->kind], begin, r->event->stamp)) &&
		      !gaps_between(r->gaps, GAPS_ANYWHERE, begin, r->event->stamp);
	if (off)
		row->switched++;
	else
		row->dropped++;
}

static void pass_span(struct reading *r, struct spans_owner owner, const struct spans_span *span,
		      const struct ktread_event *event, int kind)
{
	struct latencies_duration duration = {
		.kind = (enum latencies_kind)kind,
		.how = r->closing ? LATENCIES_OPEN : LATENCIES_DROPPED,
		.begin = span->stamp,
		.cpu = span->cpu,
		.thread = span->thread,
		.has_number = span->has_key,
		.number = span->key,
	};
	uint64_t result;

	if (is_measured(r, owner, span, event, kind)) {
		duration.how = LATENCIES_MEASURED;
		duration.end = event->stamp;
		duration.end_cpu = event->cpu;
	}
	if (event && kind == LATENCIES_SYSCALL && duration.how == LATENCIES_MEASURED &&
	    wellknown_number(wellknown_of(&r->known, event), event, WELLKNOWN_RESULT, &result)) {
		duration.has_result = true;
		duration.result = (int64_t)result;
	}
	keep_error(r, r->sink->take(r->sink->context, &duration));
}

static void on_end(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		   const struct ktread_event *event, uint64_t time)
{
	struct reading *r = context;
	int kind = kind_of(span->kind);
	struct latencies_row *row;
	uint64_t meanwhile = 0;

	(void)lane;
	(void)time;
	if (kind >= 0 && r->sink)
		pass_span(r, owner, span, event, kind);
	if (kind < 0 || r->sink || !(event ? is_selected(r, event, span->stamp) : !span->hidden))
		return;
	row = row_of(r->latencies, (enum latencies_kind)kind, span->has_key, span->key);
	if (!row)
		return;
	if (!is_measured(r, owner, span, event, kind)) {
		drop(r, row, span->stamp, event);
		return;
	}
	if (span->cpu == event->cpu)
		meanwhile = spans_events(r->spans, event->cpu) - span->events;
	measure(r, row, span->stamp, event, r->cost, meanwhile);
}

static struct waiting *waiting_of(struct reading *r, uint32_t index)
{
	struct waiting *larger = base_grow(r->waiting, &r->waiting_count, (size_t)index + 1, sizeof(*larger));

	if (!larger) {
		r->error = KTREAD_E_MEMORY;
		return NULL;
	}
	r->waiting = larger;
	return &larger[index];
}

/*
 * Returns whether the end of a wait is certain: no missing slots or events may have contained an earlier end.
 */
static bool is_wait_measured(struct reading *r, uint64_t begin)
{
	return !gaps_between(r->gaps, GAPS_ANYWHERE, begin, r->event->stamp) &&
	       !gaps_switched(r->gaps, r->needed[LATENCIES_RUN_QUEUE], begin, r->event->stamp);
}

/* `end`: CPU and timestamp at which the thread began to run; NULL if the trace does not show that it ran */
static void pass_wakeup(struct reading *r, const struct waiting *waiting, const struct ktread_event *end)
{
	struct latencies_duration duration = {
		.kind = LATENCIES_RUN_QUEUE,
		.how = r->closing ? LATENCIES_OPEN : LATENCIES_DROPPED,
		.begin = waiting->stamp,
		.cpu = waiting->cpu,
		.thread = waiting->id,
		.waker = waiting->waker,
		.interrupt = waiting->interrupt,
	};

	if (end && is_wait_measured(r, waiting->stamp)) {
		duration.how = LATENCIES_MEASURED;
		duration.end = end->stamp;
		duration.end_cpu = end->cpu;
	}
	keep_error(r, r->sink->take(r->sink->context, &duration));
}

/*
 * Measures the time from a wakeup until the thread runs. If the thread was still runnable after the last
 * switch away from it, it was not woken.
 */
static void on_change(void *context, const struct threads_change *change)
{
	struct reading *r = context;
	struct waiting *waiting = waiting_of(r, change->thread->index);
	bool runs = change->thread->state == THREADS_RUNNING && change->from == THREADS_RUNNABLE;
	/* a copy with the CPU and the thread of the change, because the event may belong to another thread */
	struct ktread_event end = *r->event;
	struct latencies_row *row;

	if (!waiting)
		return;
	end.cpu = change->cpu;
	end.thread = change->thread->id;
	if (waiting->stamp != 0 && r->sink)
		pass_wakeup(r, waiting, runs ? &end : NULL);
	if (runs && waiting->stamp != 0 && change->thread->id != 0 && !r->sink &&
	    is_selected(r, r->event, waiting->stamp)) {
		row = row_of(r->latencies, LATENCIES_RUN_QUEUE, false, 0);
		if (row && is_wait_measured(r, waiting->stamp))
			measure(r, row, waiting->stamp, &end, 0, 0);
		else if (row)
			drop(r, row, waiting->stamp, &end);
	}
	*waiting = (struct waiting){
		.stamp = change->woken ? r->event->stamp : 0,
		.id = change->thread->id,
		.waker = change->waker,
		.cpu = change->cpu,
		.interrupt = change->interrupt,
		.hidden = r->filter && !is_selected(r, r->event, r->event->stamp),
	};
}

static void take(struct reading *r, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&r->known, event);
	const uint64_t time = 2 * ++r->latencies->events, unpaired = spans_unpaired(r->spans);
	const bool hidden = r->filter && !is_selected(r, event, event->stamp);

	spans_hide(r->spans, hidden);
	r->event = event;
	r->last = event->stamp;
	gaps_event(r->gaps, event);
	if (event->cpu < THREADS_CPUS_MAX) {
		if (event->lost > 0) {
			threads_gap(r->threads, event->cpu, r->seen[event->cpu]);
			spans_gap(r->spans, event->cpu, r->seen[event->cpu]);
		}
		r->seen[event->cpu] = time;
	}
	keep_error(r, threads_event(r->threads, event, known, time));
	if (spans_event(r->spans, event, known, time) < 0)
		r->error = KTREAD_E_MEMORY;
	if (hidden)
		r->hidden += spans_unpaired(r->spans) - unpaired;
}

void latencies_mark(const struct ktread *trace, struct wellknown_table *known, enum latencies_kind kind,
		    uint8_t *map)
{
	static const struct {
		enum latencies_kind kind;
		enum wellknown_kind event;
	} needs[] = {
		{ LATENCIES_SYSCALL, WELLKNOWN_SYSCALL_ENTER },
		{ LATENCIES_SYSCALL, WELLKNOWN_SYSCALL_EXIT },
		{ LATENCIES_IRQ, WELLKNOWN_IRQ_ENTER },
		{ LATENCIES_IRQ, WELLKNOWN_IRQ_EXIT },
		{ LATENCIES_IRQ, WELLKNOWN_SWITCH },
		{ LATENCIES_FAULT, WELLKNOWN_FAULT_ENTER },
		{ LATENCIES_FAULT, WELLKNOWN_FAULT_EXIT },
		{ LATENCIES_LOCK_WAIT, WELLKNOWN_LOCK_CONTEND },
		{ LATENCIES_LOCK_WAIT, WELLKNOWN_LOCK_ACQUIRE },
		{ LATENCIES_LOCK_WAIT, WELLKNOWN_LOCK_FAIL },
		{ LATENCIES_LOCK_HELD, WELLKNOWN_LOCK_ACQUIRE },
		{ LATENCIES_LOCK_HELD, WELLKNOWN_LOCK_RELEASE },
		{ LATENCIES_RUN_QUEUE, WELLKNOWN_WAKE },
		{ LATENCIES_RUN_QUEUE, WELLKNOWN_WAKE_QUEUE },
		{ LATENCIES_RUN_QUEUE, WELLKNOWN_SWITCH },
		{ LATENCIES_RUN_QUEUE, WELLKNOWN_EXIT },
		{ LATENCIES_RUN_QUEUE, WELLKNOWN_CREATE },
	};

	for (size_t n = 0; n < sizeof(needs) / sizeof(needs[0]); n++)
		if (needs[n].kind == kind)
			wellknown_mark(trace, known, needs[n].event, map);
}

/* A thread that was woken has not run up to the end of the trace. */
static void close_wait(struct reading *r, const struct waiting *waiting)
{
	struct latencies_row *row;

	if (r->sink) {
		pass_wakeup(r, waiting, NULL);
	} else if (waiting->id != 0 && !waiting->hidden) {
		row = row_of(r->latencies, LATENCIES_RUN_QUEUE, false, 0);
		if (row)
			drop(r, row, waiting->stamp, NULL);
	}
}

/* Counts or passes on the durations that have not ended at the end of the trace. */
static void close_open(struct reading *r)
{
	spans_finish(r->spans);
	r->closing = true;
	spans_close(r->spans, 2 * r->latencies->events);
	for (uint32_t n = 0; n < r->waiting_count && !r->error; n++)
		if (r->waiting[n].stamp != 0)
			close_wait(r, &r->waiting[n]);
}

static int read_all(struct reading *r, struct ktread *trace)
{
	const struct spans_sink sink = { r, on_begin, on_end };
	const struct ktread_event *event;
	int status = gaps_read(&r->gaps, trace);

	if (!status)
		status = threads_create(&r->threads, on_change, r);
	if (!status)
		status = spans_create(&r->spans, r->threads, &sink);
	if (status)
		return status;
	r->latencies->states_unknown =
		scheduling_states_are_empty(gaps_scheduling(r->gaps), &r->latencies->announced);
	threads_learn(r->threads, gaps_scheduling(r->gaps));
	spans_tell_hidden(r->spans);
	for (int kind = 0; kind < LATENCIES_KINDS; kind++)
		latencies_mark(trace, &r->known, (enum latencies_kind)kind, r->needed[kind]);
	if (ktread_is_narrowed(trace)) {
		r->filter = trace;
		ktread_filter_window(trace, &r->since, &r->until);
		ktread_apply_filter(trace, 0);
		status = ktread_rewind(trace);
		if (status < 0)
			return status;
	}
	while ((status = ktread_next(trace, &event)) > 0 && !r->error)
		take(r, event);
	r->latencies->unpaired = spans_unpaired(r->spans) - r->hidden;
	r->latencies->threadless = spans_threadless(r->spans);
	if (status == 0 && !r->error)
		close_open(r);
	return r->error ? r->error : status;
}

static int in_order(const void *a, const void *b)
{
	const struct latencies_row *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static int read_into(struct latencies *latencies, struct ktread *trace, uint64_t cost,
		     const struct latencies_sink *sink, latencies_each *each, void *context)
{
	struct reading *r = calloc(1, sizeof(*r));
	int status = KTREAD_E_MEMORY;

	if (r && latencies) {
		r->latencies = latencies;
		r->sink = sink;
		r->cost = cost;
		r->each = each;
		r->context = context;
		r->seen = calloc(THREADS_CPUS_MAX, sizeof(*r->seen));
		status = r->seen ? read_all(r, trace) : KTREAD_E_MEMORY;
		if (r->filter)
			ktread_apply_filter(trace, 1);
		qsort(latencies->row, latencies->rows, sizeof(latencies->row[0]), in_order);
	}
	if (r) {
		spans_destroy(r->spans);
		threads_destroy(r->threads);
		gaps_free(r->gaps);
		free(r->waiting);
		free(r->seen);
		free(r);
	}
	return status;
}

int latencies_read(struct latencies **latencies, struct ktread *trace, uint64_t cost)
{
	*latencies = calloc(1, sizeof(**latencies));
	return read_into(*latencies, trace, cost, NULL, NULL, NULL);
}

int latencies_read_each(struct latencies **latencies, struct ktread *trace, uint64_t cost,
			latencies_each *each, void *context)
{
	*latencies = calloc(1, sizeof(**latencies));
	return read_into(*latencies, trace, cost, NULL, each, context);
}

int latencies_pass(struct ktread *trace, const struct latencies_sink *sink)
{
	struct latencies *latencies = calloc(1, sizeof(*latencies));
	int status = read_into(latencies, trace, 0, sink, NULL, NULL);

	latencies_free(latencies);
	return status;
}

void latencies_free(struct latencies *latencies)
{
	if (!latencies)
		return;
	for (uint32_t n = 0; n < latencies->rows; n++)
		histogram_free(&latencies->row[n].ticks);
	free(latencies);
}
