/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Packets of Perfetto traces, and the tracks that they describe. */
#include "export/perfetto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/grow.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* ---- Packets ---- */

void protobuf_end_long(struct protobuf *pb, unsigned char *start)
{
	unsigned char length[PROTOBUF_VARINT_MAX];
	size_t bytes, more;

	if (pb->overflow)
		return;
	bytes = (size_t)(pb->at - start);
	more = (size_t)(protobuf_put_varint(length, bytes) - length) - 1;
	if (!protobuf_room(pb, more))
		return;
	memmove(start + more, start, bytes);
	memcpy(start - 1, length, more + 1);
	pb->at += more;
}

void protobuf_bytes(struct protobuf *pb, unsigned field, const void *bytes, size_t length)
{
	if (!protobuf_room(pb, PROTOBUF_FIELD_MAX + length))
		return;
	pb->at = protobuf_put_varint(pb->at, field << 3 | PROTOBUF_BYTES);
	pb->at = protobuf_put_varint(pb->at, length);
	memcpy(pb->at, bytes, length);
	pb->at += length;
}

void protobuf_text(struct protobuf *pb, unsigned field, const char *text, size_t length, size_t most)
{
	unsigned char *start = protobuf_begin(pb, field);
	uint32_t code;

	length = base_utf8_cut(text, length, most);
	while (length > 0 && protobuf_room(pb, BASE_ESCAPE_TEXT_GROWTH)) {
		size_t size = base_utf8_decode(text, length, &code);

		if (size == 0 || !base_utf8_is_harmless(code))
			size = 1;
		pb->at = (unsigned char *)base_escape_utf8((char *)pb->at, text, size,
							   BASE_ESCAPE_TEXT_GROWTH);
		text += size;
		length -= size;
	}
	protobuf_end(pb, start);
}

#define SEQUENCE 1u

int perfetto_stream_open(struct perfetto_stream *stream, int fd)
{
	memset(stream, 0, sizeof(*stream));
	stream->first = true;
	stream->pending_flags = SEQUENCE_CLEARED;
	return base_output_open(&stream->out, fd) < 0 ? KTREAD_E_MEMORY : 0;
}

int perfetto_stream_close(struct perfetto_stream *stream)
{
	return base_output_close(&stream->out);
}

void perfetto_stream_lost(struct perfetto_stream *stream)
{
	stream->pending_flags = SEQUENCE_CLEARED;
	stream->lossy = true;
	memset(stream->types, 0, sizeof(stream->types));
	memset(stream->calls, 0, sizeof(stream->calls));
	memset(stream->irqs, 0, sizeof(stream->irqs));
}

struct protobuf *perfetto_packet_begin(struct perfetto_stream *stream, uint64_t time)
{
	struct protobuf *pb = &stream->pb;

	pb->at = (unsigned char *)base_output_line(&stream->out);
	pb->limit = pb->at + BASE_OUTPUT_LINE;
	pb->overflow = false;
	stream->packet = protobuf_begin(pb, TRACE_PACKET);
	protobuf_uint(pb, PACKET_TIMESTAMP, time);
	protobuf_uint(pb, PACKET_SEQUENCE_ID, SEQUENCE);
	protobuf_uint(pb, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE | stream->pending_flags);
	if (__builtin_expect(stream->pending_flags != 0, 0)) {
		if (stream->first)
			protobuf_uint(pb, PACKET_FIRST_ON_SEQUENCE, 1);
		if (stream->lossy)
			protobuf_uint(pb, PACKET_PREVIOUS_DROPPED, 1);
		stream->first = stream->lossy = false;
		stream->pending_flags = 0;
	}
	return pb;
}

void perfetto_packet_end(struct perfetto_stream *stream)
{
	struct protobuf *pb = &stream->pb;

	protobuf_end(pb, stream->packet);
	if (pb->overflow)
		stream->refused++;
	else
		base_output_done(&stream->out, (char *)pb->at);
}

void perfetto_intern(struct protobuf *pb, unsigned kind, uint64_t iid, const char *text, size_t length)
{
	unsigned char *entry = protobuf_begin(pb, kind);

	protobuf_uint(pb, INTERNED_IID, iid);
	protobuf_text(pb, INTERNED_STRING, text, length, PERFETTO_NAME_MAX);
	protobuf_end(pb, entry);
}

/*
 * Returns the number of the interned name of a system call or interrupt, and sets `*seen` to the map of names
 * that were written. Returns 0 if the name is not interned.
 */
static uint64_t interned(struct perfetto_stream *stream, const struct walk_name *name, uint8_t **seen)
{
	if (name->number >= PERFETTO_NUMBERS || name->kind == WALK_NAME_TEXT)
		return 0;
	*seen = name->kind == WALK_NAME_CALL ? stream->calls : stream->irqs;
	return name->kind == WALK_NAME_CALL ? perfetto_call_iid(name->number)
					    : perfetto_irq_iid(name->number);
}

void perfetto_name_span(struct perfetto *perfetto, struct perfetto_name *name, const struct spans_span *span,
			const struct ktread_event *event)
{
	uint8_t *seen = NULL;

	walk_name_span(&perfetto->walk, &name->name, span, event);
	name->iid = interned(&perfetto->stream, &name->name, &seen);
	name->fresh = name->iid != 0 && !perfetto_note(seen, (uint32_t)name->name.number);
	if (name->iid == 0 || name->fresh)
		walk_name_text(&perfetto->walk, &name->name);
}

/* ---- Tracks ---- */

#define UUID_CPUS  1u /* uuid of the track that is the parent of all CPU tracks */
#define UUID_FIRST 16u
#define LANES	   8u /* number of uuids that are reserved for each owner (a thread or CPU) */

_Static_assert(LANES > SPANS_LOCKS, "a lane for every lock, and lane 0 for nested spans");

struct perfetto_lanes {
	/* uuid of lane 0; the next numbers are the uuids of lanes 1, 2, …; 0: no uuids are assigned yet */
	uint64_t uuid;
	uint32_t life;	   /* value of the thread's `life` when it was described */
	uint32_t process;  /* number of the process; 0: the owner has not been described */
	uint8_t described; /* bit map of the lanes that were described */
	bool idle;
};

int perfetto_tracks_init(struct perfetto_tracks *tracks, const struct walk *walk, struct ktread *trace,
			 struct perfetto_stream *stream)
{
	memset(tracks, 0, sizeof(*tracks));
	tracks->walk = walk;
	tracks->trace = trace;
	tracks->stream = stream;
	tracks->next_uuid = UUID_FIRST;
	tracks->counter = calloc(PERFETTO_TYPES, sizeof(*tracks->counter));
	return tracks->counter ? 0 : KTREAD_E_MEMORY;
}

void perfetto_tracks_free(struct perfetto_tracks *tracks)
{
	free(tracks->counter);
	free(tracks->thread);
	free(tracks->cpu);
}

/* Returns element `n` of a table. Enlarges the table if necessary. Returns NULL if out of memory. */
static struct perfetto_lanes *lanes_at(struct perfetto_lanes **table, uint32_t *count, uint32_t n)
{
	struct perfetto_lanes *bigger = base_grow(*table, count, (size_t)n + 1, sizeof(*bigger));

	if (!bigger)
		return NULL;
	*table = bigger;
	return &bigger[n];
}

static uint64_t take_uuids(struct perfetto_tracks *tracks, uint32_t wanted)
{
	uint64_t uuid = tracks->next_uuid;

	tracks->next_uuid += wanted;
	return uuid;
}

/* Adds a process to the packet that describes processes. */
static void write_process(struct protobuf *pb, uint32_t id, uint32_t parent, const char *command,
			  size_t length)
{
	unsigned char *process = protobuf_begin(pb, PROCESS_TREE_PROCESSES);

	protobuf_uint(pb, TREE_PROCESS_PID, id);
	protobuf_uint(pb, TREE_PROCESS_PPID, parent);
	protobuf_text(pb, TREE_PROCESS_CMDLINE, command, length, PERFETTO_NAME_MAX);
	protobuf_end(pb, process);
}

/*
 * Describes the process of a thread. Does nothing if no data about the process is known: readers then show
 * its number.
 */
static void write_process_of(struct perfetto_tracks *tracks, const struct perfetto_lanes *lanes)
{
	const struct processes_process *process = processes_find(tracks->walk->processes, lanes->process);
	const char *command = process ? process->command : "";

	if (process && command[0] == '\0')
		command = ktread_thread_name(tracks->trace, lanes->process);
	if (lanes->process == WALK_KERNEL_PID && !tracks->kernel_described)
		write_process(&tracks->stream->pb, WALK_KERNEL_PID, 0, "kernel", strlen("kernel"));
	else if (process)
		write_process(&tracks->stream->pb, process->id, process->parent, command ? command : "",
			      command ? strlen(command) : 0);
	tracks->kernel_described |= lanes->process == WALK_KERNEL_PID;
}

/* Writes the packet that describes a thread or changes its name. */
static void write_thread(struct perfetto_tracks *tracks, const struct threads_thread *thread,
			 const struct perfetto_lanes *lanes, bool introduce, const char *name, size_t length,
			 uint64_t time)
{
	struct protobuf *pb = perfetto_packet_begin(tracks->stream, time);
	unsigned char *tree = protobuf_begin(pb, PACKET_PROCESS_TREE);
	unsigned char *entry;

	if (introduce)
		write_process_of(tracks, lanes);
	entry = protobuf_begin(pb, PROCESS_TREE_THREADS);
	protobuf_uint(pb, TREE_THREAD_TID, thread->id);
	protobuf_uint(pb, TREE_THREAD_PID, lanes->process);
	if (length > 0)
		protobuf_text(pb, TREE_THREAD_COMM, name, length, PERFETTO_NAME_MAX);
	protobuf_uint(pb, TREE_THREAD_IS_MAIN, lanes->process == thread->id);
	protobuf_uint(pb, TREE_THREAD_IS_IDLE, lanes->idle);
	protobuf_end(pb, entry);
	protobuf_end(pb, tree);
	perfetto_packet_end(tracks->stream);
}

static bool is_met(const struct perfetto_lanes *lanes, const struct threads_thread *thread)
{
	return lanes->process != 0 && lanes->life == thread->life;
}

int perfetto_thread_describe(struct perfetto_tracks *tracks, const struct threads_thread *thread,
			     const char *name, size_t length, uint32_t process, uint64_t time)
{
	struct perfetto_lanes *lanes = lanes_at(&tracks->thread, &tracks->thread_count, thread->index);
	bool introduce;

	if (!lanes)
		return KTREAD_E_MEMORY;
	introduce = !is_met(lanes, thread);
	if (introduce) {
		*lanes = (struct perfetto_lanes){ .life = thread->life, .process = process };
		if (process == 0)
			lanes->process = walk_process_of(tracks->walk, thread->id);
	}
	if (length > 0)
		lanes->idle = threads_name_is_idle(name, length);
	/* do not describe thread 0, because readers always treat it as the idle thread */
	if (thread->id == 0) {
		lanes->process = WALK_KERNEL_PID;
		lanes->idle = true;
	} else {
		write_thread(tracks, thread, lanes, introduce, name, length, time);
	}
	return 0;
}

int perfetto_thread_meet(struct perfetto_tracks *tracks, const struct threads_thread *thread, uint64_t time)
{
	const char *name;

	if (thread->index < tracks->thread_count && is_met(&tracks->thread[thread->index], thread))
		return 0;
	name = ktread_thread_name(tracks->trace, thread->id);
	return perfetto_thread_describe(tracks, thread, name, name ? strlen(name) : 0, 0, time);
}

int perfetto_process_runs(struct perfetto_tracks *tracks, const struct threads_thread *thread,
			  uint32_t process, const char *path, size_t length, uint64_t time)
{
	const struct processes_process *known = processes_find(tracks->walk->processes, process);
	const char *slash = memrchr(path, '/', length);
	const char *name = slash ? slash + 1 : path;
	struct protobuf *pb = perfetto_packet_begin(tracks->stream, time);
	unsigned char *tree = protobuf_begin(pb, PACKET_PROCESS_TREE);

	write_process(pb, process, known ? known->parent : 0, path, length);
	protobuf_end(pb, tree);
	perfetto_packet_end(tracks->stream);
	return perfetto_thread_describe(tracks, thread, name, (size_t)(path + length - name), process, time);
}

bool perfetto_thread_is_idle(const struct perfetto_tracks *tracks, const struct threads_thread *thread)
{
	return thread->index < tracks->thread_count && tracks->thread[thread->index].idle;
}

static void describe(struct perfetto_tracks *tracks, uint64_t uuid, uint64_t parent, const char *name,
		     uint64_t time)
{
	struct protobuf *pb = perfetto_packet_begin(tracks->stream, time);
	unsigned char *track = protobuf_begin(pb, PACKET_TRACK_DESCRIPTOR);

	protobuf_uint(pb, TRACK_UUID, uuid);
	if (parent != 0)
		protobuf_uint(pb, TRACK_PARENT, parent);
	protobuf_bytes(pb, TRACK_NAME, name, strlen(name));
	protobuf_end(pb, track);
	perfetto_packet_end(tracks->stream);
}

static void describe_thread(struct perfetto_tracks *tracks, const struct perfetto_lanes *lanes,
			    const struct threads_thread *thread, uint64_t time)
{
	struct protobuf *pb = perfetto_packet_begin(tracks->stream, time);
	unsigned char *track = protobuf_begin(pb, PACKET_TRACK_DESCRIPTOR);
	unsigned char *entry;

	protobuf_uint(pb, TRACK_UUID, lanes->uuid);
	entry = protobuf_begin(pb, TRACK_THREAD);
	protobuf_uint(pb, THREAD_PID, lanes->process);
	protobuf_uint(pb, THREAD_TID, thread->id);
	protobuf_end(pb, entry);
	protobuf_end(pb, track);
	perfetto_packet_end(tracks->stream);
}

static void describe_cpus(struct perfetto_tracks *tracks, uint64_t time)
{
	if (!tracks->cpus_described)
		describe(tracks, UUID_CPUS, 0, "CPUs", time);
	tracks->cpus_described = true;
}

uint64_t perfetto_track_named(struct perfetto_tracks *tracks, const char *name, uint64_t time)
{
	const uint64_t uuid = take_uuids(tracks, 1);

	describe_cpus(tracks, time);
	describe(tracks, uuid, UUID_CPUS, name, time);
	return uuid;
}

static void describe_cpu(struct perfetto_tracks *tracks, const struct perfetto_lanes *lanes, uint32_t cpu,
			 uint64_t time)
{
	char name[32];

	describe_cpus(tracks, time);
	if (cpu < THREADS_CPUS_MAX)
		snprintf(name, sizeof(name), "CPU %u", cpu);
	else
		snprintf(name, sizeof(name), "CPU unknown");
	describe(tracks, lanes->uuid, UUID_CPUS, name, time);
}

/*
 * All lock lanes of an owner have the same name, because readers combine lanes with the same name and parent
 * into one track.
 */
static void describe_locks(struct perfetto_tracks *tracks, const struct perfetto_lanes *lanes,
			   struct spans_owner owner, unsigned lane, uint64_t time)
{
	char name[32] = "locks";

	if (owner.cpu)
		snprintf(name, sizeof(name), "CPU %u locks", owner.number);
	describe(tracks, lanes->uuid + lane, owner.cpu ? UUID_CPUS : lanes->uuid, name, time);
}

uint64_t perfetto_track_lane(struct perfetto_tracks *tracks, struct spans_owner owner, unsigned lane,
			     uint64_t time)
{
	struct perfetto_lanes *lanes;

	/*
	 * describe the thread now: a later description would give the thread new tracks, and spans that are
	 * open on the old tracks could not end
	 */
	if (!owner.cpu &&
	    perfetto_thread_meet(tracks, threads_at(tracks->walk->threads, owner.number), time) < 0)
		return 0;
	lanes = owner.cpu ? lanes_at(&tracks->cpu, &tracks->cpu_count, owner.number)
			  : lanes_at(&tracks->thread, &tracks->thread_count, owner.number);
	if (!lanes)
		return 0;
	if (lanes->uuid == 0)
		lanes->uuid = take_uuids(tracks, LANES);
	if ((lanes->described & 1) == 0) {
		if (owner.cpu)
			describe_cpu(tracks, lanes, owner.number, time);
		else
			describe_thread(tracks, lanes, threads_at(tracks->walk->threads, owner.number), time);
	}
	if (lane > 0 && !(lanes->described >> lane & 1))
		describe_locks(tracks, lanes, owner, lane, time);
	lanes->described |= (uint8_t)(1u | 1u << lane);
	return lanes->uuid + lane;
}

static void describe_unit(struct protobuf *pb, const char *unit)
{
	unsigned char *counter = protobuf_begin(pb, TRACK_COUNTER);

	if (strcmp(unit, "ns") == 0)
		protobuf_uint(pb, COUNTER_UNIT, UNIT_NS);
	else if (strcmp(unit, "bytes") == 0)
		protobuf_uint(pb, COUNTER_UNIT, UNIT_BYTES);
	else if (unit[0] != '\0')
		protobuf_text(pb, COUNTER_UNIT_NAME, unit, strlen(unit), PERFETTO_NAME_MAX);
	else
		protobuf_uint(pb, COUNTER_UNIT, UNIT_COUNT);
	protobuf_end(pb, counter);
}

static void describe_counter(struct perfetto_tracks *tracks, uint64_t uuid, const struct ktread_type *type,
			     uint32_t n, uint64_t time)
{
	struct protobuf *pb = perfetto_packet_begin(tracks->stream, time);
	unsigned char *track = protobuf_begin(pb, PACKET_TRACK_DESCRIPTOR);
	char name[2 * PERFETTO_NAME_MAX];

	snprintf(name, sizeof(name), "%s.%s", type->name, type->field[n].name);
	protobuf_uint(pb, TRACK_UUID, uuid);
	protobuf_text(pb, TRACK_NAME, name, strlen(name), PERFETTO_NAME_MAX);
	describe_unit(pb, type->field[n].unit);
	protobuf_end(pb, track);
	perfetto_packet_end(tracks->stream);
}

uint64_t perfetto_track_counter(struct perfetto_tracks *tracks, const struct ktread_type *type, uint32_t n,
				uint64_t time)
{
	uint32_t *first = &tracks->counter[type->id % PERFETTO_TYPES];

	if (*first == 0) {
		*first = (uint32_t)take_uuids(tracks, type->fields);
		for (uint32_t i = 0; i < type->fields; i++)
			describe_counter(tracks, *first + i, type, i, time);
	}
	return *first + n;
}
