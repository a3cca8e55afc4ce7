/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "page/pass.h"

#include <stdlib.h>
#include <string.h>

#include "ktrx/v2.h"

/*
 * the trace is read from this time (in ns) before a time window on, so that the states at the beginning of
 * the window are known
 */
#define MARGIN UINT64_C(20000000)
/* if there are more events than this in the time MARGIN, a shorter time is used */
#define MARGIN_EVENTS 30000u

uint64_t page_time(const struct page *page, uint64_t stamp)
{
	const uint64_t ticks = stamp > page->base ? stamp - page->base : 0;

	return page->scale.frequency ? base_ticks_nanoseconds(&page->scale, ticks) : ticks;
}

void page_slice_end(struct page_pass *pass, const struct page_begun *begun, uint32_t lane, unsigned row,
		    unsigned depth, uint64_t end, unsigned flags)
{
	const uint64_t from = page_time(pass->page, begun->begin), to = page_time(pass->page, end);
	const struct page_slice slice = {
		.begin = from,
		.duration = to > from ? to - from : 0,
		.slot = begun->slot,
		.ring = begun->ring,
		.lane = lane,
		.name = begun->name,
		.other = begun->other,
		.row = (uint8_t)row,
		.class = begun->class,
		.depth = (uint16_t)depth,
		.flags = (uint8_t)flags,
	};

	if (page_is_due(pass, from, to) && page_slices_add(&pass->slices, &slice) < 0)
		pass->error = KTREAD_E_MEMORY;
}

/* Converts a time of the page to a timestamp, which is not before that time. */
static uint64_t page_stamp(const struct page *page, uint64_t time)
{
	const uint64_t frequency = page->scale.frequency;
	const unsigned __int128 ticks =
		frequency ? ((unsigned __int128)time * frequency + 999999999u) / 1000000000u : time;

	return ticks >= UINT64_MAX - page->base ? UINT64_MAX : page->base + (uint64_t)ticks;
}

/* ---- Spans ---- */

static unsigned class_of_span(const struct spans_span *span)
{
	switch (span->kind) {
	case WELLKNOWN_SYSCALL_ENTER:
		return PAGE_CLASS_CALL;
	case WELLKNOWN_IRQ_ENTER:
		return PAGE_CLASS_INTERRUPT;
	case WELLKNOWN_FAULT_ENTER:
		return PAGE_CLASS_FAULT;
	case WELLKNOWN_LOCK_CONTEND:
		return PAGE_CLASS_LOCK_WAIT;
	case WELLKNOWN_LOCK_ACQUIRE:
		return PAGE_CLASS_LOCK_HELD;
	default:
		return PAGE_CLASS_OTHER;
	}
}

/*
 * Returns the number of the string that names a span. A lock without a recorded name is named by its address.
 */
static uint32_t name_span(struct page_pass *pass, const struct spans_span *span,
			  const struct ktread_event *event)
{
	static const char wait[] = "wait ";
	char text[SPAN_NAMES_MOST], *name = text;
	size_t length = span_name(&pass->names, pass->page->trace, span, event,
				  wellknown_of(&pass->page->known, event), text);
	uint32_t symbol = 0;

	/*
	 * the class of the slice shows whether it is a hold of the lock or a wait for the lock; its name does
	 * not
	 */
	if (span->kind == WELLKNOWN_LOCK_CONTEND) {
		name += sizeof(wait) - 1;
		length -= sizeof(wait) - 1;
	}
	if (class_of_span(span) >= PAGE_CLASS_LOCK_WAIT && length > 2 && memcmp(name, "0x", 2) == 0)
		symbol = page_symbol(&pass->symbols, &pass->strings, span->key, PAGE_SYMBOL_ANY);
	return symbol ? symbol : page_string(&pass->strings, name, length);
}

static void begin_span(void *context, struct spans_owner who, unsigned lane, const struct spans_span *span,
		       const struct ktread_event *event)
{
	struct page_pass *pass = context;
	struct page_owner *owner = page_owner_of(pass, who);
	struct page_begun *begun;

	if (!owner)
		return;
	begun = lane ? &owner->lock[lane - 1] : &owner->nest[owner->depth++];
	*begun = (struct page_begun){ .begin = event->stamp,
				      .slot = event->index,
				      .ring = event->ring,
				      .name = name_span(pass, span, event),
				      .class = (uint8_t)class_of_span(span) };
}

static void end_span(void *context, struct spans_owner who, unsigned lane, const struct spans_span *span,
		     const struct ktread_event *event, uint64_t time)
{
	struct page_pass *pass = context;
	struct page_owner *owner = page_owner_of(pass, who);
	const uint64_t end = event ? event->stamp : time;
	const unsigned flags = event ? 0 : PAGE_SLICE_END_UNKNOWN;

	(void)span;
	if (!owner)
		return;
	if (lane)
		page_slice_end(pass, &owner->lock[lane - 1], owner->lane - 1, PAGE_ROW_NEST + lane, 0, end,
			       flags);
	else if (owner->depth--)
		page_slice_end(pass, &owner->nest[owner->depth], owner->lane - 1, PAGE_ROW_NEST, owner->depth,
			       end, flags);
}

static const struct spans_sink page_spans_sink = { .begin = begin_span, .end = end_span };

/* ---- Events ---- */

/* Adds a gap to the page if it is in the time range that is written. */
static void add_gap(struct page_pass *pass, uint32_t cpu, uint64_t from, uint64_t until, uint64_t lost)
{
	const struct page_gap gap = { .begin = page_time(pass->page, from),
				      .end = page_time(pass->page, until),
				      .lost = lost,
				      .cpu = cpu };

	if (page_is_due(pass, gap.begin, gap.end) && page_gaps_add(&pass->gaps, &gap) < 0)
		pass->error = KTREAD_E_MEMORY;
}

/*
 * Returns how many slots of the event's ring are missing directly before the event, and stores the time at
 * which the gap begins. Slots that were overwritten at the beginning of a ring count, too, because spans that
 * began on another CPU may have ended in them.
 */
static uint64_t count_missing(const struct page_pass *pass, const struct ktread_event *event, uint64_t *from)
{
	const struct page_ring *ring = &pass->ring[event->ring];
	const struct ktread_ring *of = ktread_ring(pass->page->trace, event->ring);

	*from = ring->begun ? ring->seen : pass->page->base;
	if (ring->begun || event->lost > 0 || of->overwritten == 0)
		return event->lost;
	/*
	 * in a time window, the beginning of the ring counts as missing only if this is the first event of
	 * the ring
	 */
	if (pass->from)
		*from = gaps_first(pass->page->gaps, event->cpu, pass->from, event->stamp);
	return *from < event->stamp || pass->from == 0 ? of->overwritten : 0;
}

/* Informs the models about the slots that are missing before the event. */
static void note_loss(struct page_pass *pass, const struct ktread_event *event)
{
	struct page_ring *ring = &pass->ring[event->ring];
	const uint64_t seen = event->cpu < THREADS_CPUS_MAX ? pass->seen[event->cpu] : 0;
	uint64_t from;
	const uint64_t lost = count_missing(pass, event, &from);

	if (event->lost > 0)
		threads_gap(pass->threads, event->cpu, ring->seen);
	if (lost > 0) {
		spans_gap(pass->spans, event->cpu, seen);
		page_requests_forget(pass);
		add_gap(pass, event->cpu, from, event->stamp, lost);
	}
	ring->lost += lost;
	ring->begun = true;
	ring->seen = event->stamp;
	if (event->cpu < THREADS_CPUS_MAX)
		pass->seen[event->cpu] = event->stamp;
}

/* Adds gaps for the slots that are missing after the last event of each ring. */
static void note_tails(struct page_pass *pass)
{
	for (uint32_t n = 0; n < ktread_info(pass->page->trace)->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(pass->page->trace, n);
		const uint64_t lost = ring->overwritten + ring->invalid - ring->outside + ring->dropped;

		if (lost > pass->ring[n].lost)
			add_gap(pass, ring->cpu, pass->ring[n].begun ? pass->ring[n].seen : pass->page->base,
				pass->last, lost - pass->ring[n].lost);
	}
}

/* Looks up the names of the addresses in an event. */
static void name_addresses(struct page_pass *pass, const struct ktread_event *event)
{
	struct ktread_value value;

	if (!pass->symbols.from)
		return;
	page_symbol(&pass->symbols, &pass->strings, event->site, PAGE_SYMBOL_RETURN);
	for (uint32_t n = 0; n < event->callers && n < 2; n++)
		page_symbol(&pass->symbols, &pass->strings, event->caller[n], PAGE_SYMBOL_RETURN);
	for (uint32_t n = 0; n < event->type->fields; n++)
		if (event->type->field[n].type == KTRX_TYPE_POINTER && ktread_value(event, n, &value) == 0)
			page_symbol(&pass->symbols, &pass->strings, value.number, PAGE_SYMBOL_ANY);
}

/* Adds the event itself, and its samples if it is a counter. */
static int write_event(struct page_pass *pass, const struct ktread_event *event,
		       const struct wellknown *known)
{
	const struct threads_thread *thread =
		event->thread ? threads_find_on(pass->threads, event->cpu, event->thread) : NULL;
	const struct page_owner *owner = thread ? page_owner_thread(pass, thread) : NULL;
	const uint64_t time = page_time(pass->page, event->stamp);
	int status = 0;

	if (!page_is_due(pass, time, time))
		return 0;
	pass->events++;
	if (pass->page->narrowed && !ktread_selects(pass->page->trace, event))
		return 0;
	if (known->kind == WELLKNOWN_COUNTER)
		status = page_counters_add(&pass->counters, &pass->strings, &pass->lanes, time, event);
	if (status < 0)
		return status;
	name_addresses(pass, event);
	return page_events_add(&pass->list, &pass->strings, time, owner ? owner->lane : 0, event,
			       pass->page->options.redact);
}

static int take_event(struct page_pass *pass, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&pass->page->known, event);
	int status;

	pass->event = event;
	pass->last = event->stamp > pass->last ? event->stamp : pass->last;
	if (ktread_ring(pass->page->trace, event->ring)->kind == KTREAD_RING_BESIDE) {
		status = page_functions_event(pass, event);
		if (status == 0)
			status = write_event(pass, event, known);
		return status < 0 ? status : pass->error;
	}
	gaps_event(pass->page->gaps, event);
	note_loss(pass, event);
	status = threads_event(pass->threads, event, known, event->stamp);
	if (status == 0)
		status = spans_event(pass->spans, event, known, event->stamp);
	page_owners_event(pass, event, known);
	page_requests_event(pass, event, known);
	if (status >= 0)
		status = write_event(pass, event, known);
	return status < 0 ? status : pass->error;
}

/* Completes the block. Returns 0 or a negative KTREAD_E_*. */
static int end_block(struct page_pass *pass)
{
	if (pass->strings.new.failed || pass->lanes.new.failed)
		return KTREAD_E_MEMORY;
	page_strings_write(&pass->strings, pass->block);
	page_symbols_write(&pass->symbols, pass->block);
	page_lanes_write(&pass->lanes, pass->block);
	if (page_slices_write(&pass->slices, pass->lanes.count, pass->block) < 0)
		return KTREAD_E_MEMORY;
	page_arrows_write(&pass->arrows, pass->block);
	page_counters_write(&pass->counters, pass->block);
	page_gaps_write(&pass->gaps, pass->block);
	page_events_write(&pass->list, pass->block);
	pass->events = 0;
	return page_block_end(pass->block);
}

static int take_all(struct page_pass *pass)
{
	struct ktread *const trace = pass->page->trace;
	const struct ktread_event *event;
	uint64_t since, until;
	int status;

	ktread_filter_window(trace, &since, &until);
	while ((status = ktread_next(trace, &event)) > 0 && event->stamp <= until) {
		status = take_event(pass, event);
		if (status == 0 && pass->events == PAGE_BLOCK_EVENTS)
			status = end_block(pass);
		if (status < 0)
			return status;
	}
	if (status < 0)
		return status;
	spans_finish(pass->spans);
	spans_close(pass->spans, pass->last);
	page_states_end(pass);
	page_functions_end(pass);
	page_requests_forget(pass);
	if (status == 0 && pass->until == UINT64_MAX)
		note_tails(pass);
	return pass->error ? pass->error : end_block(pass);
}

static int open_pass(struct page_pass *pass, page_take *take, void *context)
{
	struct spans_sink sink = page_spans_sink;
	int status;

	pass->symbols.from = pass->page->options.symbols;
	pass->symbols.redact = pass->page->options.redact;
	pass->ring = calloc((size_t)ktread_info(pass->page->trace)->rings + 1, sizeof(*pass->ring));
	pass->block = page_block_create(take, context);
	if (!pass->ring || !pass->block)
		return KTREAD_E_MEMORY;
	status = threads_create(&pass->threads, page_thread_changed, pass);
	if (status)
		return status;
	threads_learn(pass->threads, gaps_scheduling(pass->page->gaps));
	sink.context = pass;
	status = spans_create(&pass->spans, pass->threads, &sink);
	if (status)
		return status;
	spans_know_gaps(pass->spans, pass->page->gaps);
	return spans_track_switches(pass->spans, pass->page->trace);
}

static void close_pass(struct page_pass *pass)
{
	spans_destroy(pass->spans);
	threads_destroy(pass->threads);
	page_block_free(pass->block);
	page_strings_free(&pass->strings);
	page_bytes_free(&pass->lanes.new);
	page_slices_free(&pass->slices);
	page_functions_free(pass);
	page_events_free(&pass->list);
	page_symbols_free(&pass->symbols);
	page_counters_free(&pass->counters);
	free(pass->arrows.arrow);
	free(pass->gaps.gap);
	free(pass->cpus.owner);
	free(pass->of_threads.owner);
	free(pass->ring);
	free(pass);
}

static int write_blocks(struct page *page, const struct page_pass *like, page_take *take, void *context)
{
	struct page_pass *pass = malloc(sizeof(*pass));
	int status;

	if (!pass)
		return KTREAD_E_MEMORY;
	*pass = *like;
	gaps_restart(page->gaps);
	status = open_pass(pass, take, context);
	if (status == 0)
		status = take_all(pass);
	close_pass(pass);
	return status;
}

int page_write_blocks(struct page *page, page_take *take, void *context)
{
	struct page_pass pass = { .page = page, .until = UINT64_MAX };
	uint64_t since, until;
	int status = 0, again;

	if (page->narrowed) {
		ktread_filter_window(page->trace, &since, &until);
		pass.since = page_time(page, since);
		ktread_apply_filter(page->trace, 0);
		status = ktread_rewind(page->trace);
	}
	if (status == 0)
		status = write_blocks(page, &pass, take, context);
	ktread_apply_filter(page->trace, 1);
	again = ktread_rewind(page->trace);
	return status < 0 ? status : again;
}

/* Makes the reader return only events between two timestamps. Returns 0 or a negative KTREAD_E_*. */
static int narrow(struct page *page, uint64_t since, uint64_t until)
{
	const struct ktread_filter filter = {
		.size = sizeof(filter), .thread = -1, .since = since, .until = until
	};
	const int status = ktread_set_filter(page->trace, &filter);

	return status < 0 ? status : ktread_rewind(page->trace);
}

/* Undoes narrow(). Returns `status`, or the error. */
static int widen(struct page *page, int status)
{
	int error = ktread_set_filter(page->trace, NULL);

	if (error == 0)
		error = ktread_rewind(page->trace);
	return status < 0 ? status : error;
}

int page_count(struct page *page, uint64_t since, uint64_t until, uint64_t *events)
{
	const uint64_t begin = page_stamp(page, since);
	uint64_t before = 0;
	struct ktread_brief brief[256];
	int status = narrow(page, page_stamp(page, since > MARGIN ? since - MARGIN : 0),
			    page_stamp(page, until) - 1);

	*events = 0;
	while (status >= 0 && (status = ktread_next_briefs(page->trace, brief, 256)) > 0)
		for (int n = 0; n < status; n++)
			++*(brief[n].stamp < begin ? &before : events);
	page->margin = before > MARGIN_EVENTS ? MARGIN / (before / MARGIN_EVENTS + 1) : MARGIN;
	page->margin_before = since;
	return widen(page, status);
}

int page_write_window(struct page *page, uint64_t since, uint64_t until, page_take *take, void *context)
{
	const uint64_t width = until > since ? until - since : 0;
	struct page_pass pass = { .page = page, .since = since, .until = until };
	uint64_t before, after, events;
	int status =
		page->margin && page->margin_before == since ? 0 : page_count(page, since, since, &events);

	before = width + page->margin;
	after = before / 4;
	if (since > before)
		pass.from = page_stamp(page, since - before);
	if (status == 0)
		status = narrow(page, pass.from,
				page_stamp(page, until < UINT64_MAX - after ? until + after : until));
	if (status == 0 && !page->gaps)
		status = page_models_read(page, gaps_read_part);
	if (status == 0)
		status = write_blocks(page, &pass, take, context);
	return widen(page, status);
}
