/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Scheduling: one generic task state packet a change, with the CPU on each. A wake by a known waker is told
 * as sched_waking instead of the runnable state, since only that draws an arrow; of a wake by an interrupt it
 * starts at the thread that was interrupted. A thread whose fate is unknown leaves its CPU to thread 0, which
 * readers take for idle and do not draw.
 */
#include "export/perfetto.h"

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
		/* An idle thread that does not run waits for nothing. */
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

void perfetto_thread_changed(void *context, const struct threads_change *change)
{
	struct perfetto *perfetto = context;
	const struct threads_thread *thread = change->thread;
	int error = perfetto_thread_meet(&perfetto->tracks, thread, change->time);

	if (error) {
		perfetto->error = error;
	} else if (change->woken) {
		write_waking(perfetto, change);
	} else if (thread->state != THREADS_UNKNOWN) {
		write_state(perfetto, change->cpu, thread->id, task_state(perfetto, thread), change->time);
	} else if (change->from == THREADS_RUNNING && !change->followed) {
		write_state(perfetto, change->cpu, 0, TASK_RUNNING, change->time);
	}
}
