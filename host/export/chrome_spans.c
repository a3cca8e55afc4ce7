/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Spans: system calls, faults, interrupts and locks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "export/chrome.h"

static void name_span(struct chrome_writer *writer, const struct spans_span *span,
		      const struct ktread_event *event, char *text, size_t size)
{
	const struct wellknown *known = wellknown_of(&writer->known, event);
	unsigned long long key = span->key;
	struct ktread_value value = { .length = 0 };
	const char *call = NULL;
	int named = wellknown_string(known, event, WELLKNOWN_NAME, &value) ? (int)value.length : 0;

	named = named < 40 ? named : 40;
	switch (span->kind) {
	case WELLKNOWN_SYSCALL_ENTER:
		if (span->has_key && key <= UINT32_MAX)
			call = ktread_syscall_name(writer->chrome->trace, (uint32_t)key);
		chrome_call_name(text, size, call, key);
		break;
	case WELLKNOWN_IRQ_ENTER:
		snprintf(text, size, "irq %llu%s%.*s", key, named ? " " : "", named,
			 named ? value.string : "");
		break;
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
		snprintf(text, size, "%s ", span->kind == WELLKNOWN_LOCK_CONTEND ? "wait for" : "hold");
		if (named)
			snprintf(text + strlen(text), size - strlen(text), "%.*s", named, value.string);
		else
			snprintf(text + strlen(text), size - strlen(text), "0x%llx", key);
		break;
	default:
		snprintf(text, size, "page fault");
	}
}

/* Implements chrome_span_begin() for all spans. */
static __attribute__((noinline)) void begin_named(struct chrome_writer *writer, struct chrome_row *row,
						  const struct spans_span *span,
						  const struct ktread_event *event)
{
	const struct chrome_shape *shape = chrome_writer_shape(writer, event);
	char name[CHROME_ROWS_NAME], *at;

	name_span(writer, span, event, name, sizeof(name));
	at = chrome_put_begin(writer, row, event->stamp, (struct chrome_piece){ .text = NULL }, name);
	if (at)
		chrome_finish_event(writer, base_json_name(base_put_literal(at, ",\"name\":"), name), event,
				    shape, CHROME_BEGIN);
}

void chrome_span_begin(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		       const struct ktread_event *event)
{
	struct chrome_writer *writer = context;
	struct chrome_row *row = chrome_row_of(writer, owner, lane);
	const struct chrome_call *call = NULL;
	char *at;

	/* Fast path for system calls, which are half of the events in many traces. */
	if (span->kind == WELLKNOWN_SYSCALL_ENTER && span->has_key)
		call = chrome_call_of(&writer->texts, writer->chrome->trace, span->key);
	if (!call) {
		begin_named(writer, row, span, event);
		return;
	}
	at = chrome_put_begin(writer, row, event->stamp, call->name, NULL);
	if (at)
		chrome_finish_event(writer, chrome_put_piece(at, call->name), event,
				    chrome_writer_shape(writer, event), CHROME_BEGIN);
}

void chrome_span_end(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		     const struct ktread_event *event, uint64_t time)
{
	struct chrome_writer *writer = context;
	uint64_t stamp = event ? event->stamp : time;
	char *at;

	/* if the clock was set back during the span, the end must not come before the beginning */
	if (stamp < span->stamp)
		stamp = span->stamp;
	at = chrome_put_end(writer, chrome_row_of(writer, owner, lane), stamp);
	if (at && event)
		chrome_finish_event(writer, at, event, chrome_writer_shape(writer, event), CHROME_END);
	else if (at && writer->shown.filter)
		chrome_finish(writer, base_put_literal(at, ",\"args\":{\"end\":\"hidden or not recorded\"}"));
	else if (at)
		chrome_finish(writer, base_put_literal(at, ",\"args\":{\"end\":\"not recorded\"}"));
}

/* Writes which threads run and sleep: slices for CPUs and for waits, and arrows from wakeups. */

/*
 * Writes the last part of a slice in which a thread runs: ,"name":"init
 * (1)","cat":"sched","args":{"thread":1}
 */
static char *put_runs(struct chrome_writer *writer, char *at, uint32_t thread)
{
	char name[64];

	chrome_thread_label(writer, thread, name, sizeof(name));
	at = base_json_name(base_put_literal(at, ",\"name\":"), name);
	at = base_put_decimal(base_put_literal(at, ",\"cat\":\"sched\",\"args\":{\"thread\":"), thread);
	return base_put_literal(at, "}");
}

/* Writes the same as put_runs(), but caches the text for the next time. */
static char *put_label(struct chrome_writer *writer, char *at, const struct chrome_slice *slice)
{
	struct chrome_place *place = slice->index < writer->places ? &writer->place[slice->index] : NULL;
	char *end;

	if (place && place->label)
		return (char *)memcpy(at, place->label, place->label_length) + place->label_length;
	end = put_runs(writer, at, slice->thread);
	if (place) {
		place->label_length = (uint32_t)(end - at);
		place->label = malloc(place->label_length);
		if (place->label)
			memcpy(place->label, at, place->label_length);
	}
	return end;
}

static void end_slice(struct chrome_writer *writer, uint32_t cpu, uint64_t time)
{
	struct chrome_slice *slice = &writer->running[cpu];
	char *at;

	if (!slice->open)
		return;
	slice->open = false;
	at = chrome_put_slice(writer, chrome_row_of_cpu(writer, cpu), slice->since, time);
	chrome_finish(writer, put_label(writer, at, slice));
}

/* Ends a wait. If slots of any CPU are missing in it, the thread may have been woken there. */
static void end_wait(struct chrome_writer *writer, uint32_t index, uint64_t time, bool woken)
{
	struct chrome_wait *wait = &writer->place[index].wait;
	uint64_t gap;
	char *at;

	if (!wait->open)
		return;
	wait->open = false;
	gap = gaps_first(writer->gaps, GAPS_ANYWHERE, wait->since, time);
	if (gap != UINT64_MAX) {
		time = gap;
		woken = false;
	}
	at = chrome_put_slice(writer, chrome_row_of_lane(writer, index, LANE_WAITS), wait->since, time);
	at = wait->state == THREADS_WAITING
		     ? base_put_literal(at, ",\"name\":\"wait\",\"cat\":\"sched\",\"args\":{")
		     : base_put_literal(at, ",\"name\":\"sleep\",\"cat\":\"sched\",\"args\":{");
	if (wait->object) {
		at = base_put_hex(base_put_literal(at, "\"for\":\"0x"), wait->object);
		at = base_put_literal(at, "\",");
	}
	chrome_finish(writer, woken ? base_put_literal(at, "\"end\":\"woken\"}")
				    : base_put_literal(at, "\"end\":\"not recorded\"}"));
}

static bool sleeps(enum threads_state state)
{
	return state == THREADS_SLEEPING || state == THREADS_WAITING;
}

/* Writes the end of the arrow from a wakeup to the place where the woken thread runs next. */
static void arrive(struct chrome_writer *writer, struct chrome_wait *wait, uint32_t cpu, uint64_t time)
{
	char *at;

	if (wait->flow == 0)
		return;
	at = chrome_put_head(writer, 'f', chrome_row_of_cpu(writer, cpu), time);
	at = base_put_decimal(base_put_literal(at, ",\"id\":"), wait->flow);
	chrome_finish(writer, base_put_literal(at, ",\"name\":\"wakeup\",\"cat\":\"sched\",\"bp\":\"e\""));
	wait->flow = 0;
}

static void wait_changed(struct chrome_writer *writer, const struct threads_change *change)
{
	const struct threads_thread *thread = change->thread;
	struct chrome_wait *wait;

	if (thread->index >= writer->places && !chrome_places_reserve(writer, thread->index))
		return;
	wait = &writer->place[thread->index].wait;
	if (wait->open)
		end_wait(writer, thread->index, change->time, change->woken);
	/*
	 * An arrow begins at an event and has only one end. So if an event wakes several threads, only the
	 * first of them gets an arrow.
	 */
	if (change->woken && writer->wakes && !writer->woken)
		writer->woken = wait->flow = ++writer->flows.ids;
	if (thread->state == THREADS_UNKNOWN)
		wait->flow = 0;
	if (thread->state == THREADS_RUNNING)
		arrive(writer, wait, change->cpu, change->time);
	if (sleeps((enum threads_state)thread->state))
		*wait = (struct chrome_wait){
			.since = change->time, .object = thread->object, .state = thread->state, .open = true
		};
}

void chrome_thread_changed(void *context, const struct threads_change *change)
{
	struct chrome_writer *writer = context;
	const struct threads_thread *thread = change->thread;

	wait_changed(writer, change);
	if (change->cpu >= THREADS_CPUS_MAX)
		return;
	if (thread->state == THREADS_RUNNING) {
		end_slice(writer, change->cpu, change->time);
		writer->running[change->cpu] =
			(struct chrome_slice){ change->time, thread->id, thread->index, true };
	} else if (change->from == THREADS_RUNNING && writer->running[change->cpu].open &&
		   writer->running[change->cpu].thread == thread->id) {
		end_slice(writer, change->cpu, change->time);
	}
}

/* Returns until when a state that is open at the end of the trace, `last`, is certain. */
static uint64_t certain_until(const struct chrome_writer *writer, uint32_t cpu, uint64_t since, uint64_t last)
{
	const uint64_t gap = gaps_first(writer->gaps, cpu, since, last);

	return gap < last ? gap : last;
}

void chrome_close_sched(struct chrome_writer *writer, uint64_t last)
{
	for (uint32_t cpu = 0; cpu < THREADS_CPUS_MAX; cpu++)
		if (writer->running[cpu].open)
			end_slice(writer, cpu, certain_until(writer, cpu, writer->running[cpu].since, last));
	for (uint32_t index = 0; index < writer->places; index++)
		end_wait(writer, index,
			 certain_until(writer, GAPS_ANYWHERE, writer->place[index].wait.since, last), false);
}

/* ---- Lost slots ---- */

void chrome_put_lost(struct chrome_writer *writer, uint32_t cpu, uint64_t stamp, uint64_t slots)
{
	char *at = chrome_put_head(writer, 'i', chrome_row_of_cpu(writer, cpu), stamp);

	at = base_put_decimal(
		base_put_literal(
			at, ",\"name\":\"lost slots\",\"cat\":\"loss\",\"s\":\"t\",\"args\":{\"slots\":"),
		slots);
	chrome_finish(writer, base_put_literal(at, "}"));
}

/* Returns the number of slots missing after the last event of a ring; 0 for version 1, which has no gaps. */
static uint64_t lost_at_end(const struct chrome_writer *writer, uint32_t n)
{
	const struct ktread_ring *ring = ktread_ring(writer->chrome->trace, n);
	const uint64_t lost = ring->overwritten + ring->invalid - ring->outside;

	if (ktread_info(writer->chrome->trace)->version == 1 || ring->cpu >= THREADS_CPUS_MAX)
		return 0;
	return lost > writer->ring[n].lost ? lost - writer->ring[n].lost : 0;
}

void chrome_write_losses(struct chrome_writer *writer, uint64_t last, bool whole)
{
	for (uint32_t n = 0; n < ktread_info(writer->chrome->trace)->rings; n++) {
		const struct chrome_ring *ring = &writer->ring[n];
		const uint64_t slots = ring->held + (whole ? lost_at_end(writer, n) : 0);

		if (slots == 0 || ring->beside || ring->seen == 0 || (writer->shown.filter && !ring->shown))
			continue;
		chrome_put_lost(writer,
				writer->shown.filter ? ring->cpu : ktread_ring(writer->chrome->trace, n)->cpu,
				last, slots);
	}
}
