/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes a Perfetto trace: clocks, tracks and events. */
#ifndef EXPORT_PERFETTO_H
#define EXPORT_PERFETTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/perfetto_packet.h"
#include "export/walk.h"
#include "ktread/ktread.h"

/* ---- perfetto_track.c ---- */

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
 * Native Perfetto output. Its parts: packets (perfetto_packet.h), tracks (perfetto_track.c), scheduling and
 * events (perfetto_event.c), and the main loop (perfetto.c). A function that fails stores a KTREAD_E_* in
 * `error`. After a failure, functions may still be called.
 */

struct perfetto {
	struct walk walk;
	struct perfetto_stream stream;
	struct perfetto_tracks tracks;
};

/*
 * perfetto_packet.c: the name of the span that begins with `event`: the number of an interned string, or a
 * text.
 */
struct perfetto_name {
	uint64_t iid; /* number of the interned string that is the name; 0: the name is the text of `name` */
	bool fresh;   /* true if this packet must also define the interned string `iid` */
	struct walk_name name;
};

void perfetto_name_span(struct perfetto *perfetto, struct perfetto_name *name, const struct spans_span *span,
			const struct ktread_event *event);

/* perfetto_event.c: callbacks of struct walk_sink. `context` is the struct perfetto. */

void perfetto_thread_changed(void *context, const struct threads_change *change);
void perfetto_state_unknown(void *context, const struct walk_unknown *unknown);
void perfetto_begin_span(void *context, struct spans_owner owner, unsigned lane,
			 const struct spans_span *span, const struct ktread_event *event);
void perfetto_end_span(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		       const struct ktread_event *event, uint64_t time);
void perfetto_write_instant(void *context, struct spans_owner owner, const struct ktread_event *event);
void perfetto_write_counters(void *context, const struct ktread_event *event);
/* Writes a gap on a CPU's track: the number of missing slots, records or events, and the noun for them. */
void perfetto_write_missing(void *context, const struct walk_missing *missing);
/* Functions of hardware traces, which are drawn as spans on tracks of their own. */
uint64_t perfetto_functions_track(void *context, const char *name, uint64_t time);
void perfetto_functions_draw(void *context, uint64_t track, enum functions_mark mark,
			     const struct ktread_event *event, uint64_t time);

#endif
