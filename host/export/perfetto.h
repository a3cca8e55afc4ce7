/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Native Perfetto traces: packets in protocol buffers, their field numbers, and tracks. */
#ifndef EXPORT_PERFETTO_H
#define EXPORT_PERFETTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "export/walk.h"
#include "ktread/ktread.h"

/*
 * The field numbers of Perfetto's trace messages that this exporter uses: generic kernel packets for
 * scheduling, and TrackEvent for everything else. These two are stable interfaces of Perfetto. Each constant
 * is named after the message and the field.
 */

enum perfetto_field {
	TRACE_PACKET = 1,

	PACKET_FTRACE_EVENTS = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_PREVIOUS_DROPPED = 42,
	PACKET_SYSTEM_INFO = 45,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
	PACKET_TASK_STATE = 117,
	PACKET_PROCESS_TREE = 122,

	CLOCK_SNAPSHOT_CLOCKS = 1,
	CLOCK_SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,

	SYSTEM_INFO_UTSNAME = 1,
	SYSTEM_INFO_CPUS = 8,
	UTSNAME_SYSNAME = 1,
	UTSNAME_VERSION = 2,
	UTSNAME_MACHINE = 4,

	TASK_STATE_CPU = 1,
	TASK_STATE_TID = 3,
	TASK_STATE_STATE = 4,

	PROCESS_TREE_PROCESSES = 1,
	PROCESS_TREE_THREADS = 2,
	TREE_PROCESS_PID = 1,
	TREE_PROCESS_PPID = 2,
	TREE_PROCESS_CMDLINE = 3,
	TREE_THREAD_TID = 1,
	TREE_THREAD_PID = 2,
	TREE_THREAD_COMM = 3,
	TREE_THREAD_IS_MAIN = 4,
	TREE_THREAD_IS_IDLE = 5,

	FTRACE_BUNDLE_CPU = 1,
	FTRACE_BUNDLE_EVENT = 2,
	FTRACE_BUNDLE_LOST = 3,
	FTRACE_EVENT_TIMESTAMP = 1,
	FTRACE_EVENT_PID = 2,
	FTRACE_EVENT_SCHED_WAKING = 20,
	SCHED_WAKING_PID = 2,
	SCHED_WAKING_SUCCESS = 4,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_UNIT = 3,
	COUNTER_UNIT_NAME = 6,

	EVENT_CATEGORY_IIDS = 3,
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_CATEGORIES = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_FLOW_IDS = 47,
	EVENT_TERMINATING_FLOW_IDS = 48,

	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NAME = 10,

	INTERNED_CATEGORIES = 1,
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_IID = 1,
	INTERNED_STRING = 2,
};

enum perfetto_sequence_flag {
	SEQUENCE_CLEARED = 1, /* flag: strings that were interned before this packet are no longer valid */
	SEQUENCE_NEEDS_STATE = 2,
};

enum perfetto_clock_id {
	CLOCK_REALTIME = 1,
	CLOCK_BOOTTIME = 6,
};

enum perfetto_task_state {
	TASK_RUNNABLE = 2,
	TASK_RUNNING = 3,
	TASK_INTERRUPTIBLE_SLEEP = 4,
	TASK_UNINTERRUPTIBLE_SLEEP = 5,
	TASK_STOPPED = 6,
	TASK_DESTROYED = 8,
};

enum perfetto_event_type {
	EVENT_SLICE_BEGIN = 1,
	EVENT_SLICE_END = 2,
	EVENT_INSTANT = 3,
	EVENT_COUNTER = 4,
};

enum perfetto_unit {
	UNIT_NS = 1,
	UNIT_COUNT = 2,
	UNIT_BYTES = 3,
};

/*
 * Writes protobuf messages into a buffer from front to back. A nested message begins with space for a length
 * of one byte. If the message becomes too long for this, its bytes are moved when it is closed. Nothing is
 * written past the limit: data that does not fit sets `overflow`, and the whole message is then unusable.
 */

#define PROTOBUF_VARINT_MAX 10u
/* maximum size in bytes of the key of a field and a number */
#define PROTOBUF_FIELD_MAX (5u + PROTOBUF_VARINT_MAX)

struct protobuf {
	unsigned char *at;    /* position of the next byte to write */
	unsigned char *limit; /* end of the buffer: nothing is written from here on */
	bool overflow;
};

enum protobuf_wire {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2,
};

/* Writes a varint. Requires: PROTOBUF_VARINT_MAX free bytes; this is not checked. */
static inline unsigned char *protobuf_put_varint(unsigned char *at, uint64_t value)
{
	while (value > 0x7f) {
		*at++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	*at++ = (unsigned char)value;
	return at;
}

static inline bool protobuf_room(struct protobuf *pb, size_t bytes)
{
	if (__builtin_expect((size_t)(pb->limit - pb->at) >= bytes, 1))
		return true;
	pb->overflow = true;
	return false;
}

/* Writes a uint32, uint64, bool or enum, or an int32 or int64 that is not negative. */
static inline void protobuf_uint(struct protobuf *pb, unsigned field, uint64_t value)
{
	if (!protobuf_room(pb, PROTOBUF_FIELD_MAX))
		return;
	pb->at = protobuf_put_varint(pb->at, field << 3 | PROTOBUF_VARINT);
	pb->at = protobuf_put_varint(pb->at, value);
}

/* Writes an int32 or int64: ten bytes if negative. */
static inline void protobuf_int(struct protobuf *pb, unsigned field, int64_t value)
{
	protobuf_uint(pb, field, (uint64_t)value);
}

/* Writes a field of protobuf's type fixed64. */
static inline void protobuf_fixed64(struct protobuf *pb, unsigned field, uint64_t value)
{
	if (!protobuf_room(pb, PROTOBUF_FIELD_MAX))
		return;
	pb->at = protobuf_put_varint(pb->at, field << 3 | PROTOBUF_FIXED64);
	for (unsigned shift = 0; shift < 64; shift += 8)
		*pb->at++ = (unsigned char)(value >> shift);
}

/* Opens a nested message. Returns the value to pass to protobuf_end(). */
static inline unsigned char *protobuf_begin(struct protobuf *pb, unsigned field)
{
	if (protobuf_room(pb, PROTOBUF_FIELD_MAX)) {
		pb->at = protobuf_put_varint(pb->at, field << 3 | PROTOBUF_BYTES);
		pb->at++;
	}
	return pb->at;
}

void protobuf_end_long(struct protobuf *pb, unsigned char *start);

static inline void protobuf_end(struct protobuf *pb, unsigned char *start)
{
	if (__builtin_expect(pb->at - start > 0x7f || pb->overflow, 0))
		protobuf_end_long(pb, start);
	else
		start[-1] = (unsigned char)(pb->at - start);
}

/* Writes bytes, or a string that is valid UTF-8. */
void protobuf_bytes(struct protobuf *pb, unsigned field, const void *bytes, size_t length);

/*
 * Writes an untrusted string, at most `most` bytes of it. Bytes that base_escape_utf8() does not accept
 * become \xNN, so that strict readers accept the message.
 */
void protobuf_text(struct protobuf *pb, unsigned field, const char *text, size_t length, size_t most);

/*
 * The stream of packets. A packet is built in the output buffer, so no more memory is needed than this
 * buffer. All packets form one sequence with one set of interned strings. Where slots were lost, a new set
 * begins.
 */

#define PERFETTO_NAME_MAX 128u /* maximum number of bytes of a name from the trace that are written */
#define PERFETTO_TYPES	  4096u
/*
 * limit: the name of a system call or interrupt is interned only if the number of the call or interrupt is
 * below this
 */
#define PERFETTO_NUMBERS 1024u

struct perfetto_stream {
	struct base_output out;
	struct protobuf pb;
	unsigned char *packet;
	uint64_t pending_flags; /* flags of enum perfetto_sequence_flag for the next packet */
	/*
	 * `first`: true if no packet has been written yet; `lossy`: true if slots were lost before the next
	 * packet
	 */
	bool first, lossy;
	/* number of packets that did not fit; always 0, because strings are truncated */
	uint64_t refused;
	/* indexed by event id: bit that is set if the strings of the event are interned */
	uint8_t types[PERFETTO_TYPES / 8];
	uint8_t calls[PERFETTO_NUMBERS / 8];
	uint8_t irqs[PERFETTO_NUMBERS / 8];
};

int perfetto_stream_open(struct perfetto_stream *stream, int fd);
int perfetto_stream_close(struct perfetto_stream *stream); /* Returns the errno of a failed write, or 0. */

/* Makes the next packet report that slots were lost before it. Begins a new set of interned strings. */
void perfetto_stream_lost(struct perfetto_stream *stream);

/* Opens a packet at `time` ns. Returns stream->pb, to which the caller writes the content. */
struct protobuf *perfetto_packet_begin(struct perfetto_stream *stream, uint64_t time);
void perfetto_packet_end(struct perfetto_stream *stream);

/* Sets bit `n`. Returns whether the bit was set before. */
static inline bool perfetto_note(uint8_t *bits, uint32_t n)
{
	bool was = bits[n / 8] >> n % 8 & 1;

	bits[n / 8] |= (uint8_t)(1u << n % 8);
	return was;
}

/*
 * Each of these functions returns the number of an interned string. Strings of the same group have different
 * numbers. Names of events, system calls and interrupts are one group.
 */
static inline uint64_t perfetto_type_iid(uint32_t id)
{
	return id + UINT64_C(1);
}

static inline uint64_t perfetto_annotation_iid(uint32_t id, uint32_t field)
{
	return (uint64_t)id * 16 + field + 1;
}

static inline uint64_t perfetto_call_iid(uint64_t number)
{
	return PERFETTO_TYPES + 1 + number;
}

static inline uint64_t perfetto_irq_iid(uint64_t number)
{
	return PERFETTO_TYPES + PERFETTO_NUMBERS + 1 + number;
}

/* Writes one entry of interned data. Requires: the message for interned data is open. */
void perfetto_intern(struct protobuf *pb, unsigned kind, uint64_t iid, const char *text, size_t length);

/*
 * Tracks: one for each thread and CPU, with lanes for locks below them, and one for each counter. A track is
 * described when it is first used, while no packet is open. When a thread first occurs, one packet describes
 * the thread's name and process, and another packet describes the process.
 */

struct perfetto_tracks {
	struct ktread *trace;
	struct perfetto_stream *stream;
	const struct walk *walk;
	struct perfetto_lanes *thread, *cpu;
	uint32_t thread_count, cpu_count;
	/*
	 * indexed by event id: uuid of the track for the values of the event's first field; 0 if the track
	 * has not been described yet
	 */
	uint32_t *counter;
	uint64_t next_uuid;
	bool cpus_described, kernel_described;
};

int perfetto_tracks_init(struct perfetto_tracks *tracks, const struct walk *walk, struct ktread *trace,
			 struct perfetto_stream *stream);
void perfetto_tracks_free(struct perfetto_tracks *tracks);

/* Writes a description of a new thread. Returns 0 or KTREAD_E_MEMORY. */
int perfetto_thread_meet(struct perfetto_tracks *tracks, const struct threads_thread *thread, uint64_t time);
/*
 * Writes a description of a thread, from data in an event. `name`: name of the thread; it is unknown if
 * `length` is 0. `process`: id of its process; 0: the default process. If the thread is known already,
 * changes only its name. Returns 0 or KTREAD_E_MEMORY.
 */
int perfetto_thread_describe(struct perfetto_tracks *tracks, const struct threads_thread *thread,
			     const char *name, size_t length, uint32_t process, uint64_t time);
/* Reports that `process`, to which `thread` belongs, runs another program. Returns 0 or KTREAD_E_MEMORY. */
int perfetto_process_runs(struct perfetto_tracks *tracks, const struct threads_thread *thread,
			  uint32_t process, const char *path, size_t length, uint64_t time);
bool perfetto_thread_is_idle(const struct perfetto_tracks *tracks, const struct threads_thread *thread);

/* Returns the track of a lane of this owner. Describes the track if it is new. Returns 0 if out of memory. */
uint64_t perfetto_track_lane(struct perfetto_tracks *tracks, struct spans_owner owner, unsigned lane,
			     uint64_t time);
/* Returns a new track with that name, shown below the CPUs. */
uint64_t perfetto_track_named(struct perfetto_tracks *tracks, const char *name, uint64_t time);
/* Returns the track of field `n` of a counter. Describes the track if it is new. */
uint64_t perfetto_track_counter(struct perfetto_tracks *tracks, const struct ktread_type *type, uint32_t n,
				uint64_t time);

/*
 * Native Perfetto output. Its parts: packets and tracks (perfetto_track.c), and scheduling, events and the
 * main loop (perfetto.c). A function that fails stores a KTREAD_E_* in `error`. After a failure, functions
 * may still be called.
 */

struct perfetto {
	struct walk walk;
	struct perfetto_stream stream;
	struct perfetto_tracks tracks;
};

/* The name of the span that begins with `event`: the number of an interned string, or a text. */
struct perfetto_name {
	uint64_t iid; /* number of the interned string that is the name; 0: the name is the text of `name` */
	bool fresh;   /* true if this packet must also define the interned string `iid` */
	struct walk_name name;
};

void perfetto_name_span(struct perfetto *perfetto, struct perfetto_name *name, const struct spans_span *span,
			const struct ktread_event *event);

#endif
