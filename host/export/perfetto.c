/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes native Perfetto traces. walk.h finds thread states, spans and instants; this file writes them as
 * TrackEvents. When an event type first occurs, its name, its group and the names of its fields are interned.
 */
#include "export/perfetto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "export/export.h"
#include "export/timeline.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

static void intern_type(struct protobuf *pb, const struct ktread_type *type)
{
	const char *group = type->group[0] != '\0' ? type->group : "unknown";

	perfetto_intern(pb, INTERNED_CATEGORIES, perfetto_type_iid(type->id), group, strlen(group));
	perfetto_intern(pb, INTERNED_EVENT_NAMES, perfetto_type_iid(type->id), type->name,
			strlen(type->name));
	for (uint32_t n = 0; n < type->fields; n++)
		perfetto_intern(pb, INTERNED_ANNOTATION_NAMES, perfetto_annotation_iid(type->id, n),
				type->field[n].name, strlen(type->field[n].name));
}

/* Interns the strings that occur in the current packet for the first time. */
static void intern(struct perfetto *perfetto, const struct ktread_type *type,
		   const struct perfetto_name *name)
{
	struct protobuf *pb = &perfetto->stream.pb;
	bool known = perfetto_note(perfetto->stream.types, type->id % PERFETTO_TYPES);
	unsigned char *data;

	if (known && !(name && name->fresh))
		return;
	data = protobuf_begin(pb, PACKET_INTERNED_DATA);
	if (!known)
		intern_type(pb, type);
	if (name && name->fresh)
		perfetto_intern(pb, INTERNED_EVENT_NAMES, name->iid, name->name.text, name->name.length);
	protobuf_end(pb, data);
}

static void annotate(struct protobuf *pb, const struct ktread_event *event, uint32_t n,
		     const struct ktread_value *value)
{
	unsigned char *annotation = protobuf_begin(pb, EVENT_DEBUG_ANNOTATIONS);
	char character = (char)value->number;

	protobuf_uint(pb, ANNOTATION_NAME_IID, perfetto_annotation_iid(event->id, n));
	switch (value->type) {
	case KTRX_TYPE_STRING:
		protobuf_text(pb, ANNOTATION_STRING, value->string, value->length, value->length);
		break;
	case KTRX_TYPE_CHAR:
		protobuf_text(pb, ANNOTATION_STRING, &character, 1, 1);
		break;
	case KTRX_TYPE_BOOL:
		protobuf_uint(pb, ANNOTATION_BOOL, value->number != 0);
		break;
	case KTRX_TYPE_POINTER:
		protobuf_uint(pb, ANNOTATION_POINTER, value->number);
		break;
	case KTRX_TYPE_I8:
	case KTRX_TYPE_I16:
	case KTRX_TYPE_I32:
	case KTRX_TYPE_I64:
		protobuf_int(pb, ANNOTATION_INT, (int64_t)value->number);
		break;
	default:
		protobuf_uint(pb, ANNOTATION_UINT, value->number);
		break;
	}
	protobuf_end(pb, annotation);
}

static void annotate_named(struct protobuf *pb, const char *name, unsigned kind, uint64_t value)
{
	unsigned char *annotation = protobuf_begin(pb, EVENT_DEBUG_ANNOTATIONS);

	protobuf_bytes(pb, ANNOTATION_NAME, name, strlen(name));
	protobuf_uint(pb, kind, value);
	protobuf_end(pb, annotation);
}

static void annotate_text(struct protobuf *pb, const char *name, const char *text, size_t length)
{
	unsigned char *annotation = protobuf_begin(pb, EVENT_DEBUG_ANNOTATIONS);

	protobuf_bytes(pb, ANNOTATION_NAME, name, strlen(name));
	protobuf_text(pb, ANNOTATION_STRING, text, length, length);
	protobuf_end(pb, annotation);
}

/* Writes the payload as bytes, for an event whose type is unknown. */
static void annotate_payload(struct protobuf *pb, const struct ktread_event *event)
{
	unsigned char *annotation = protobuf_begin(pb, EVENT_DEBUG_ANNOTATIONS);
	char text[2 * KTRX_RECORD_MAX_PAYLOAD + 1];
	uint32_t bytes =
		event->payload_size < KTRX_RECORD_MAX_PAYLOAD ? event->payload_size : KTRX_RECORD_MAX_PAYLOAD;

	for (uint32_t i = 0; i < bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", event->payload[i]);
	protobuf_bytes(pb, ANNOTATION_NAME, "payload", strlen("payload"));
	protobuf_bytes(pb, ANNOTATION_STRING, text, 2 * bytes);
	protobuf_end(pb, annotation);
}

/* Writes the types of a system call's result and arguments. */
static void annotate_call(struct perfetto *perfetto, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&perfetto->walk.known, event);
	const char *types = NULL;
	uint64_t number;

	if (known->kind == WELLKNOWN_SYSCALL_ENTER &&
	    wellknown_number(known, event, WELLKNOWN_NUMBER, &number) && number <= UINT32_MAX)
		types = ktread_syscall_types(perfetto->walk.trace, (uint32_t)number);
	if (!types)
		return;
	annotate_text(&perfetto->stream.pb, "types", types, strnlen(types, PERFETTO_NAME_MAX));
}

static void annotate_all(struct perfetto *perfetto, const struct ktread_event *event)
{
	static const char *const caller[] = { "caller", "caller's caller" };
	struct protobuf *pb = &perfetto->stream.pb;
	struct ktread_value value;

	if (event->type->fields == 0 && !ktread_type(perfetto->walk.trace, event->id))
		annotate_payload(pb, event);
	for (uint32_t n = 0; n < event->type->fields && ktread_value(event, n, &value) == 0; n++)
		if (!timeline_is_unknown(&event->type->field[n], &value))
			annotate(pb, event, n, &value);
	annotate_call(perfetto, event);
	if (perfetto->walk.path.bytes)
		annotate_text(pb, "path", perfetto->walk.path.bytes, perfetto->walk.path.length);
	for (uint32_t n = 0; n < event->callers && n < 2; n++)
		annotate_named(pb, caller[n], ANNOTATION_POINTER, event->caller[n]);
	if (event->site)
		annotate_named(pb, "site", ANNOTATION_POINTER, event->site);
}

/* Writes a TrackEvent of `event`. If `name` is NULL, uses the name of the event type. */
static void write_event(struct perfetto *perfetto, uint64_t track, enum perfetto_event_type type,
			const struct perfetto_name *name, const struct ktread_event *event)
{
	struct protobuf *pb;
	unsigned char *at;

	if (track == 0) {
		perfetto->walk.error = KTREAD_E_MEMORY;
		return;
	}
	pb = perfetto_packet_begin(&perfetto->stream, perfetto->walk.time);
	intern(perfetto, event->type, name);
	at = protobuf_begin(pb, PACKET_TRACK_EVENT);
	protobuf_uint(pb, EVENT_TYPE, type);
	protobuf_uint(pb, EVENT_TRACK, track);
	if (type != EVENT_SLICE_END) {
		protobuf_uint(pb, EVENT_CATEGORY_IIDS, perfetto_type_iid(event->id));
		if (name && name->iid == 0)
			protobuf_text(pb, EVENT_NAME, name->name.text, name->name.length,
				      sizeof(name->name.text));
		else
			protobuf_uint(pb, EVENT_NAME_IID, name ? name->iid : perfetto_type_iid(event->id));
	}
	if (perfetto->walk.flow.id != 0)
		protobuf_fixed64(pb, perfetto->walk.flow.ends ? EVENT_TERMINATING_FLOW_IDS : EVENT_FLOW_IDS,
				 perfetto->walk.flow.id);
	annotate_all(perfetto, event);
	protobuf_end(pb, at);
	perfetto_packet_end(&perfetto->stream);
}

/*
 * Writes a TrackEvent that does not come from a recorded event. If `name` is NULL, the TrackEvent has no
 * name, and `count` and `unit` are not used.
 */
static void write_bare(struct perfetto *perfetto, uint64_t track, enum perfetto_event_type type,
		       const char *name, const char *unit, uint64_t count, uint64_t time)
{
	struct protobuf *pb = perfetto_packet_begin(&perfetto->stream, time);
	unsigned char *at = protobuf_begin(pb, PACKET_TRACK_EVENT);

	protobuf_uint(pb, EVENT_TYPE, type);
	protobuf_uint(pb, EVENT_TRACK, track);
	if (name) {
		protobuf_bytes(pb, EVENT_CATEGORIES, "ktrace", strlen("ktrace"));
		protobuf_bytes(pb, EVENT_NAME, name, strlen(name));
		annotate_named(pb, unit, ANNOTATION_UINT, count);
	}
	protobuf_end(pb, at);
	perfetto_packet_end(&perfetto->stream);
}

static void perfetto_begin_span(void *context, struct spans_owner owner, unsigned lane,
				const struct spans_span *span, const struct ktread_event *event)
{
	struct perfetto *perfetto = context;
	uint64_t track = perfetto_track_lane(&perfetto->tracks, owner, lane, perfetto->walk.time);
	struct perfetto_name name;

	perfetto_name_span(perfetto, &name, span, event);
	write_event(perfetto, track, EVENT_SLICE_BEGIN, &name, event);
}

static void perfetto_end_span(void *context, struct spans_owner owner, unsigned lane,
			      const struct spans_span *span, const struct ktread_event *event, uint64_t time)
{
	struct perfetto *perfetto = context;
	uint64_t track = perfetto_track_lane(&perfetto->tracks, owner, lane, perfetto->walk.time);

	(void)span;
	if (event)
		write_event(perfetto, track, EVENT_SLICE_END, NULL, event);
	else
		write_bare(perfetto, track, EVENT_SLICE_END, NULL, NULL, 0, time);
}

static void perfetto_write_instant(void *context, struct spans_owner owner, const struct ktread_event *event)
{
	struct perfetto *perfetto = context;

	write_event(perfetto, perfetto_track_lane(&perfetto->tracks, owner, 0, perfetto->walk.time),
		    EVENT_INSTANT, NULL, event);
}

static void perfetto_write_counters(void *context, const struct ktread_event *event)
{
	struct perfetto *perfetto = context;
	struct ktread_value value;

	for (uint32_t n = 0; n < event->type->fields && ktread_value(event, n, &value) == 0; n++) {
		struct protobuf *pb;
		unsigned char *at;
		uint64_t track;

		if (value.type == KTRX_TYPE_STRING)
			continue;
		track = perfetto_track_counter(&perfetto->tracks, event->type, n, perfetto->walk.time);
		pb = perfetto_packet_begin(&perfetto->stream, perfetto->walk.time);
		at = protobuf_begin(pb, PACKET_TRACK_EVENT);
		protobuf_uint(pb, EVENT_TYPE, EVENT_COUNTER);
		protobuf_uint(pb, EVENT_TRACK, track);
		protobuf_int(pb, EVENT_COUNTER_VALUE, (int64_t)value.number);
		protobuf_end(pb, at);
		perfetto_packet_end(&perfetto->stream);
	}
}

/* Writes a packet that makes readers report lost data on this CPU. */
static void write_data_loss(struct perfetto *perfetto, uint32_t cpu, uint64_t time)
{
	unsigned char *bundle;
	struct protobuf *pb;

	perfetto_stream_lost(&perfetto->stream);
	pb = perfetto_packet_begin(&perfetto->stream, time);
	bundle = protobuf_begin(pb, PACKET_FTRACE_EVENTS);
	protobuf_uint(pb, FTRACE_BUNDLE_CPU, cpu);
	protobuf_uint(pb, FTRACE_BUNDLE_LOST, 1);
	protobuf_end(pb, bundle);
	perfetto_packet_end(&perfetto->stream);
}

/* Writes a gap on a CPU's track: the number of missing slots, records or events, and the noun for them. */
static void perfetto_write_missing(void *context, const struct walk_missing *missing)
{
	struct perfetto *perfetto = context;
	const struct spans_owner owner = { .cpu = true, .number = missing->cpu };
	const struct walk_missing_words words = walk_missing_words[missing->kind];
	uint64_t track;

	if (missing->kind == WALK_LOST || missing->kind == WALK_DROPPED)
		write_data_loss(perfetto, missing->cpu, missing->until + 1);
	track = perfetto_track_lane(&perfetto->tracks, owner, 0,
				    missing->from ? missing->from : missing->until);
	if (missing->from == 0) {
		write_bare(perfetto, track, EVENT_INSTANT, words.name, words.unit, missing->count,
			   missing->until);
		return;
	}
	write_bare(perfetto, track, EVENT_SLICE_BEGIN, words.name, words.unit, missing->count, missing->from);
	write_bare(perfetto, track, EVENT_SLICE_END, NULL, NULL, 0, missing->until);
}

#define CATEGORY "hwt"

/* Functions of hardware traces, which are drawn as spans on tracks of their own. */
static uint64_t perfetto_functions_track(void *context, const char *name, uint64_t time)
{
	struct perfetto *perfetto = context;

	return perfetto_track_named(&perfetto->tracks, name, time);
}

static void perfetto_functions_draw(void *context, uint64_t track, enum functions_mark mark,
				    const struct ktread_event *event, uint64_t time)
{
	static const enum perfetto_event_type types[] = { [FUNCTIONS_BEGIN] = EVENT_SLICE_BEGIN,
							  [FUNCTIONS_END] = EVENT_SLICE_END,
							  [FUNCTIONS_INSTANT] = EVENT_INSTANT };
	struct perfetto *perfetto = context;
	struct protobuf *pb = perfetto_packet_begin(&perfetto->stream, time);
	unsigned char *at = protobuf_begin(pb, PACKET_TRACK_EVENT);
	struct ktread_value value;

	protobuf_uint(pb, EVENT_TYPE, types[mark]);
	protobuf_uint(pb, EVENT_TRACK, track);
	if (event)
		protobuf_bytes(pb, EVENT_CATEGORIES, CATEGORY, strlen(CATEGORY));
	if (event && ktread_value(event, 0, &value) == 0 && value.type == KTRX_TYPE_STRING)
		protobuf_text(pb, EVENT_NAME, value.string, value.length, PERFETTO_NAME_MAX);
	protobuf_end(pb, at);
	perfetto_packet_end(&perfetto->stream);
}

/*
 * Scheduling: one generic task state packet, which includes the CPU, for each change of a thread's state. A
 * wakeup by a known waker is written as sched_waking, not as the state "runnable", because viewers draw an
 * arrow only for sched_waking. If an interrupt wakes the thread, the arrow starts at the interrupted thread.
 * If the next state of a running thread is unknown, the output has thread 0 run on its CPU: readers treat
 * thread 0 as idle and do not draw it.
 */

static void write_state(struct perfetto *perfetto, uint32_t cpu, uint32_t tid, enum perfetto_task_state state,
			uint64_t time)
{
	struct protobuf *pb = perfetto_packet_begin(&perfetto->stream, time);
	unsigned char *task = protobuf_begin(pb, PACKET_TASK_STATE);

	protobuf_uint(pb, TASK_STATE_CPU, cpu);
	protobuf_uint(pb, TASK_STATE_TID, tid);
	protobuf_uint(pb, TASK_STATE_STATE, state);
	protobuf_end(pb, task);
	perfetto_packet_end(&perfetto->stream);
}

/*
 * No packet states that the state of a thread is unknown. But readers make a state unknown if another thread
 * replaces the thread on its CPU. So the trace states that the thread runs for 1 ns and is then replaced, on
 * a CPU of which nothing is known at that time, or else on a CPU that the machine does not have. Several
 * threads cannot run there at the same time, so they do so one after another.
 */
static void perfetto_state_unknown(void *context, const struct walk_unknown *unknown)
{
	struct perfetto *perfetto = context;
	const uint64_t time = unknown->from + 2 * (uint64_t)unknown->thread->index;
	const bool is_gap = unknown->cpu < THREADS_CPUS_MAX && time + 1 < unknown->cpu_until;
	const uint32_t cpu = is_gap ? unknown->cpu : walk_spare_cpu(&perfetto->walk);

	if (time + 1 >= unknown->until)
		return;
	write_state(perfetto, cpu, unknown->thread->id, TASK_RUNNING, time);
	write_state(perfetto, cpu, 0, TASK_RUNNING, time + 1);
}

static void write_waking(struct perfetto *perfetto, const struct threads_change *change)
{
	struct protobuf *pb = perfetto_packet_begin(&perfetto->stream, change->time);
	unsigned char *bundle = protobuf_begin(pb, PACKET_FTRACE_EVENTS);
	unsigned char *event, *waking;

	protobuf_uint(pb, FTRACE_BUNDLE_CPU, change->cpu);
	event = protobuf_begin(pb, FTRACE_BUNDLE_EVENT);
	protobuf_uint(pb, FTRACE_EVENT_TIMESTAMP, change->time);
	protobuf_uint(pb, FTRACE_EVENT_PID, change->waker);
	waking = protobuf_begin(pb, FTRACE_EVENT_SCHED_WAKING);
	protobuf_uint(pb, SCHED_WAKING_PID, change->thread->id);
	protobuf_uint(pb, SCHED_WAKING_SUCCESS, 1);
	protobuf_end(pb, waking);
	protobuf_end(pb, event);
	protobuf_end(pb, bundle);
	perfetto_packet_end(&perfetto->stream);
}

static enum perfetto_task_state task_state(const struct perfetto *perfetto,
					   const struct threads_thread *thread)
{
	switch (thread->state) {
	case THREADS_RUNNING:
		return TASK_RUNNING;
	case THREADS_RUNNABLE:
		/*
		 * An idle thread is never shown as runnable, because it does not wait for a CPU when it does
		 * not run.
		 */
		return perfetto_thread_is_idle(&perfetto->tracks, thread) && thread->id != 0
			       ? TASK_INTERRUPTIBLE_SLEEP
			       : TASK_RUNNABLE;
	case THREADS_WAITING:
		return TASK_UNINTERRUPTIBLE_SLEEP;
	case THREADS_STOPPED:
		return TASK_STOPPED;
	case THREADS_DEAD:
		return TASK_DESTROYED;
	default:
		return TASK_INTERRUPTIBLE_SLEEP;
	}
}

static void perfetto_thread_changed(void *context, const struct threads_change *change)
{
	struct perfetto *perfetto = context;
	const struct threads_thread *thread = change->thread;
	int error = perfetto_thread_meet(&perfetto->tracks, thread, change->time);

	if (error) {
		perfetto->walk.error = error;
	} else if (change->woken) {
		write_waking(perfetto, change);
	} else if (thread->state != THREADS_UNKNOWN) {
		write_state(perfetto, change->cpu, thread->id, task_state(perfetto, thread), change->time);
	} else if (change->from == THREADS_RUNNING && !change->followed) {
		write_state(perfetto, change->cpu, 0, TASK_RUNNING, change->time);
	}
}

/* ---- Packets for the machine and for programs, and the main loop ---- */

static void write_system_info(struct perfetto *perfetto, uint64_t time)
{
	const struct ktread_info *info = ktread_info(perfetto->walk.trace);
	const char *machine = base_machine_name(info->machine);
	struct protobuf *pb = perfetto_packet_begin(&perfetto->stream, time);
	unsigned char *system = protobuf_begin(pb, PACKET_SYSTEM_INFO);
	unsigned char *utsname = protobuf_begin(pb, SYSTEM_INFO_UTSNAME);

	if (info->kernel[0] != '\0') {
		size_t name = strcspn(info->kernel, " ");

		protobuf_text(pb, UTSNAME_SYSNAME, info->kernel, name, PERFETTO_NAME_MAX);
		protobuf_text(pb, UTSNAME_VERSION, info->kernel, strlen(info->kernel), PERFETTO_NAME_MAX);
	}
	if (machine)
		protobuf_bytes(pb, UTSNAME_MACHINE, machine, strlen(machine));
	protobuf_end(pb, utsname);
	protobuf_uint(pb, SYSTEM_INFO_CPUS, ktread_cpus_used(info));
	protobuf_end(pb, system);
	perfetto_packet_end(&perfetto->stream);
}

static void write_clock(struct protobuf *pb, enum perfetto_clock_id id, uint64_t time)
{
	unsigned char *clock = protobuf_begin(pb, CLOCK_SNAPSHOT_CLOCKS);

	protobuf_uint(pb, CLOCK_ID, id);
	protobuf_uint(pb, CLOCK_TIMESTAMP, time);
	protobuf_end(pb, clock);
}

/*
 * Writes a clock snapshot, which relates the trace's times to wall-clock time. Writes nothing if the
 * wall-clock time is unknown.
 */
static void write_wall_clock(struct perfetto *perfetto)
{
	const struct ktread_info *info = ktread_info(perfetto->walk.trace);
	uint64_t time = walk_clock_ns(&perfetto->walk.clock, info->wall_stamp);
	unsigned char *snapshot;
	struct protobuf *pb;

	if (info->wall_ns == 0)
		return;
	pb = perfetto_packet_begin(&perfetto->stream, time);
	snapshot = protobuf_begin(pb, PACKET_CLOCK_SNAPSHOT);
	write_clock(pb, CLOCK_BOOTTIME, time);
	write_clock(pb, CLOCK_REALTIME, info->wall_ns);
	protobuf_uint(pb, CLOCK_SNAPSHOT_PRIMARY, CLOCK_BOOTTIME);
	protobuf_end(pb, snapshot);
	perfetto_packet_end(&perfetto->stream);
}

static void describe_thread(void *context, const struct threads_thread *thread, const char *name,
			    size_t length, uint32_t process)
{
	struct perfetto *perfetto = context;

	perfetto->walk.error = perfetto_thread_describe(&perfetto->tracks, thread, name, length, process,
							perfetto->walk.time);
}

static void describe_program(void *context, const struct threads_thread *thread, uint32_t process,
			     const char *path, size_t length)
{
	struct perfetto *perfetto = context;

	perfetto->walk.error =
		perfetto_process_runs(&perfetto->tracks, thread, process, path, length, perfetto->walk.time);
}

static int export_all(struct perfetto *perfetto)
{
	struct walk *walk = &perfetto->walk;

	write_wall_clock(perfetto);
	write_system_info(perfetto, walk_clock_ns(&walk->clock, ktread_first_stamp(walk->trace)));
	return walk_run(walk);
}

static int perfetto_write(struct ktread *trace, int fd, struct export_report *report)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));
	const struct walk_sink sink = {
		.context = perfetto,
		.thread = perfetto_thread_changed,
		.unknown = perfetto_state_unknown,
		.named = describe_thread,
		.runs = describe_program,
		.begin = perfetto_begin_span,
		.end = perfetto_end_span,
		.instant = perfetto_write_instant,
		.counters = perfetto_write_counters,
		.missing = perfetto_write_missing,
		.function_track = perfetto_functions_track,
		.function = perfetto_functions_draw,
	};
	int error;

	if (!perfetto)
		return KTREAD_E_MEMORY;
	perfetto->walk.output = &perfetto->stream.out.error;
	error = perfetto_stream_open(&perfetto->stream, fd);
	if (!error)
		error = perfetto_tracks_init(&perfetto->tracks, &perfetto->walk, trace, &perfetto->stream);
	if (!error)
		error = walk_open(&perfetto->walk, trace, &sink);
	if (!error)
		error = export_all(perfetto);
	walk_close(&perfetto->walk, report);
	report->output_error = perfetto_stream_close(&perfetto->stream);
	if (report->output_error)
		error = KTREAD_E_SYSTEM;
	perfetto_tracks_free(&perfetto->tracks);
	free(perfetto);
	return error;
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.purpose = "native Perfetto trace: scheduling, thread states, spans (ui.perfetto.dev)",
	.write = perfetto_write,
};
