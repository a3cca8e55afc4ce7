/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tracks: one a thread, one a CPU, lanes for locks below them, one for each counter. A track is described
 * when it is first used, outside any open packet. A thread is introduced, with name and process, when it is
 * first met, its process together with it.
 */
#ifndef EXPORT_PERFETTO_TRACK_H
#define EXPORT_PERFETTO_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/processes.h"
#include "analyze/spans.h"
#include "analyze/threads.h"
#include "export/perfetto_packet.h"
#include "ktread/ktread.h"

/*
 * The process that threads belong to if no event names another one: the kernel. Above any thread id. In a
 * trace of records_only every thread is a process of its own.
 */
#define PERFETTO_KERNEL_PID (KTRX_THREAD_MAX + 1u)

struct perfetto_tracks {
	struct ktread *trace;
	struct perfetto_stream *stream;
	struct threads *threads; /* not owned */
	const struct processes *processes;
	struct perfetto_lanes *thread, *cpu;
	uint32_t thread_count, cpu_count;
	uint32_t *counter; /* uuid of the first field's track by event id, 0: not described */
	uint64_t next_uuid;
	bool cpus_described, kernel_told;
};

int perfetto_tracks_init(struct perfetto_tracks *tracks, struct ktread *trace,
			 struct perfetto_stream *stream);
void perfetto_tracks_free(struct perfetto_tracks *tracks);

/* Introduces the thread if need be. 0 or KTREAD_E_MEMORY. */
int perfetto_thread_meet(struct perfetto_tracks *tracks, const struct threads_thread *thread, uint64_t time);
/*
 * The same with what an event told of it: a name (length 0: none) and a process (0: the usual one). A thread
 * that has been introduced changes its name only.
 */
int perfetto_thread_tell(struct perfetto_tracks *tracks, const struct threads_thread *thread,
			 const char *name, size_t length, uint32_t process, uint64_t time);
/* The process runs another program, `thread` being its thread. 0 or KTREAD_E_MEMORY. */
int perfetto_process_runs(struct perfetto_tracks *tracks, const struct threads_thread *thread,
			  uint32_t process, const char *path, size_t length, uint64_t time);
bool perfetto_thread_is_idle(const struct perfetto_tracks *tracks, const struct threads_thread *thread);

/* Track of an owner's lane, described if need be; 0 when out of memory. */
uint64_t perfetto_track_lane(struct perfetto_tracks *tracks, struct spans_owner owner, unsigned lane,
			     uint64_t time);
/* A track of that name below those of CPUs. */
uint64_t perfetto_track_named(struct perfetto_tracks *tracks, const char *name, uint64_t time);
/* Track of a counter's field `n`, described if need be. */
uint64_t perfetto_track_counter(struct perfetto_tracks *tracks, const struct ktread_type *type, uint32_t n,
				uint64_t time);

#endif
