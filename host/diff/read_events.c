/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Turns the system calls of a trace into steps, and finds which threads sleep and which threads wake them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/put.h"
#include "diff/read.h"

/* ---- System calls ---- */

#define ERRORS_MOST 4095
#define SMALL	    4096u /* if the type is unknown, a value below this counts as a number */

static const struct read_call *call_of(struct reader *reader, uint32_t number)
{
	struct read_call *call = number < READ_CALLS ? &reader->call[number] : &reader->spare;
	const char *name, *types;
	char digits[24];

	if (number < READ_CALLS && call->bound)
		return call;
	name = ktread_syscall_name(reader->from, number);
	types = ktread_syscall_types(reader->from, number);
	if (!name) {
		snprintf(digits, sizeof(digits), "call %u", (unsigned)number);
		name = digits;
	}
	call->bound = true;
	call->kind = diff_trace_kind(reader->trace, name, strlen(name), true);
	diff_types_read(&call->types, name, types, types ? strlen(types) : 0);
	if (call->kind != DIFF_NONE)
		reader->trace->kind[call->kind].hidden |= call->types.socket;
	return call;
}

static bool number_at(const struct ktread_event *event, const struct read_type *type, uint32_t n,
		      uint64_t *number)
{
	if (n >= type->numbers || type->offset[n] + type->width[n] > event->payload_size)
		return false;
	*number = base_load(event->payload + type->offset[n], type->width[n]);
	if (type->is_signed >> n & 1) {
		const uint32_t unused = 64 - 8 * type->width[n];

		*number = (uint64_t)((int64_t)(*number << unused) >> unused);
	}
	return true;
}

/*
 * Returns whether the value of an argument that should have 32 bits needs more bits. Such a value is the
 * address of a structure.
 */
static bool is_address(uint64_t number)
{
	return number >> 32 != 0 && number >> 32 != UINT32_MAX;
}

static void take_values(struct reader *reader, const struct ktread_event *event, const struct read_type *type,
			const struct diff_types *types)
{
	const uint32_t count = types->known ? types->values : DIFF_VALUES;
	uint64_t number;

	for (uint32_t n = 0; n < count && number_at(event, type, type->first + n, &number); n++) {
		if (!types->known)
			diff_trace_value(reader->trace, number < SMALL ? DIFF_FORM_NUMBER : DIFF_FORM_OPAQUE,
					 number);
		else if (types->narrow[n] && is_address(number))
			diff_trace_value(reader->trace, DIFF_FORM_OPAQUE, number);
		else
			diff_trace_value(reader->trace, types->form[n],
					 types->narrow[n] ? (uint32_t)number : number);
	}
}

void read_call_enter(struct reader *reader, const struct ktread_event *event, const struct read_type *type,
		     const struct wellknown *known, uint32_t thread)
{
	struct diff_trace *trace = reader->trace;
	const struct read_call *call;
	struct diff_step *step;
	uint64_t number;

	if (!wellknown_number(known, event, WELLKNOWN_NUMBER, &number))
		return;
	call = call_of(reader, (uint32_t)number);
	step = diff_trace_step(trace, thread, call->kind, event->stamp, event->ring, event->index);
	if (!step)
		return;
	step->begins_thread = diff_makes_thread(trace->kind[call->kind].name);
	trace->thread[thread].call = trace->steps - 1;
	trace->thread[thread].call_off = trace->thread[thread].off;
	trace->thread[thread].recents = 0;
	take_values(reader, event, type, &call->types);
}

/* Returns the step of the thread's current call; NULL if there is none, or if the call began before a gap. */
static struct diff_step *open_call(struct reader *reader, uint32_t thread)
{
	const uint32_t call = reader->trace->thread[thread].call;
	struct diff_step *step = call != DIFF_NONE ? &reader->trace->step[call] : NULL;

	return step && step->stamp >= reader->gap_stamp ? step : NULL;
}

static void set_result(struct reader *reader, struct diff_step *step, const struct diff_types *types,
		       uint64_t raw)
{
	const int64_t result = (int64_t)raw;
	const char *name;

	if (result < 0 && result >= -ERRORS_MOST) {
		name = ktread_error_name(reader->from, (uint32_t)-result);
		if (name ? strcmp(name, "EINTR") == 0 : result == -EINTR)
			diff_trace_broken(reader->trace, (uint32_t)(step - reader->trace->step));
		step->result_form = DIFF_FORM_ERROR;
		step->result = name ? base_hash_text(0, name) : base_hash(1, (uint64_t)-result);
		return;
	}
	step->result_form = diff_types_result(types, raw);
	step->result = raw;
}

void read_call_exit(struct reader *reader, const struct ktread_event *event, const struct read_type *type,
		    uint32_t thread)
{
	struct diff_trace *trace = reader->trace;
	struct diff_step *step = open_call(reader, thread);
	uint64_t number, raw;
	const struct read_call *call;

	trace->thread[thread].call = DIFF_NONE;
	if (!step || !number_at(event, type, 0, &number))
		return;
	call = call_of(reader, (uint32_t)number);
	if (call->kind != step->kind)
		return;
	step->result_form = DIFF_FORM_OPAQUE;
	if (type->result >= 0 && number_at(event, type, (uint32_t)type->result, &raw))
		set_result(reader, step, &call->types, raw);
	if (event->stamp > step->stamp) {
		const uint64_t off = trace->thread[thread].off - trace->thread[thread].call_off;

		step->took = event->stamp - step->stamp;
		step->took -= off < step->took ? off : step->took - 1;
	}
	if (step->begins_thread && step->result_form != DIFF_FORM_ERROR && step->result != 0 &&
	    ktread_info(reader->from)->form == KTREAD_FORM_PROCESSES)
		diff_end_child(trace, thread, diff_trace_child(trace, thread, (uint32_t)step->result), step);
}

void read_call_path(struct reader *reader, const struct ktread_event *event, uint32_t thread)
{
	struct diff_step *step = open_call(reader, thread);
	struct diff_kind *kind;
	struct ktread_value value;
	uint64_t hash;

	if (!step || ktread_value(event, 0, &value) != 0 || value.type != KTRX_TYPE_STRING)
		return;
	kind = &reader->trace->kind[step->kind];
	hash = diff_path_key(kind->hash, value.string, value.length);
	/*
	 * Only the first path is compared, because other kinds of trace have only the first path of some
	 * calls.
	 */
	if (step->key == kind->hash)
		step->key = hash;
}

/* ---- Waits and wakeups ---- */

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
