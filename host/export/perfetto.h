/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes a Perfetto trace: clocks, tracks and events. */
#ifndef EXPORT_PERFETTO_H
#define EXPORT_PERFETTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/files.h"
#include "analyze/flows.h"
#include "analyze/processes.h"
#include "analyze/scheduling.h"
#include "analyze/span_names.h"
#include "analyze/spans.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "export/functions.h"
#include "export/perfetto_packet.h"
#include "ktread/ktread.h"

/*
 * Converts ticks of the counter to nanoseconds since the counter was zero. Each event gets a time at least
 * 2 ns later than the previous event, even if a slow counter gave both the same timestamp. This keeps
 * events in their order.
 */

struct perfetto_clock {
	uint64_t frequency;
	/* start of the second that was last converted, first in ticks, then in ns */
	uint64_t second, second_ns;
	uint64_t last; /* time that the previous event got */
};

/* The latest time that is written: far below the greatest signed 64-bit number. */
#define PERFETTO_TIME_MAX (INT64_MAX / 2)

/* Prepares a clock. If the frequency is unknown (0), a tick is shown as a nanosecond. */
static inline void perfetto_clock_init(struct perfetto_clock *clock, uint64_t frequency)
{
	*clock = (struct perfetto_clock){ .frequency = frequency ? frequency : 1000000000u };
}

static inline uint64_t perfetto_clock_ns(struct perfetto_clock *clock, uint64_t stamp)
{
	uint64_t rest = stamp - clock->second;

	if (__builtin_expect(rest >= clock->frequency, 0)) {
		uint64_t seconds = stamp / clock->frequency;

		if (seconds >= PERFETTO_TIME_MAX / 1000000000u)
			return PERFETTO_TIME_MAX;
		clock->second = seconds * clock->frequency;
		clock->second_ns = seconds * 1000000000u;
		rest = stamp - clock->second;
	}
	return clock->second_ns + (uint64_t)((unsigned __int128)rest * 1000000000u / clock->frequency);
}

static inline uint64_t perfetto_clock_event(struct perfetto_clock *clock, uint64_t stamp)
{
	uint64_t time = perfetto_clock_ns(clock, stamp);

	if (time < clock->last + 2)
		time = clock->last + 2;
	clock->last = time;
	return time;
}

/* ---- perfetto_track.c ---- */

/*
 * Tracks: one for each thread and CPU, with lanes for locks below them, and one for each counter. A track
 * is described when it is first used, outside any open packet. When a thread first occurs, a packet
 * describes its name and process, and another one describes the process.
 */

/*
 * Id of the kernel as a process. All threads for which no event names a process belong to it. The id is
 * larger than any thread id. In a trace with records_only, each thread is a process of its own instead.
 */
#define PERFETTO_KERNEL_PID (KTRX_THREAD_MAX + 1u)

struct perfetto_tracks {
	struct ktread *trace;
	struct perfetto_stream *stream;
	struct threads *threads; /* not owned */
	const struct processes *processes;
	struct perfetto_lanes *thread, *cpu;
	uint32_t thread_count, cpu_count;
	/* by event id: uuid of the track for the event's first field; 0 if it has no description yet */
	uint32_t *counter;
	uint64_t next_uuid;
	bool cpus_described, kernel_described;
};

int perfetto_tracks_init(struct perfetto_tracks *tracks, struct ktread *trace,
			 struct perfetto_stream *stream);
void perfetto_tracks_free(struct perfetto_tracks *tracks);

/* Writes a description of a new thread. Returns 0 or KTREAD_E_MEMORY. */
int perfetto_thread_meet(struct perfetto_tracks *tracks, const struct threads_thread *thread, uint64_t time);
/*
 * Writes a description of a thread with data of an event. `name`: name of the thread; it is unknown if
 * `length` is 0. `process`: id of its process; 0: the default process. If the thread is known already,
 * changes only its name. Returns 0 or KTREAD_E_MEMORY.
 */
int perfetto_thread_describe(struct perfetto_tracks *tracks, const struct threads_thread *thread,
			     const char *name, size_t length, uint32_t process, uint64_t time);
/* Reports that `process`, to which `thread` belongs, runs another program. Returns 0 or KTREAD_E_MEMORY. */
int perfetto_process_runs(struct perfetto_tracks *tracks, const struct threads_thread *thread,
			  uint32_t process, const char *path, size_t length, uint64_t time);
bool perfetto_thread_is_idle(const struct perfetto_tracks *tracks, const struct threads_thread *thread);

/* Returns the track of an owner's lane. Describes the track if it is new. Returns 0 if out of memory. */
uint64_t perfetto_track_lane(struct perfetto_tracks *tracks, struct spans_owner owner, unsigned lane,
			     uint64_t time);
/* Returns a new track with that name, below the CPUs. */
uint64_t perfetto_track_named(struct perfetto_tracks *tracks, const char *name, uint64_t time);
/* Returns the track of a counter's field `n`. Describes the track if it is new. */
uint64_t perfetto_track_counter(struct perfetto_tracks *tracks, const struct ktread_type *type, uint32_t n,
				uint64_t time);

/*
 * Native Perfetto output. Its parts: packets (perfetto_packet.h), tracks (perfetto_track.c), scheduling and
 * events (perfetto_event.c), and the main loop (perfetto.c). A function that fails stores a KTREAD_E_* in
 * `error`. The other functions may still be called.
 */

struct perfetto_ring {
	uint64_t lost; /* number of the ring's lost slots that were reported so far */
	bool begun;    /* true if an event of the ring was seen */
};

struct perfetto {
	struct ktread *trace;
	struct perfetto_clock clock;
	struct perfetto_stream stream;
	struct perfetto_tracks tracks;
	struct threads *threads;
	struct scheduling *scheduling;
	struct spans *spans;
	struct wellknown_table known;
	struct flows flows;
	struct files *files;
	struct flows_step flow; /* flow that the current event begins or ends */
	struct files_path path; /* path of the file to which the current event applies */
	struct processes *processes;
	struct span_names names;
	struct perfetto_ring *rings;
	struct functions functions;
	uint64_t seen[THREADS_CPUS_MAX]; /* by CPU: time of the last event; 0 if there was none yet */
	uint64_t time;			 /* time of the current event in ns */
	uint64_t events;
	int error;
};

/* perfetto_event.c: callback of the threads model. `context` is the struct perfetto. */
void perfetto_thread_changed(void *context, const struct threads_change *change);

/* perfetto_packet.c: the name of a span that `event` begins: an interned number, or text. */
struct perfetto_name {
	uint64_t iid; /* number of the interned string that is the name; 0: the name is `text` */
	size_t length;
	char text[SPAN_NAMES_MOST];
	bool fresh; /* true if this packet must intern `text` under the number `iid` */
};

void perfetto_name_span(struct perfetto *perfetto, struct perfetto_name *name, const struct spans_span *span,
			const struct ktread_event *event);

/* perfetto_event.c: spans, called by the spans model, and all events that are not part of spans. */
/* callbacks of the spans model: copy this structure, and set `context` in the copy */
extern const struct spans_sink perfetto_spans_sink;
void perfetto_write_instant(struct perfetto *perfetto, const struct ktread_event *event);
void perfetto_write_counters(struct perfetto *perfetto, const struct ktread_event *event);
/*
 * Writes on a CPU's track how much is missing between the times `from` and `until`: a number, `count`, and a
 * word for what is missing, `unit` ("slots"). `from` is the time of the CPU's last event, or 0 if there was
 * none.
 */
void perfetto_write_missing(struct perfetto *perfetto, uint32_t cpu, const char *name, const char *unit,
			    uint64_t count, uint64_t from, uint64_t until);

/*
 * Functions as spans on tracks of their own: the callbacks of export/functions.h. Their context is the struct
 * perfetto_tracks.
 */

uint64_t perfetto_functions_track(void *tracks, const char *name, uint64_t time);
void perfetto_functions_draw(void *tracks, uint64_t track, enum functions_mark mark,
			     const struct ktread_event *event, uint64_t time);

#endif
