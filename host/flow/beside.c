/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Merges hardware trace into a kernel's trace. A step may become several events. These events wait in the
 * queue of their ring until their times can be estimated (see flow_spread in views.h).
 */
#include "flow/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/symbols.h"
#include "base/grow.h"
#include "ktread/beside.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

#define TEXT_MOST 160u	 /* largest size of a string in an event, in bytes */
#define WAIT_MOST 65536u /* largest number of events that wait for the unit's next timestamp */

enum type { CALL, RETURN, BRANCH, LOST, TYPES };

/* An event that waits for its time. */
struct waiting {
	enum type type;
	uint64_t stamp, stack;
	uint64_t from, to; /* if the event is marked `about`: it happened between these timestamps */
	uint64_t run;	   /* number of instructions since the last timestamp */
	uint32_t thread, depth;
	uint8_t how;
	/* nonzero: it is unknown whether other events of the same CPU came before or after this event */
	uint8_t about;
	const struct flow_function *function; /* the function of a CALL or a RETURN */
	/* the step of a BRANCH or a LOST; its members `text` and `sample` must not be used */
	struct hwt_step step;
	char text[TEXT_MOST + 1]; /* the text of a LOST */
};

/*
 * A piece contains the events between two timestamps. Their times are computed when the next piece is
 * complete, because the next piece may begin with the call that recorded an event of this piece. So one
 * complete piece (the held piece) waits, while events are added to the next piece (the growing piece).
 */
struct ring {
	struct flow_reader *reader;
	/* state that reconstructs calls from steps; NULL: the events are branches, not calls */
	struct flow_calls *calls;
	const struct hwt_stream *stream;
	size_t number;
	struct flow_piece piece; /* the growing piece, whose end is not known yet */
	struct flow_piece held;
	/* true if the unit has written a timestamp, which is the beginning of the growing piece */
	int has_stamp;
	/*
	 * timestamp of the last event of the kernel's trace for which the call that recorded it was found in
	 * the steps; later steps are not earlier than this timestamp
	 */
	uint64_t matched;
	/*
	 * Not 0: a call in the steps has recorded an event that was not found in the kernel's trace, and this
	 * is the latest timestamp that the event may have. 0: there is no such event.
	 */
	uint64_t doubt_to;
	struct waiting *queue;
	size_t first, count;
	uint32_t room;
	size_t placed; /* number of queued events whose times are known */
	/* the events of the held piece have the indices `placed` to `held_end` - 1 in the queue */
	size_t held_end;
};

struct beside {
	struct flow *flow;
	enum flow_grain grain;
	char *path;
	const struct ktread *trace;
	struct flow_kernel *kernel;
	struct ring *ring;
	uint32_t rings;
};

/* ---- Types of the merged events -------------------------------------------------------- */

#define FIELD(name_, type_)                                            \
	{                                                              \
		.name = (name_), .unit = "", .type = KTRX_TYPE_##type_ \
	}
/*
 * The field "order" is " ~" if it is unknown whether other events of the same CPU came before or after this
 * event, otherwise empty.
 */
static const struct ktread_field call_fields[] = { FIELD("function", STRING), FIELD("depth", U32),
						   FIELD("how", STRING),      FIELD("order", STRING),
						   FIELD("image", STRING),    FIELD("stack", U64) };
static const struct ktread_field return_fields[] = { FIELD("function", STRING), FIELD("depth", U32),
						     FIELD("order", STRING), FIELD("stack", U64) };
static const struct ktread_field branch_fields[] = { FIELD("place", STRING), FIELD("kind", STRING),
						     FIELD("what", STRING), FIELD("order", STRING),
						     FIELD("address", POINTER) };
/* the field "stack" states to which thread's stack the loss applies; 0: to all events */
static const struct ktread_field lost_fields[] = { FIELD("what", STRING), FIELD("stack", U64) };

#define TYPE(name_, text_, field_)                                                                         \
	{                                                                                                  \
		.fields = sizeof(field_) / sizeof((field_)[0]), .state = KTRX_STATE_RECORD,                \
		.wanted = KTRX_STATE_RECORD, .group = "hwt", .name = (name_), .text = (text_), .file = "", \
		.field = (field_)                                                                          \
	}
static const struct ktread_type types[TYPES] = {
	[CALL] = TYPE("call", "%s, depth %u, %s%s", call_fields),
	[RETURN] = TYPE("return", "%s, depth %u%s", return_fields),
	[BRANCH] = TYPE("branch", "%s %s: %s%s", branch_fields),
	[LOST] = TYPE("lost", "%s", lost_fields),
};

/* ---- From steps to waiting events ---- */

/*
 * Adds a waiting event. Returns 1 if it was added; 0 if its time is unknown, because the unit has not written
 * a timestamp yet; or KTREAD_E_MEMORY.
 */
static int add_waiting(struct ring *ring, enum type type, struct waiting **added)
{
	struct waiting *waiting;

	if (!ring->has_stamp)
		return 0;
	if (ring->first + ring->count == ring->room && ring->first > ring->room / 2) {
		memmove(ring->queue, ring->queue + ring->first, ring->count * sizeof(*ring->queue));
		ring->first = 0;
	}
	waiting = base_grow(ring->queue, &ring->room, ring->first + ring->count + 1, sizeof(*waiting));
	if (!waiting)
		return KTREAD_E_MEMORY;
	ring->queue = waiting;
	waiting = &ring->queue[ring->first + ring->count++];
	*waiting = (struct waiting){ .type = type, .run = ring->piece.run, .thread = KTREAD_NO_THREAD };
	*added = waiting;
	return 1;
}

static uint32_t thread_of(uint32_t tid)
{
	return tid ? tid & KTRX_THREAD_MAX : KTREAD_NO_THREAD;
}

static int wait_function(struct ring *ring, enum type type, const struct flow_frame *frame,
			 const struct flow_moment *at)
{
	struct waiting *waiting;
	const int status = add_waiting(ring, type, &waiting);

	if (status <= 0)
		return status;
	waiting->function = frame->function;
	waiting->how = frame->how;
	waiting->depth = at->depth;
	waiting->thread = thread_of(at->tid);
	waiting->stack = at->tid ? at->tid : at->space;
	return 0;
}

static int enter(void *to, struct flow_frame *frame, const struct flow_moment *at)
{
	return wait_function(to, CALL, frame, at);
}

static int leave(void *to, const struct flow_frame *frame, const struct flow_moment *at)
{
	return wait_function(to, RETURN, frame, at);
}

static int wait_lost(struct ring *ring, const struct hwt_step *step, uint64_t stack, const char *what)
{
	struct waiting *waiting;
	const int status = add_waiting(ring, LOST, &waiting);

	if (status <= 0)
		return status;
	waiting->stack = stack;
	waiting->step = *step;
	snprintf(waiting->text, sizeof(waiting->text), "%s%s%s", what, step->text ? ": " : "",
		 step->text ? step->text : "");
	return 0;
}

/*
 * Returns true for a step after which all stacks are unknown. Such a step is reported once, as a separate
 * event.
 */
static int is_loss(const struct hwt_step *step)
{
	return step->kind == HWT_GAP || step->kind == HWT_OVERFLOW;
}

static int cut(void *to, const struct flow_moment *at)
{
	return is_loss(at->step) ? 0
				 : wait_lost(to, at->step, at->tid ? at->tid : at->space, "stack restarted");
}

static const struct flow_sink entries = { .enter = enter, .cut = cut };
static const struct flow_sink calls = { .enter = enter, .leave = leave, .cut = cut };

static int wait_branch(struct ring *ring, const struct hwt_step *step)
{
	struct waiting *waiting;
	const int status = add_waiting(ring, BRANCH, &waiting);

	if (status <= 0)
		return status;
	waiting->thread = thread_of(step->tid);
	waiting->step = *step;
	waiting->step.text = NULL;
	return 0;
}

/* ---- Placing events in time ---- */

static uint32_t cpu_of(const struct ring *ring)
{
	return ring->stream->context.mode == KTRX_HWT_MODE_THREAD ? KTRX_NO_CPU : ring->stream->cpu;
}

/* Returns the CPU on which the stream's code ran at `stamp`, or KTRX_NO_CPU if unknown. */
static uint32_t cpu_at(const struct beside *beside, const struct ring *ring, uint64_t stamp)
{
	const uint32_t cpu = cpu_of(ring), thread = thread_of(ring->stream->tid);

	return cpu != KTRX_NO_CPU || thread == KTREAD_NO_THREAD
		       ? cpu
		       : flow_kernel_cpu(beside->kernel, thread, stamp);
}

/*
 * Checks whether a waiting event is the call of a function that records an event of the kernel's trace. If
 * the recorded event is found, sets *timestamp to its timestamp.
 */
static enum flow_anchor anchor(const struct ring *ring, const struct flow_spread *spread,
			       const struct flow_piece *piece, size_t at, uint64_t *stamp)
{
	const struct waiting *waiting = &ring->queue[ring->first + at];

	return waiting->type == CALL
		       ? flow_spread_anchor(spread, waiting->function->name, piece, ring->matched, stamp)
		       : FLOW_NO_RECORDER;
}

/*
 * Sets the times of the queued events before the index `end`. Events before the index `doubtful` are marked
 * `about`.
 */
static void place_until(struct ring *ring, const struct flow_spread *spread, size_t end, size_t doubtful)
{
	const int about = flow_spread_is_about(spread);

	for (; ring->placed < end; ring->placed++) {
		struct waiting *waiting = &ring->queue[ring->first + ring->placed];

		waiting->stamp = flow_spread_at(spread, waiting->run);
		waiting->about = about || ring->placed < doubtful || waiting->stamp < ring->doubt_to;
		waiting->from = spread->from;
		waiting->to = spread->to > ring->doubt_to ? spread->to : ring->doubt_to;
	}
}

/*
 * Returns the timestamp at which the held piece ends. If a call in the growing piece recorded an event, and
 * that event is found, the held piece ends before the event.
 */
static uint64_t held_until(const struct beside *beside, const struct ring *ring)
{
	const struct flow_spread spread = { .kernel = beside->kernel,
					    .trace = beside->trace,
					    .cpu = cpu_at(beside, ring, ring->piece.from) };
	uint64_t stamp;

	for (size_t at = ring->held_end; at < ring->count; at++)
		if (anchor(ring, &spread, &ring->piece, at, &stamp) == FLOW_ANCHOR)
			return stamp < ring->held.to ? stamp - 1 : ring->held.to;
	return ring->held.to;
}

static void place_held(const struct beside *beside, struct ring *ring)
{
	const struct flow_piece *held = &ring->held;
	struct flow_spread spread = { .kernel = beside->kernel,
				      .trace = beside->trace,
				      .cpu = cpu_at(beside, ring, held->from),
				      .from = held->from > ring->matched ? held->from : ring->matched };
	size_t doubtful = 0;

	for (size_t at = ring->placed; at < ring->held_end; at++) {
		const enum flow_anchor found = anchor(ring, &spread, held, at, &spread.to);

		if (found == FLOW_RECORDER_ALONE) {
			doubtful = at + 1;
			ring->doubt_to = flow_spread_doubt(&spread, held);
		}
		if (found != FLOW_ANCHOR)
			continue;
		ring->matched = spread.to;
		if (spread.from >= spread.to)
			spread.from = spread.to - 1;
		spread.run_to = ring->queue[ring->first + at].run;
		place_until(ring, &spread, at, doubtful);
		/* The function is called just before the event that it records. */
		ring->queue[ring->first + at].stamp = spread.to - 1;
		ring->placed = at + 1;
		ring->doubt_to = 0;
		spread.from = held->from > spread.to ? held->from : spread.to;
		spread.run_from = spread.run_to;
	}
	spread.to = held_until(beside, ring);
	spread.run_to = held->run;
	place_until(ring, &spread, ring->held_end, doubtful);
}

/*
 * Ends the growing piece at the timestamp `to`. Sets the times of the events in the held piece, holds the
 * ended piece instead, and begins a new growing piece.
 */
static void end_piece(const struct beside *beside, struct ring *ring, uint64_t to)
{
	ring->piece.to = to;
	place_held(beside, ring);
	ring->held = ring->piece;
	ring->held_end = ring->count;
	ring->piece = (struct flow_piece){ .early = ring->held.from, .from = to };
}

/*
 * Ends the growing piece, and sets the times of its events without waiting for the next piece. Called if
 * steps are missing or too many events wait.
 */
static void end_all(const struct beside *beside, struct ring *ring)
{
	const uint64_t from = ring->piece.from;

	end_piece(beside, ring, UINT64_MAX);
	place_held(beside, ring);
	ring->piece = (struct flow_piece){ .early = from, .from = from };
}

static int take_step(const struct beside *beside, struct ring *ring, const struct hwt_step *step)
{
	int status = 0;

	if (is_loss(step) || ring->count - ring->placed > WAIT_MOST)
		end_all(beside, ring);
	if (step->has_stamp && (!ring->has_stamp || step->stamp != ring->piece.from)) {
		end_piece(beside, ring, step->stamp);
		ring->has_stamp = 1;
	}
	if (is_loss(step) && wait_lost(ring, step, 0, flow_kind_word(step->kind)) < 0)
		return KTREAD_E_MEMORY;
	if (ring->calls)
		status = flow_calls_step(ring->calls, step);
	else if (step->kind == HWT_RUN || step->kind == HWT_ASYNC)
		status = wait_branch(ring, step);
	ring->piece.run += step->kind == HWT_RUN ? step->instructions : 0;
	return status;
}

/* ---- From waiting events to events ---- */

static void put(struct ktread_beside_event *event, const void *bytes, size_t size)
{
	memcpy(event->payload + event->size, bytes, size);
	event->size += (uint32_t)size;
}

static void put_text(struct ktread_beside_event *event, const char *text)
{
	const size_t size = text ? strlen(text) : 0;
	uint16_t length = size > TEXT_MOST ? TEXT_MOST | KTRX_STRING_CUT : (uint16_t)size;

	put(event, &length, sizeof(length));
	put(event, text ? text : "", size > TEXT_MOST ? TEXT_MOST : size);
}
_Static_assert(3 * (TEXT_MOST + 2) + 4 + 2 * 8 <= KTREAD_BESIDE_PAYLOAD, "room for every type's fields");

static void put_function(struct ktread_beside_event *event, const struct flow_function *function)
{
	char name[FLOW_NAME_ROOM];

	if (function->name) {
		put_text(event, demangled(function->name));
		return;
	}
	flow_put_function(name, function);
	put_text(event, name);
}

static void put_branch(const struct beside *beside, struct ktread_beside_event *event,
		       const struct hwt_step *step, const char *order)
{
	char place[FLOW_PLACE_ROOM], payload[FLOW_PAYLOAD_ROOM];
	struct hwt_place found;

	if (!hwt_images_place(beside->flow->images, step->pid, step->stamp, step->address, 0, &found))
		found = (struct hwt_place){ 0 };
	flow_put_place(place, &found, step->address);
	put_text(event, place);
	put_text(event, step->kind == HWT_RUN ? flow_branch_word(step->branch) : flow_kind_word(step->kind));
	flow_put_payload(payload, beside->flow, step);
	put_text(event, payload);
	put_text(event, order);
	put(event, &step->address, sizeof(step->address));
}

/*
 * Sets the event's CPU and thread. If the unit does not report the CPU or the thread, takes it from the
 * kernel's trace, if it is known there. While an event's time is an estimate, its thread is known only if no
 * other thread ran on the CPU at any time at which the event may have happened.
 */
static void set_source(const struct beside *beside, const struct ring *ring, const struct waiting *waiting,
		       struct ktread_beside_event *event)
{
	event->cpu = cpu_of(ring);
	event->thread = waiting->thread;
	if (event->cpu != KTRX_NO_CPU) {
		if (event->thread == KTREAD_NO_THREAD)
			event->thread =
				waiting->about ? flow_kernel_only_thread(beside->kernel, event->cpu,
									 waiting->from, waiting->to)
					       : flow_kernel_thread(beside->kernel, event->cpu, event->stamp);
		return;
	}
	if (event->thread == KTREAD_NO_THREAD)
		event->thread = thread_of(ring->stream->tid);
	if (event->thread != KTREAD_NO_THREAD)
		event->cpu = flow_kernel_cpu(beside->kernel, event->thread, event->stamp);
}

static void make(const struct beside *beside, const struct ring *ring, const struct waiting *waiting,
		 struct ktread_beside_event *event)
{
	const char *order = waiting->about ? " ~" : "";

	event->stamp = waiting->stamp;
	set_source(beside, ring, waiting, event);
	event->type = waiting->type;
	event->size = 0;
	switch (waiting->type) {
	case CALL:
		put_function(event, waiting->function);
		put(event, &waiting->depth, sizeof(waiting->depth));
		put_text(event, flow_how_word(waiting->how));
		put_text(event, order);
		put_text(event, waiting->function->image);
		put(event, &waiting->stack, sizeof(waiting->stack));
		break;
	case RETURN:
		put_function(event, waiting->function);
		put(event, &waiting->depth, sizeof(waiting->depth));
		put_text(event, order);
		put(event, &waiting->stack, sizeof(waiting->stack));
		break;
	case BRANCH:
		put_branch(beside, event, &waiting->step, order);
		break;
	default:
		put_text(event, waiting->text);
		put(event, &waiting->stack, sizeof(waiting->stack));
		break;
	}
}

/* ---- Functions that ktread_beside_source() needs ---- */

static int next(void *state, uint32_t number, struct ktread_beside_event *event)
{
	struct beside *beside = state;
	struct ring *ring = &beside->ring[number];
	const struct hwt_step *step;
	int status = 1;

	while (ring->placed == 0) {
		status = flow_reader_next(ring->reader, &step);
		if (status > 0)
			status = take_step(beside, ring, step) < 0 ? KTREAD_E_MEMORY : 1;
		else if (status == 0)
			end_all(beside, ring);
		if (status < 0 || (status == 0 && ring->placed == 0))
			return status;
	}
	make(beside, ring, &ring->queue[ring->first], event);
	ring->first++;
	ring->count--;
	ring->placed--;
	ring->held_end--;
	return 1;
}

static void close_ring(struct ring *ring)
{
	flow_reader_close(ring->reader);
	flow_calls_free(ring->calls);
	ring->reader = NULL;
	ring->calls = NULL;
	ring->first = ring->count = ring->placed = ring->held_end = 0;
	ring->piece = ring->held = (struct flow_piece){ 0 };
	ring->matched = ring->doubt_to = 0;
	ring->has_stamp = 0;
}

static int rewind_ring(void *state, uint32_t number)
{
	struct beside *beside = state;
	struct ring *ring = &beside->ring[number];
	int status;

	close_ring(ring);
	status = flow_reader_open(&ring->reader, beside->flow, ring->number);
	if (status < 0 || beside->grain == FLOW_BRANCHES)
		return status;
	return flow_calls_new(&ring->calls, beside->flow->functions,
			      beside->grain == FLOW_ENTRIES ? &entries : &calls, ring,
			      flow_is_alone(beside->flow, ring->stream));
}

static const char *message(void *state)
{
	(void)state;
	return flow_message();
}

static void close_all(void *state)
{
	struct beside *beside = state;

	for (uint32_t n = 0; n < beside->rings; n++) {
		close_ring(&beside->ring[n]);
		free(beside->ring[n].queue);
	}
	free(beside->ring);
	free(beside->path);
	flow_kernel_free(beside->kernel);
	flow_close(beside->flow);
	free(beside);
}

int flow_beside(struct ktread *trace, struct flow *flow, const char *path, enum flow_grain grain)
{
	const size_t streams = hwt_file_streams(flow->file);
	struct beside *beside = calloc(1, sizeof(*beside));
	struct ktread_beside_source source = { .size = sizeof(source),
					       .state = beside,
					       .type = types,
					       .types = TYPES,
					       .next = next,
					       .rewind = rewind_ring,
					       .message = message,
					       .close = close_all };

	if (beside) {
		beside->flow = flow;
		beside->grain = grain;
		beside->path = strdup(path);
		beside->trace = trace;
		beside->ring = calloc(streams + 1, sizeof(*beside->ring));
	}
	if (!beside || !beside->path || !beside->ring || flow_kernel_read(&beside->kernel, trace) < 0) {
		if (beside)
			close_all(beside);
		else
			flow_close(flow);
		return KTREAD_E_MEMORY;
	}
	for (size_t n = 0; n < streams; n++) {
		struct ring *ring = &beside->ring[beside->rings];

		/* Samples do not describe a flow of control, and their times are too sparse for merging. */
		if (hwt_file_stream(flow->file, n)->context.encoding == KTRX_HWT_ENCODING_SPE)
			continue;
		ring->number = n;
		ring->stream = hwt_file_stream(flow->file, n);
		beside->rings++;
	}
	source.path = beside->path;
	source.rings = beside->rings;
	return ktread_beside_source(trace, &source);
}
