/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Native Perfetto traces: packets for the machine and for programs. walk.h finds thread states, spans and
 * instants; perfetto_event.c writes them.
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
