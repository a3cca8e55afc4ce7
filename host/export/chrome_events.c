/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes the events of a trace in their order: spans, slices, instants, and arrows of flows (export/chrome_writer.h). */
#include "export/chrome_writer.h"

#include <stdlib.h>

#include "base/json.h"
#include "export/json.h"

/* A slice without duration and an arrow's end bound to it: arrows hold on to slices only. */
static __attribute__((noinline)) void write_flow(struct chrome_writer *writer,
						 const struct ktread_event *event, struct spans_owner owner,
						 struct flows_step step)
{
	struct chrome_row *row = chrome_row_of(writer, owner, 0);
	char *at = chrome_put_head(writer, 'X', row, event->stamp);

	at = json_put_event_name(base_put_literal(at, ",\"dur\":0,\"name\":"), event->type, writer->version);
	at = base_json_name(base_put_literal(at, ",\"cat\":"), event->type->group);
	chrome_finish_event(writer, at, event, chrome_writer_shape(writer, event), CHROME_END);
	at = chrome_put_head(writer, step.ends ? 'f' : 's', row, event->stamp);
	at = base_put_decimal(base_put_literal(at, ",\"id\":"), step.id);
	at = base_json_name(base_put_literal(at, ",\"name\":"), step.name);
	at = base_json_name(base_put_literal(at, ",\"cat\":"), event->type->group);
	chrome_finish(writer, step.ends ? base_put_literal(at, ",\"bp\":\"e\"") : at);
}

static inline __attribute__((always_inline)) void
write_instant(struct chrome_writer *writer, const struct ktread_event *event, struct spans_owner owner)
{
	const struct chrome_row *row = chrome_row_of(writer, owner, 0);
	char *at = chrome_put_head(writer, 'i', row, event->stamp);

	chrome_finish_event(writer, at, event, chrome_writer_shape(writer, event), CHROME_INSTANT);
}

static __attribute__((noinline)) void write_gap(struct chrome_writer *writer,
						const struct ktread_event *event)
{
	uint64_t from = writer->ring[event->ring].seen;
	char *at;

	threads_gap(writer->threads, event->cpu, from);
	spans_gap(writer->spans, event->cpu, from);
	flows_gap(&writer->flows);
	at = chrome_put_head(writer, 'i', chrome_row_of_cpu(writer, event->cpu), event->stamp);
	at = base_put_decimal(
		base_put_literal(
			at, ",\"name\":\"lost slots\",\"cat\":\"loss\",\"s\":\"t\",\"args\":{\"slots\":"),
		event->lost);
	chrome_finish(writer, base_put_literal(at, "}"));
}

/* Feeds the models, which write what begins or ends. Returns what spans_event() does. */
static inline __attribute__((always_inline)) int feed(struct chrome_writer *writer,
						      const struct ktread_event *event,
						      const struct wellknown *known,
						      struct spans_owner *owner)
{
	const struct threads_thread *current;
	int result = threads_event_of(writer->threads, event, known, event->stamp, &current);

	*owner = spans_owner_at(writer->threads, event, current);
	return result ? result : spans_event_of(writer->spans, *owner, event, known, event->stamp);
}

/* Kinds of events that arrows may begin or end at. */
#define KIND(name) (UINT64_C(1) << WELLKNOWN_##name)
#define JOINED                                                                             \
	(KIND(WAKE) | KIND(WAKE_QUEUE) | KIND(NET_TX) | KIND(NET_RX) | KIND(SIGNAL_SEND) | \
	 KIND(SIGNAL_DELIVER))

static __attribute__((noinline)) int
write_joined(struct chrome_writer *writer, const struct ktread_event *event, const struct wellknown *known)
{
	struct spans_owner owner;
	struct flows_step flow;
	int result;

	writer->wakes = known->kind == WELLKNOWN_WAKE || known->kind == WELLKNOWN_WAKE_QUEUE;
	writer->woken = 0;
	result = feed(writer, event, known, &owner);
	flow = flows_event(&writer->flows, event, known);
	if (flow.id == 0 && writer->woken)
		flow = (struct flows_step){ .id = writer->woken, .name = "wakeup" };
	if (flow.id != 0)
		write_flow(writer, event, owner, flow);
	else if (result == 0)
		write_instant(writer, event, owner);
	writer->wakes = false;
	return result;
}

static inline int write_event(struct chrome_writer *writer, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&writer->known, event);
	struct chrome_ring *ring = &writer->ring[event->ring];
	struct spans_owner owner;
	int result;

	if (__builtin_expect(ring->beside, 0))
		return chrome_write_function(writer, event);
	if (__builtin_expect(event->lost != 0, 0))
		write_gap(writer, event);
	ring->seen = event->stamp;
	if (writer->files)
		writer->path = files_event(writer->files, event, known);
	if (__builtin_expect(JOINED >> known->kind & 1, 0)) {
		result = write_joined(writer, event, known);
	} else {
		result = feed(writer, event, known, &owner);
		if (result == 0 && known->kind != WELLKNOWN_SWITCH)
			write_instant(writer, event, owner);
	}
	writer->events++;
	return result < 0 ? result : writer->error;
}

/* Ends what is open at the end of the trace. */
static void close_all(struct chrome_writer *writer, uint64_t last)
{
	chrome_close_sched(writer, last);
	spans_finish(writer->spans);
	spans_close(writer->spans, last);
	chrome_close_functions(writer, last);
}

static int write_all(struct chrome_writer *writer)
{
	struct chrome *chrome = writer->chrome;
	const struct ktread_event *event;
	uint64_t last = chrome->base;
	int result, error = processes_read(&writer->processes, chrome->trace, &writer->known);

	if (error >= 0)
		error = scheduling_read(&writer->scheduling, chrome->trace);
	if (error < 0)
		return error;
	chrome_name(chrome, "process_name", ROW_CPUS, -1, "CPUs");
	chrome_name(chrome, "process_name", ROW_THREADS, -1, "threads");
	chrome_name(chrome, "process_name", ROW_INTERRUPTS, -1, "interrupts");
	chrome_name(chrome, "process_name", ROW_LOCKS, -1, "locks");
	chrome_name(chrome, "process_name", ROW_WAITS, -1, "waits");
	threads_learn(writer->threads, writer->scheduling);
	while ((result = ktread_next(chrome->trace, &event)) > 0 && !chrome->out.error) {
		error = write_event(writer, event);
		if (error)
			break;
		last = event->stamp;
	}
	close_all(writer, last);
	chrome->report->events = writer->events;
	chrome->report->unpaired = spans_unpaired(writer->spans);
	chrome->report->states_unknown =
		scheduling_states_are_empty(writer->scheduling, &chrome->report->announced);
	return error ? error : result;
}

int chrome_write_events(struct chrome *chrome)
{
	struct chrome_writer *writer = calloc(1, sizeof(*writer));
	const struct spans_sink sink = { writer, chrome_span_begin, chrome_span_end };
	int result = KTREAD_E_MEMORY;
	uint32_t rings;

	if (!writer)
		return result;
	rings = ktread_info(chrome->trace)->rings;
	writer->chrome = chrome;
	writer->typed = ktread_syscall_names(chrome->trace) != 0;
	writer->version = ktread_info(chrome->trace)->version;
	writer->ring = calloc((size_t)rings + 1, sizeof(*writer->ring));
	for (uint32_t n = 0; writer->ring && n < rings; n++)
		writer->ring[n].beside = ktread_ring(chrome->trace, n)->kind == KTREAD_RING_BESIDE;
	if (writer->ring && threads_create(&writer->threads, chrome_thread_changed, writer) == 0 &&
	    spans_create(&writer->spans, writer->threads, &sink) == 0 &&
	    spans_heed_switches(writer->spans, chrome->trace) == 0 &&
	    files_create(&writer->files, chrome->trace) == 0) {
		writer->inferred = writer->typed || writer->files;
		result = write_all(writer);
	}
	files_destroy(writer->files);
	spans_destroy(writer->spans);
	threads_destroy(writer->threads);
	scheduling_free(writer->scheduling);
	processes_free(writer->processes);
	functions_free(&writer->functions);
	chrome_rows_free(&writer->rows);
	chrome_texts_free(&writer->texts);
	chrome_places_free(writer);
	free(writer->ring);
	free(writer);
	return result;
}
