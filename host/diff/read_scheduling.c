/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds which threads sleep, and which threads wake them. */
#include "base/grow.h"
#include "diff/read.h"

void read_wait_end(struct diff_trace *trace, uint32_t thread, uint64_t stamp, uint32_t wake)
{
	struct diff_thread *is = &trace->thread[thread];

	if (is->wait == DIFF_NONE)
		return;
	trace->wait[is->wait].end = stamp;
	trace->wait[is->wait].wake = wake;
	is->wait = DIFF_NONE;
}

static void begin_wait(struct reader *reader, const struct ktread_event *event, uint32_t thread,
		       uint64_t object)
{
	struct diff_trace *trace = reader->trace;
	struct diff_wait *grown;
	struct diff_thread *is;

	read_wait_end(trace, thread, event->stamp, DIFF_NONE);
	grown = trace->waits < DIFF_WAKES_MAX
			? base_grow(trace->wait, &trace->wait_room, (size_t)trace->waits + 1, sizeof(*grown))
			: NULL;
	if (!grown) {
		trace->full = true;
		return;
	}
	trace->wait = grown;
	is = &trace->thread[thread];
	is->wait = trace->waits;
	if (is->last_wait != DIFF_NONE)
		trace->wait[is->last_wait].next = trace->waits;
	else
		is->first_wait = trace->waits;
	is->last_wait = trace->waits;
	trace->wait[trace->waits++] = (struct diff_wait){ .stamp = event->stamp,
							  .end = UINT64_MAX,
							  .object = object,
							  .slot = event->index,
							  .ring = event->ring,
							  .thread = thread,
							  .wake = DIFF_NONE,
							  .next = DIFF_NONE };
}

static void take_switch(struct reader *reader, const struct ktread_event *event,
			const struct wellknown *known)
{
	struct diff_trace *trace = reader->trace;
	uint32_t id, prev, next;
	uint64_t state = WELLKNOWN_STATE_RUNNABLE;

	if (wellknown_thread(known, event, WELLKNOWN_PREV, &id) && id &&
	    (prev = diff_trace_thread(trace, id, event->cpu)) != DIFF_NONE) {
		wellknown_number(known, event, WELLKNOWN_STATE, &state);
		trace->thread[prev].off_since = event->stamp;
		if ((state == WELLKNOWN_STATE_SLEEP || state == WELLKNOWN_STATE_WAIT) &&
		    trace->thread[prev].wait == DIFF_NONE)
			begin_wait(reader, event, prev, 0);
		trace->thread[prev].ended |= state == WELLKNOWN_STATE_DEAD;
	}
	if (wellknown_thread(known, event, WELLKNOWN_NEXT, &id) && id &&
	    (next = diff_trace_thread(trace, id, event->cpu)) != DIFF_NONE) {
		struct diff_thread *is = &trace->thread[next];

		if (is->off_since && event->stamp > is->off_since)
			is->off += event->stamp - is->off_since;
		is->off_since = 0;
		read_wait_end(trace, next, event->stamp, DIFF_NONE);
	}
}

static void add_wake(struct reader *reader, const struct ktread_event *event, uint32_t thread,
		     uint32_t target, uint64_t object)
{
	struct diff_trace *trace = reader->trace;
	struct diff_wake *grown =
		trace->wakes < DIFF_WAKES_MAX
			? base_grow(trace->wake, &trace->wake_room, (size_t)trace->wakes + 1, sizeof(*grown))
			: NULL;

	if (!grown) {
		trace->full = true;
		return;
	}
	trace->wake = grown;
	trace->wake[trace->wakes++] = (struct diff_wake){ .stamp = event->stamp,
							  .slot = event->index,
							  .object = object,
							  .ring = event->ring,
							  .thread = thread,
							  .target = target };
}

static void take_wake(struct reader *reader, const struct ktread_event *event, const struct wellknown *known,
		      uint32_t thread)
{
	struct diff_trace *trace = reader->trace;
	uint32_t id, target, wait;

	if (!wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
		return;
	target = diff_trace_thread(trace, id, event->cpu);
	if (target == DIFF_NONE)
		return;
	if (thread != DIFF_NONE && trace->thread[target].waker == DIFF_NONE)
		trace->thread[target].waker = thread;
	trace->thread[target].serves |= thread != DIFF_NONE && trace->thread[target].waker != thread;
	wait = trace->thread[target].wait;
	add_wake(reader, event, thread, target, wait != DIFF_NONE ? trace->wait[wait].object : 0);
	if (!trace->full)
		read_wait_end(trace, target, event->stamp, trace->wakes - 1);
}

void read_scheduling(struct reader *reader, const struct ktread_event *event, const struct wellknown *known,
		     uint32_t thread)
{
	uint64_t object = 0;
	uint32_t id, sleeper = thread;

	switch (known->kind) {
	case WELLKNOWN_SWITCH:
		take_switch(reader, event, known);
		break;
	case WELLKNOWN_BLOCK:
		wellknown_number(known, event, WELLKNOWN_OBJECT, &object);
		if (wellknown_thread(known, event, WELLKNOWN_THREAD, &id) && id)
			sleeper = diff_trace_thread(reader->trace, id, event->cpu);
		if (sleeper != DIFF_NONE)
			begin_wait(reader, event, sleeper, object);
		break;
	case WELLKNOWN_WAKE:
		take_wake(reader, event, known, thread);
		break;
	case WELLKNOWN_WAKE_NOBODY:
		if (wellknown_number(known, event, WELLKNOWN_OBJECT, &object))
			add_wake(reader, event, thread, DIFF_NONE, object);
		break;
	default:
		break;
	}
}
