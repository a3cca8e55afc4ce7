/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* JSON objects of the trace: their common beginning and end, and the arguments of events. */
#include "export/chrome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/order.h"
#include "base/escape.h"
#include "base/json.h"
#include "export/timeline.h"
#include "ktrx/v2.h"

/* Writes "types":"size, fd, ptr, size": the types of the call's result and arguments. */
static char *put_types(struct chrome_writer *writer, char *at, const struct ktread_event *event, bool comma)
{
	const struct wellknown *known = wellknown_of(&writer->known, event);
	const struct chrome_call *call;
	const char *types;
	uint64_t number;

	if (known->kind != WELLKNOWN_SYSCALL_ENTER ||
	    !wellknown_number(known, event, WELLKNOWN_NUMBER, &number) || number > UINT32_MAX)
		return at;
	call = chrome_call_of(&writer->texts, writer->chrome->trace, number);
	types = call ? NULL : ktread_syscall_types(writer->chrome->trace, (uint32_t)number);
	*at = ',';
	if (call && call->types.length)
		return chrome_put_piece(at + comma, call->types);
	return types ? base_json_name(base_put_literal(at + comma, "\"types\":"), types) : at;
}

static char *put_addresses(char *at, const struct ktread_event *event)
{
	if (event->callers) {
		at = base_put_hex(base_put_literal(at, ",\"caller\":\"0x"), event->caller[0]);
		*at++ = '"';
	}
	if (event->callers > 1) {
		at = base_put_hex(base_put_literal(at, ",\"caller's caller\":\"0x"), event->caller[1]);
		*at++ = '"';
	}
	if (event->site) {
		at = base_put_hex(base_put_literal(at, ",\"site\":\"0x"), event->site);
		*at++ = '"';
	}
	return at;
}

/*
 * Writes arguments that come from other parts of the trace than the event's fields. On entry, `*comma` is
 * true if an argument was already written. On return, it is true if the next argument needs a comma.
 */
static char *put_inferred(struct chrome_writer *writer, char *at, const struct ktread_event *event,
			  bool *comma)
{
	char *begin = at;

	if (writer->typed)
		at = put_types(writer, at, event, *comma);
	*comma |= at > begin;
	if (writer->path.bytes) {
		*at = ',';
		at = base_json_string(base_put_literal(at + *comma, "\"path\":"), writer->path.bytes,
				      writer->path.length);
		*comma = true;
	}
	return at;
}

/*
 * Writes the lead (the text before the arguments) and the fields of an event that has no cached text (struct
 * chrome_shape).
 */
static char *put_shapeless(char *at, const struct ktread_event *event, enum chrome_lead lead, bool *comma)
{
	const char *group = event->type->group;
	char *begin;

	if (lead == CHROME_INSTANT) {
		at = json_put_event_name(base_put_literal(at, ",\"name\":"), event->type);
		group = *group ? group : "other";
	}
	if (lead != CHROME_END)
		at = base_json_name(base_put_literal(at, ",\"cat\":"), group);
	if (lead == CHROME_INSTANT)
		at = base_put_literal(at, ",\"s\":\"t\"");
	begin = base_put_literal(at, ",\"args\":{");
	at = json_put_fields(begin, event);
	*comma = at > begin;
	return at;
}

static char *put_cpu(char *at, const struct chrome_shape *shape, bool comma)
{
	const struct chrome_piece cpu = shape ? shape->cpu : (struct chrome_piece){ .text = NULL };

	*at = ',';
	if (!shape)
		return base_put_literal(at + comma, "\"cpu\":");
	memcpy(at, cpu.text + !comma, cpu.length - !comma);
	return at + cpu.length - !comma;
}

/* Implements chrome_finish_event() for all events. */
static __attribute__((noinline)) void finish_slowly(struct chrome_writer *writer, char *at,
						    const struct ktread_event *event,
						    const struct chrome_shape *shape, enum chrome_lead lead)
{
	bool comma;

	at = shape ? chrome_put_fields(at, shape, lead, event, &comma)
		   : put_shapeless(at, event, lead, &comma);
	at = put_inferred(writer, at, event, &comma);
	at = base_put_decimal(put_cpu(at, shape, comma), event->cpu);
	at = put_addresses(at, event);
	*at = '}';
	chrome_finish(writer, at + 1);
}

void chrome_finish_event(struct chrome_writer *writer, char *at, const struct ktread_event *event,
			 const struct chrome_shape *shape, enum chrome_lead lead)
{
	const struct chrome_field *field, *last;
	const unsigned char *from = event->payload;

	if (__builtin_expect(!shape || event->payload_size < shape->size || writer->inferred ||
				     event->callers || event->site || event->cpu > 999999,
			     0)) {
		finish_slowly(writer, at, event, shape, lead);
		return;
	}
	field = shape->field;
	last = field + shape->fields;
	at = chrome_put_piece(at, shape->lead_field[lead]);
	for (;;) {
		at = chrome_put_number(at, field, from);
		from += field->width;
		if (++field == last)
			break;
		at = chrome_put_piece(at, field->name);
	}
	at = base_put_middle(chrome_put_piece(at, shape->cpu), event->cpu);
	*at = '}';
	chrome_finish(writer, at + 1);
}

/* Writes the functions of hardware traces, which are merged into the events. */

static uint64_t add_track(void *context, const char *name, uint64_t stamp)
{
	struct chrome_writer *writer = context;
	const uint64_t track = writer->function_tracks++;

	(void)stamp;
	if (track == 0)
		chrome_name(writer->chrome, "process_name", ROW_FUNCTIONS, -1, "functions");
	chrome_name(writer->chrome, "thread_name", ROW_FUNCTIONS, (int64_t)track, name);
	return track;
}

static void draw_function(void *context, uint64_t track, enum functions_mark mark,
			  const struct ktread_event *event, uint64_t stamp)
{
	struct chrome_writer *writer = context;
	struct chrome_row *row = chrome_row_make(writer, ROW_FUNCTIONS, track);
	char name[CHROME_ROWS_NAME] = "?", *at;
	struct ktread_value value;

	if (mark == FUNCTIONS_END) {
		at = chrome_put_end(writer, row, stamp);
		if (at)
			chrome_finish(writer, at);
		return;
	}
	if (ktread_value(event, 0, &value) == 0 && value.type == KTRX_TYPE_STRING)
		snprintf(name, sizeof(name), "%.*s",
			 (int)base_utf8_cut(value.string, value.length, sizeof(name) - 1), value.string);
	at = mark == FUNCTIONS_BEGIN
		     ? chrome_put_begin(writer, row, stamp, (struct chrome_piece){ .text = NULL }, name)
		     : chrome_put_head(writer, 'i', row, stamp);
	if (!at)
		return;
	at = base_json_string(base_put_literal(at, ",\"name\":"), name, strlen(name));
	at = base_put_literal(at, ",\"cat\":\"hwt\"");
	if (mark == FUNCTIONS_INSTANT)
		at = base_put_literal(at, ",\"s\":\"t\"");
	chrome_finish_event(writer, at, event, chrome_writer_shape(writer, event), CHROME_END);
}

static int chrome_write_function(struct chrome_writer *writer, const struct ktread_event *event)
{
	const struct functions_sink sink = { add_track, draw_function, writer };

	writer->path = (struct files_path){ 0 };
	writer->events++;
	return functions_event(&writer->functions, &sink, event, event->stamp);
}

static void chrome_close_functions(struct chrome_writer *writer, uint64_t last)
{
	const struct functions_sink sink = { add_track, draw_function, writer };

	functions_close(&writer->functions, &sink, last);
}

/*
 * Writes the events of a trace, in the order of time, as spans, slices, instants, and arrows of flows
 * (export/chrome.h).
 */

/*
 * Writes a slice without duration, and an arrow that begins or ends at this slice. The slice is needed
 * because viewers attach arrows only to slices.
 */
static __attribute__((noinline)) void write_flow(struct chrome_writer *writer,
						 const struct ktread_event *event, struct spans_owner owner,
						 struct flows_step step)
{
	struct chrome_row *row = chrome_row_of(writer, owner, 0);
	char *at = chrome_put_head(writer, 'X', row, event->stamp);

	at = json_put_event_name(base_put_literal(at, ",\"dur\":0,\"name\":"), event->type);
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

/* Handles slots that were lost before the event, or before hidden events of its ring. */
static __attribute__((noinline)) void write_gap(struct chrome_writer *writer,
						const struct ktread_event *event)
{
	struct chrome_ring *ring = &writer->ring[event->ring];

	if (event->lost > 0) {
		ring->lost += event->lost;
		gaps_event(writer->gaps, event);
		threads_gap(writer->threads, event->cpu, ring->seen);
		spans_gap(writer->spans, event->cpu, ring->seen);
		flows_gap(&writer->flows);
	}
	ring->held = event->stamp < writer->shown.since ? 0 : ring->held + event->lost;
	if (writer->shown.hidden || ring->held == 0)
		return;
	chrome_put_lost(writer, event->cpu, event->stamp, ring->held);
	ring->held = 0;
}

/*
 * Ends the spans and slices that are open on the event's CPU, at the time of that CPU's last event, because
 * the slots between the two events are missing. Returns whether slots after the event are missing, too.
 */
static __attribute__((noinline)) bool write_head(struct chrome_writer *writer,
						 const struct ktread_event *event)
{
	const struct ktread *trace = writer->chrome->trace;
	const enum threads_head head = threads_pass_head(&writer->heads, trace, event);
	const struct threads_thread *runs;

	writer->ring[event->ring].apart = ktread_ring(trace, event->ring)->kind == KTRX_RING_SHARED;
	if (head == THREADS_HEAD_COMPLETE)
		return false;
	runs = threads_on(writer->threads, event->cpu);
	if (runs)
		threads_gap(writer->threads, event->cpu, runs->seen);
	spans_gap(writer->spans, event->cpu, runs ? runs->seen : 0);
	flows_gap(&writer->flows);
	return head == THREADS_HEAD_AROUND;
}

static __attribute__((noinline)) void pass_switched(struct chrome_writer *writer,
						    const struct ktread_event *event)
{
	struct switched_change change;

	if (switched_change_of(event, &change))
		threads_switched(writer->threads, &change,
				 switched_change_stamp(&change, writer->chrome->trace, event));
}

static __attribute__((noinline)) void note_shown(struct chrome_writer *writer,
						 const struct ktread_event *event)
{
	struct chrome_ring *ring = &writer->ring[event->ring];

	if (writer->shown.hidden)
		return;
	ring->shown = true;
	ring->cpu = event->cpu;
}

/*
 * Passes the event to the models of threads and spans. Their callbacks write the spans and slices that begin
 * or end. Returns the same values as spans_event().
 */
static inline __attribute__((always_inline)) int feed(struct chrome_writer *writer,
						      const struct ktread_event *event,
						      const struct wellknown *known,
						      struct spans_owner *owner)
{
	const struct threads_thread *current;
	int result = threads_event_of(writer->threads, event, known, event->stamp, &current);

	*owner = spans_owner_at(writer->threads, event, current);
	if (__builtin_expect(writer->shown.filter != NULL, 0)) {
		shown_reveal(&writer->shown, writer->threads, event, event->stamp);
		spans_hide(writer->spans, writer->shown.hidden);
		note_shown(writer, event);
	}
	return result ? result : spans_event_of(writer->spans, *owner, event, known, event->stamp);
}

/* Bit map of the kinds of events at which arrows may begin or end. */
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

	writer->wakes = !writer->shown.hidden &&
			(known->kind == WELLKNOWN_WAKE || known->kind == WELLKNOWN_WAKE_QUEUE);
	writer->woken = 0;
	result = feed(writer, event, known, &owner);
	flow = flows_event(&writer->flows, event, known);
	if (flow.id == 0 && writer->woken)
		flow = (struct flows_step){ .id = writer->woken, .name = "wakeup" };
	if (writer->shown.hidden && flow.id != 0 && !flow.ends)
		flows_forget(&writer->flows, &flow);
	else if (flow.id != 0 && !writer->shown.hidden)
		write_flow(writer, event, owner, flow);
	else if (result == 0 && !writer->shown.hidden)
		write_instant(writer, event, owner);
	writer->wakes = false;
	return result;
}

static inline int write_event(struct chrome_writer *writer, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&writer->known, event);
	struct chrome_ring *ring = &writer->ring[event->ring];
	struct spans_owner owner;
	bool apart = false;
	int result;

	if (__builtin_expect(ring->beside, 0))
		return writer->shown.hidden ? 0 : chrome_write_function(writer, event);
	if (__builtin_expect(ring->apart, 0))
		apart = write_head(writer, event);
	if (__builtin_expect(event->id == writer->switched || event->id == writer->stopped, 0))
		pass_switched(writer, event);
	if (__builtin_expect((event->lost | ring->held) != 0, 0))
		write_gap(writer, event);
	ring->seen = event->stamp;
	if (writer->files)
		writer->path = files_event(writer->files, event, known);
	if (__builtin_expect(JOINED >> known->kind & 1, 0)) {
		result = write_joined(writer, event, known);
	} else {
		result = feed(writer, event, known, &owner);
		if (result == 0 && known->kind != WELLKNOWN_SWITCH && !writer->shown.hidden)
			write_instant(writer, event, owner);
	}
	if (__builtin_expect(apart, 0))
		threads_gap(writer->threads, event->cpu, event->stamp);
	writer->events += !writer->shown.hidden;
	if (writer->shown.failed)
		result = KTREAD_E_MEMORY;
	return result < 0 ? result : writer->error;
}

/* Ends all spans and slices that are open at the end of the trace. */
static void close_all(struct chrome_writer *writer, uint64_t last, bool whole)
{
	uint64_t since, until;

	ktread_filter_window(writer->chrome->trace, &since, &until);
	chrome_write_losses(writer, last, whole);
	chrome_close_sched(writer, last);
	spans_finish(writer->spans);
	spans_finish_gaps(writer->spans, until);
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
		error = gaps_read(&writer->gaps, chrome->trace);
	if (error >= 0)
		error = shown_open(&writer->shown, chrome->trace);
	if (error < 0)
		return error;
	chrome_name(chrome, "process_name", ROW_CPUS, -1, "CPUs");
	chrome_name(chrome, "process_name", ROW_THREADS, -1, "threads");
	chrome_name(chrome, "process_name", ROW_INTERRUPTS, -1, "interrupts");
	chrome_name(chrome, "process_name", ROW_LOCKS, -1, "locks");
	chrome_name(chrome, "process_name", ROW_WAITS, -1, "waits");
	writer->shown.gaps = writer->gaps;
	threads_learn(writer->threads, gaps_scheduling(writer->gaps));
	spans_know_gaps(writer->spans, writer->gaps);
	while ((result = ktread_next(chrome->trace, &event)) > 0 && !chrome->out.error &&
	       shown_event(&writer->shown, event)) {
		error = write_event(writer, event);
		if (error)
			break;
		last = event->stamp;
	}
	close_all(writer, last, result == 0 && !error && !writer->shown.ended);
	chrome->report->events = writer->events;
	chrome->report->unpaired = spans_unpaired(writer->spans);
	chrome->report->states_unknown =
		scheduling_states_are_empty(gaps_scheduling(writer->gaps), &chrome->report->announced);
	return error ? error : result;
}

static uint64_t time_of(void *clock, uint64_t stamp)
{
	(void)clock;
	return stamp;
}

/* Finds the rings that contain functions, and the rings whose events need write_head(). */
static void find_heads(struct chrome_writer *writer, uint32_t rings)
{
	for (uint32_t n = 0; n < rings; n++) {
		const struct ktread_ring *ring = ktread_ring(writer->chrome->trace, n);

		writer->ring[n].beside = ring->kind == KTREAD_RING_BESIDE;
		writer->ring[n].apart = n > 0 && (ring->overwritten > 0 || ring->kind == KTRX_RING_SHARED);
	}
	threads_find_heads(&writer->heads, writer->chrome->trace);
}

/* Returns the id of an event of the group `ktrace`; UINT32_MAX if the trace does not have it. */
static uint32_t id_of(const struct ktread *trace, const char *name)
{
	const struct ktread_type *type = ktread_type_find(trace, "ktrace", name);

	return type ? type->id : UINT32_MAX;
}

/* Writes all events. Returns the last result of ktread_next(), or KTREAD_E_MEMORY. */
static int chrome_write_events(struct chrome *chrome)
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
	writer->ring = calloc((size_t)rings + 1, sizeof(*writer->ring));
	if (writer->ring)
		find_heads(writer, rings);
	writer->switched = id_of(chrome->trace, "switched");
	writer->stopped = id_of(chrome->trace, "stopped");
	writer->shown.changed = chrome_thread_changed;
	writer->shown.context = writer;
	writer->shown.time_of = time_of;
	if (writer->ring && threads_create(&writer->threads, shown_change, &writer->shown) == 0 &&
	    threads_track_switches(writer->threads, chrome->trace, &writer->known) == 0 &&
	    spans_create(&writer->spans, writer->threads, &sink) == 0 &&
	    spans_track_switches(writer->spans, chrome->trace) == 0 &&
	    files_create(&writer->files, chrome->trace) == 0) {
		writer->inferred = writer->typed || writer->files;
		result = write_all(writer);
	}
	files_destroy(writer->files);
	spans_destroy(writer->spans);
	threads_destroy(writer->threads);
	gaps_free(writer->gaps);
	shown_close(&writer->shown, chrome->trace);
	processes_free(writer->processes);
	functions_free(&writer->functions);
	chrome_rows_free(&writer->rows);
	chrome_texts_free(&writer->texts);
	chrome_places_free(writer);
	free(writer->ring);
	free(writer);
	return result;
}

/* Format "json": the Trace Event Format that chrome://tracing and Perfetto read. */

char *chrome_put_new_time(struct chrome *chrome, char *at, uint64_t nanoseconds)
{
	chrome->microsecond = nanoseconds - nanoseconds % 1000;
	chrome->digits_length =
		(uint32_t)(base_put_decimal(chrome->digits, nanoseconds / 1000) - chrome->digits);
	chrome->digits[chrome->digits_length++] = '.';
	/*
	 * Format the number a second time: copying `digits` would stall the processor, because `digits` was
	 * written byte by byte a moment ago (no store forwarding).
	 */
	return chrome_put_microseconds(at, nanoseconds);
}

void chrome_name(struct chrome *chrome, const char *what, int64_t pid, int64_t tid, const char *name)
{
	char *at = chrome_begin(chrome);

	at = base_put_literal(at, "{\"ph\":\"M\",\"name\":");
	at = base_json_name(at, what);
	at = base_put_decimal(base_put_literal(at, ",\"pid\":"), (uint64_t)pid);
	if (tid >= 0)
		at = base_put_decimal(base_put_literal(at, ",\"tid\":"), (uint64_t)tid);
	at = base_json_name(base_put_literal(at, ",\"args\":{\"name\":"), name);
	base_output_done(&chrome->out, base_put_literal(at, "}}"));
}

static int write_json(struct ktread *trace, int fd, struct export_report *report)
{
	struct chrome chrome = {
		.trace = trace,
		.report = report,
		.base = ktread_first_stamp(trace),
	};
	char order[ORDER_TEXT];
	int result;

	if (base_output_open(&chrome.out, fd) < 0)
		return KTREAD_E_MEMORY;
	base_ticks_scale_init(&chrome.scale, ktread_info(trace)->frequency);
	base_output_text(&chrome.out, "{\"displayTimeUnit\":\"ns\",");
	if (order_say_json(trace, order) > 0)
		base_output_format(&chrome.out, "\"otherData\":{%s},", order);
	base_output_text(&chrome.out, "\"traceEvents\":[\n");
	result = chrome_write_events(&chrome);
	base_output_text(&chrome.out, "\n]}\n");
	report->output_error = base_output_close(&chrome.out);
	return report->output_error ? KTREAD_E_SYSTEM : result < 0 ? result : 0;
}

const struct export_format export_json = {
	.name = "json",
	.purpose = "Chrome trace JSON, for ui.perfetto.dev and chrome://tracing",
	.write = write_json,
};
