/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Native Perfetto traces. Each event is passed to the models of host/analyze, which derive thread states and
 * spans.
 * Events that the models do not use are written as instants with their fields.
 */
#include "export/perfetto.h"

#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "base/machine.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

static void write_system_info(struct perfetto *perfetto, uint64_t time)
{
	const struct ktread_info *info = ktread_info(perfetto->trace);
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
 * Writes a clock snapshot that relates the trace's times to wall-clock time. Writes nothing if the wall-clock
 * time is unknown.
 */
static void write_wall_clock(struct perfetto *perfetto)
{
	const struct ktread_info *info = ktread_info(perfetto->trace);
	uint64_t time = perfetto_clock_ns(&perfetto->clock, info->wall_stamp);
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

/*
 * Informs the models that events of this CPU are missing after time `from`, at which the CPU had its last
 * event.
 */
static void break_off(struct perfetto *perfetto, uint32_t cpu, uint64_t from)
{
	if (from != 0)
		threads_gap(perfetto->threads, cpu, from);
	spans_gap(perfetto->spans, cpu, from);
	flows_gap(&perfetto->flows);
}

static void write_gap(struct perfetto *perfetto, uint32_t cpu, const char *unit, uint64_t count,
		      uint64_t from, uint64_t until)
{
	break_off(perfetto, cpu, from);
	write_data_loss(perfetto, cpu, until);
	perfetto_write_missing(perfetto, cpu, "lost", unit, count, from, until - 1);
}

/*
 * Handles slots that were lost before the current event. Slots missing at the beginning of a ring were
 * overwritten by design, and do not count as lost. But spans that began earlier, on another CPU or in the
 * boot ring, may have ended in this gap.
 */
static void note_loss(struct perfetto *perfetto, const struct ktread_event *event)
{
	struct perfetto_ring *ring = &perfetto->rings[event->ring];
	bool head = !ring->begun;
	uint64_t lost = event->lost;
	uint64_t from;

	if (head && lost == 0)
		lost = ktread_ring(perfetto->trace, event->ring)->overwritten;
	ring->begun = true;
	ring->lost += lost;
	if (event->cpu >= THREADS_CPUS_MAX)
		return;
	from = perfetto->seen[event->cpu];
	perfetto->seen[event->cpu] = perfetto->time;
	if (lost > 0 && head) {
		break_off(perfetto, event->cpu, from);
		perfetto_write_missing(perfetto, event->cpu, "overwritten", "slots", lost, from,
				       perfetto->time - 1);
	} else if (lost > 0) {
		write_gap(perfetto, event->cpu, "slots", lost, from, perfetto->time);
	}
}

/* Takes the name and the process of a thread from the event that creates the thread. */
static void note_thread(struct perfetto *perfetto, const struct ktread_event *event,
			const struct wellknown *known)
{
	const struct threads_thread *thread = NULL;
	struct ktread_value name = { .string = NULL };
	uint64_t process = 0;
	uint32_t id;

	if (wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
		thread = threads_find(perfetto->threads, id);
	if (!thread)
		return;
	if (!wellknown_string(known, event, WELLKNOWN_NAME, &name))
		name.length = 0;
	wellknown_number(known, event, WELLKNOWN_PROCESS, &process);
	perfetto->error = perfetto_thread_describe(&perfetto->tracks, thread, name.string, name.length,
						   (uint32_t)process & KTRX_THREAD_MAX, perfetto->time);
}

/* Handles exec: gives the name of the new program to the process and the thread. */
static void note_exec(struct perfetto *perfetto, const struct ktread_event *event,
		      const struct wellknown *known)
{
	const struct threads_thread *thread = threads_find(perfetto->threads, event->thread);
	uint32_t process = processes_subject(perfetto->processes, event, known);
	struct ktread_value path;

	if (thread && process != 0 && wellknown_string(known, event, WELLKNOWN_NAME, &path))
		perfetto->error = perfetto_process_runs(&perfetto->tracks, thread, process, path.string,
							path.length, perfetto->time);
}

/*
 * Returns whether the packets for scheduling show everything about the event. They do not for a wakeup by
 * an interrupt: it is also written as an instant, because the arrow cannot show that an interrupt caused
 * the wakeup.
 */
static bool is_shown_elsewhere(const struct ktread_event *event, const struct wellknown *known)
{
	return known->kind == WELLKNOWN_SWITCH ||
	       (known->kind == WELLKNOWN_WAKE && event->context == KTRX_CONTEXT_THREAD);
}

static int export_event(struct perfetto *perfetto, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&perfetto->known, event);
	int taken;

	perfetto->time = perfetto_clock_event(&perfetto->clock, event->stamp);
	if (ktread_ring(perfetto->trace, event->ring)->kind == KTREAD_RING_BESIDE) {
		const struct functions_sink sink = { perfetto_functions_track, perfetto_functions_draw,
						     &perfetto->tracks };

		perfetto->events++;
		return functions_event(&perfetto->functions, &sink, event, perfetto->time);
	}
	note_loss(perfetto, event);
	if (!perfetto->error)
		perfetto->error = threads_event(perfetto->threads, event, known, perfetto->time);
	if (perfetto->error)
		return perfetto->error;
	perfetto->path = files_event(perfetto->files, event, known);
	perfetto->flow = flows_event(&perfetto->flows, event, known);
	taken = spans_event(perfetto->spans, event, known, perfetto->time);
	if (taken < 0)
		return taken;
	if (known->kind == WELLKNOWN_CREATE)
		note_thread(perfetto, event, known);
	if (known->kind == WELLKNOWN_PROCESS_EXEC)
		note_exec(perfetto, event, known);
	if (known->kind == WELLKNOWN_COUNTER)
		perfetto_write_counters(perfetto, event);
	else if (!taken && !is_shown_elsewhere(event, known))
		perfetto_write_instant(perfetto, event);
	perfetto->events++;
	return perfetto->error;
}

/*
 * Reports what is missing after the last event of a ring: unreadable slots, and records that the ring
 * refused because it was full.
 */
static void finish_ring(struct perfetto *perfetto, uint32_t n)
{
	const struct ktread_ring *ring = ktread_ring(perfetto->trace, n);
	uint64_t lost = ring->overwritten + ring->invalid - ring->outside;
	uint64_t until = perfetto->clock.last + 2;

	if (!perfetto->rings[n].begun || ring->cpu >= THREADS_CPUS_MAX)
		return;
	if (lost > perfetto->rings[n].lost)
		write_gap(perfetto, ring->cpu, "slots", lost - perfetto->rings[n].lost,
			  perfetto->seen[ring->cpu], until);
	if (ring->dropped > 0)
		write_gap(perfetto, ring->cpu, "records", ring->dropped, perfetto->seen[ring->cpu], until);
}

static void finish(struct perfetto *perfetto)
{
	const struct functions_sink sink = { perfetto_functions_track, perfetto_functions_draw,
					     &perfetto->tracks };
	uint64_t left_out = threads_left_out(perfetto->threads);

	if (left_out > 0)
		perfetto_write_missing(perfetto, THREADS_CPUS_MAX, "left out of scheduling", "events",
				       left_out, 0, perfetto->clock.last);
	for (uint32_t n = 0; n < ktread_info(perfetto->trace)->rings; n++)
		finish_ring(perfetto, n);
	spans_finish(perfetto->spans);
	spans_close(perfetto->spans, perfetto->clock.last + 2);
	functions_close(&perfetto->functions, &sink, perfetto->clock.last + 2);
}

static int export_all(struct perfetto *perfetto)
{
	const struct ktread_event *event;
	int status;

	write_wall_clock(perfetto);
	write_system_info(perfetto, perfetto_clock_ns(&perfetto->clock, ktread_first_stamp(perfetto->trace)));
	while ((status = ktread_next(perfetto->trace, &event)) > 0) {
		status = export_event(perfetto, event);
		if (status < 0 || perfetto->stream.out.error)
			break;
	}
	finish(perfetto);
	return status < 0 ? status : 0;
}

static int open_models(struct perfetto *perfetto)
{
	struct spans_sink sink = perfetto_spans_sink;
	int error = processes_read(&perfetto->processes, perfetto->trace, &perfetto->known);

	if (!error)
		error = files_create(&perfetto->files, perfetto->trace);
	if (!error)
		error = scheduling_read(&perfetto->scheduling, perfetto->trace);
	if (!error)
		error = threads_create(&perfetto->threads, perfetto_thread_changed, perfetto);
	if (error)
		return error;
	threads_learn(perfetto->threads, perfetto->scheduling);
	sink.context = perfetto;
	perfetto->tracks.threads = perfetto->threads;
	perfetto->tracks.processes = perfetto->processes;
	perfetto->rings = calloc((size_t)ktread_info(perfetto->trace)->rings + 1, sizeof(*perfetto->rings));
	if (!perfetto->rings)
		return KTREAD_E_MEMORY;
	error = spans_create(&perfetto->spans, perfetto->threads, &sink);
	return error ? error : spans_track_switches(perfetto->spans, perfetto->trace);
}

static int perfetto_write(struct ktread *trace, int fd, struct export_report *report)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));
	int error;

	if (!perfetto)
		return KTREAD_E_MEMORY;
	perfetto->trace = trace;
	perfetto_clock_init(&perfetto->clock, ktread_info(trace)->frequency);
	error = perfetto_stream_open(&perfetto->stream, fd);
	if (!error)
		error = perfetto_tracks_init(&perfetto->tracks, trace, &perfetto->stream);
	if (!error)
		error = open_models(perfetto);
	if (!error) {
		error = export_all(perfetto);
		report->unpaired = spans_unpaired(perfetto->spans);
		report->states_unknown =
			scheduling_states_are_empty(perfetto->scheduling, &report->announced);
	}
	report->events = perfetto->events;
	report->output_error = perfetto_stream_close(&perfetto->stream);
	if (report->output_error)
		error = KTREAD_E_SYSTEM;
	spans_destroy(perfetto->spans);
	threads_destroy(perfetto->threads);
	scheduling_free(perfetto->scheduling);
	processes_free(perfetto->processes);
	files_destroy(perfetto->files);
	perfetto_tracks_free(&perfetto->tracks);
	functions_free(&perfetto->functions);
	free(perfetto->rings);
	free(perfetto);
	return error;
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.purpose = "native Perfetto trace: scheduling, thread states, spans (ui.perfetto.dev)",
	.write = perfetto_write,
};
