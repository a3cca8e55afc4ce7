/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads a trace once, and divides its events into steps, waits, wakeups, gaps and noise. */
#include "diff/read.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/event_name.h"
#include "base/put.h"

/* ---- The purpose of each event type in a comparison ---- */

static const struct {
	uint8_t kind; /* enum wellknown_kind */
	uint8_t noise;
} noises[] = {
	{ WELLKNOWN_SWITCH, DIFF_NOISE_SCHEDULING },	  { WELLKNOWN_BLOCK, DIFF_NOISE_SCHEDULING },
	{ WELLKNOWN_WAKE, DIFF_NOISE_SCHEDULING },	  { WELLKNOWN_WAKE_QUEUE, DIFF_NOISE_SCHEDULING },
	{ WELLKNOWN_WAKE_NOBODY, DIFF_NOISE_SCHEDULING }, { WELLKNOWN_IRQ_ENTER, DIFF_NOISE_INTERRUPT },
	{ WELLKNOWN_IRQ_EXIT, DIFF_NOISE_INTERRUPT },	  { WELLKNOWN_IRQ_EOI, DIFF_NOISE_INTERRUPT },
	{ WELLKNOWN_IPI_SEND, DIFF_NOISE_INTERRUPT },	  { WELLKNOWN_IPI_RECEIVE, DIFF_NOISE_INTERRUPT },
	{ WELLKNOWN_FAULT_ENTER, DIFF_NOISE_FAULT },	  { WELLKNOWN_FAULT_EXIT, DIFF_NOISE_FAULT },
	{ WELLKNOWN_LOCK_CONTEND, DIFF_NOISE_LOCK },	  { WELLKNOWN_LOCK_ACQUIRE, DIFF_NOISE_LOCK },
	{ WELLKNOWN_LOCK_RELEASE, DIFF_NOISE_LOCK },	  { WELLKNOWN_LOCK_FAIL, DIFF_NOISE_LOCK },
	{ WELLKNOWN_SIGNAL_SEND, DIFF_NOISE_SIGNAL },	  { WELLKNOWN_SIGNAL_DELIVER, DIFF_NOISE_SIGNAL },
	{ WELLKNOWN_COUNTER, DIFF_NOISE_COUNTER },
};

static const struct {
	const char *name; /* name of an event in the group "proc" */
	uint8_t use, noise;
} process_uses[] = {
	{ "path", READ_PATH, 0 },
	{ "begin", READ_BEGIN, 0 },
	{ "end", READ_END, 0 },
	{ "data", READ_NOISE, DIFF_NOISE_DATA },
	{ "struct", READ_NOISE, DIFF_NOISE_DATA },
	{ "structs", READ_NOISE, DIFF_NOISE_DATA },
	{ "unknown", READ_NOISE, DIFF_NOISE_DATA },
	{ "switch", READ_NOISE, DIFF_NOISE_SCHEDULING },
	{ "signal", READ_NOISE, DIFF_NOISE_SIGNAL },
	{ "fault", READ_NOISE, DIFF_NOISE_FAULT },
	{ "fault_end", READ_NOISE, DIFF_NOISE_FAULT },
	{ "closed", READ_NOISE, DIFF_NOISE_TRACER },
};

static void choose_use(struct reader *reader, struct read_type *bound, const struct ktread_type *type,
		       const struct wellknown *known)
{
	bound->use = READ_STEP;
	if (known->kind == WELLKNOWN_SYSCALL_ENTER)
		bound->use = READ_CALL;
	else if (known->kind == WELLKNOWN_SYSCALL_EXIT)
		bound->use = READ_RETURN;
	for (size_t n = 0; n < sizeof(noises) / sizeof(noises[0]); n++)
		if (noises[n].kind == known->kind) {
			bound->use = READ_NOISE;
			bound->noise = noises[n].noise;
		}
	if (known->kind != WELLKNOWN_PANIC && strcmp(type->group, "ktrace") == 0) {
		bound->use = READ_NOISE;
		bound->noise = DIFF_NOISE_TRACER;
	}
	if (ktread_info(reader->from)->form != KTREAD_FORM_PROCESSES || strcmp(type->group, "proc") != 0)
		return;
	for (size_t n = 0; n < sizeof(process_uses) / sizeof(process_uses[0]); n++)
		if (strcmp(process_uses[n].name, type->name) == 0) {
			bound->use = process_uses[n].use;
			bound->noise = process_uses[n].noise;
		}
}

static uint8_t width_of(uint8_t type)
{
	switch (type) {
	case KTRX_TYPE_U8:
	case KTRX_TYPE_I8:
	case KTRX_TYPE_BOOL:
	case KTRX_TYPE_CHAR:
		return 1;
	case KTRX_TYPE_U16:
	case KTRX_TYPE_I16:
		return 2;
	case KTRX_TYPE_U32:
	case KTRX_TYPE_I32:
		return 4;
	case KTRX_TYPE_STRING:
		return 0;
	default:
		return 8;
	}
}

static bool is_signed(uint8_t type)
{
	return type == KTRX_TYPE_I8 || type == KTRX_TYPE_I16 || type == KTRX_TYPE_I32 ||
	       type == KTRX_TYPE_I64;
}

static void find_numbers(struct read_type *bound, const struct ktread_type *type)
{
	uint16_t offset = 0;

	for (uint32_t n = 0; n < type->fields && n < READ_NUMBERS; n++) {
		const uint8_t width = width_of(type->field[n].type);

		if (width == 0)
			break;
		bound->offset[n] = offset;
		bound->width[n] = width;
		if (is_signed(type->field[n].type))
			bound->is_signed |= (uint8_t)(1u << n);
		bound->numbers++;
		offset = (uint16_t)(offset + width);
	}
}

static void find_fields(struct read_type *bound, const struct ktread_type *type,
			const struct wellknown *known)
{
	bound->result = known->field[WELLKNOWN_RESULT];
	for (uint32_t n = 0; n < type->fields && n < 32; n++) {
		if (type->field[n].type == KTRX_TYPE_STRING)
			bound->strings |= UINT32_C(1) << n;
		else if (bound->result < 0 && n < INT8_MAX &&
			 (strcmp(type->field[n].name, "result") == 0 ||
			  strcmp(type->field[n].name, "status") == 0))
			bound->result = (int8_t)n;
	}
	if (known->field[WELLKNOWN_NUMBER] >= 0)
		bound->first = (uint8_t)(known->field[WELLKNOWN_NUMBER] + 1);
}

static const struct read_type *read_type_of(struct reader *reader, const struct ktread_event *event,
					    const struct wellknown *known)
{
	struct read_type *bound = &reader->type[event->id & KTRX_EVENT_MAX];
	char name[2 * ANALYZE_EVENT_NAME_MOST];

	if (bound->use != READ_UNBOUND)
		return bound;
	*bound = (struct read_type){ .result = -1, .kind = DIFF_NONE };
	choose_use(reader, bound, event->type, known);
	find_numbers(bound, event->type);
	find_fields(bound, event->type, known);
	if (bound->use == READ_STEP || bound->use == READ_END) {
		const char *end = analyze_event_name_put(name, event->type);

		bound->kind = diff_trace_kind(reader->trace, name, (size_t)(end - name), false);
		if (bound->kind != DIFF_NONE)
			reader->trace->kind[bound->kind].type = event->type->id;
	}
	return bound;
}

/* ---- The reader ---- */

static void note_gap(struct reader *reader, const struct ktread_event *event)
{
	const struct ktread_ring *ring = ktread_ring(reader->from, event->ring);
	uint64_t *last = &reader->last[event->ring];

	if (event->lost || (*last == 0 && ring->cleared)) {
		diff_trace_gap(reader->trace, *last, event->stamp);
		reader->gap_stamp = event->stamp;
	}
	*last = event->stamp;
}

/* Adds gaps after the last event of each ring. No event shows these gaps. */
static void note_ends(struct reader *reader)
{
	const struct ktread_info *info = ktread_info(reader->from);
	struct diff_trace *trace = reader->trace;

	for (uint32_t n = 0; n < info->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(reader->from, n);

		trace->lost += ring->overwritten + ring->invalid;
		if (ring->cut || (ring->dropped && ring->cpu != KTRX_NO_CPU))
			diff_trace_gap(trace, reader->last[n], UINT64_MAX);
	}
	if (ktread_is_cut(info))
		diff_trace_gap(trace, trace->end, UINT64_MAX);
	if (info->unusable)
		diff_trace_gap(trace, 0, UINT64_MAX);
}

static uint64_t with_strings(uint64_t key, const struct ktread_event *event, const struct read_type *type)
{
	struct ktread_value value;

	for (uint32_t left = type->strings; left; left &= left - 1) {
		const uint32_t n = (uint32_t)__builtin_ctz(left);

		if (ktread_value(event, n, &value) == 0 && value.type == KTRX_TYPE_STRING)
			key = diff_path_key(key, value.string, value.length);
	}
	return key;
}

/*
 * Returns whether a thread repeats a step that it has already made during the current call. The number of
 * repetitions depends on the scheduler: on how much data is available when the kernel checks, and on how
 * often it wakes the thread although no data is available.
 */
static bool is_repeated(struct diff_thread *thread, uint64_t key)
{
	if (thread->call == DIFF_NONE)
		return false;
	for (uint32_t n = 0; n < DIFF_RECENT && n < thread->recents; n++)
		if (thread->recent[n] == key)
			return true;
	thread->recent[thread->recents++ % DIFF_RECENT] = key;
	return false;
}

/*
 * Returns whether the result of an event is a number of bytes that the current call transfers. That number is
 * compared as the result of the call.
 */
static bool is_amount(const struct diff_trace *trace, const struct diff_thread *thread, uint64_t result)
{
	return thread->call != DIFF_NONE && trace->kind[trace->step[thread->call].kind].transfer &&
	       (int64_t)result > 0;
}

static void take_step(struct reader *reader, const struct ktread_event *event, const struct read_type *type,
		      uint32_t thread)
{
	struct diff_trace *trace = reader->trace;
	struct diff_step *step;
	struct ktread_value value;
	uint64_t key;

	if (type->kind == DIFF_NONE) {
		trace->full = true;
		return;
	}
	key = with_strings(trace->kind[type->kind].hash, event, type);
	if (is_repeated(&trace->thread[thread], key)) {
		trace->noise[DIFF_NOISE_LOOP]++;
		return;
	}
	step = diff_trace_step(trace, thread, type->kind, event->stamp, event->ring, event->index);
	if (!step)
		return;
	step->key = key;
	step->inside = trace->thread[thread].call != DIFF_NONE;
	step->result_form = DIFF_FORM_OPAQUE;
	if (type->result >= 0 && ktread_value(event, (uint32_t)type->result, &value) == 0 &&
	    value.type != KTRX_TYPE_STRING && value.number + INT32_MAX <= UINT32_MAX &&
	    !is_amount(trace, &trace->thread[thread], value.number)) {
		step->result_form = DIFF_FORM_NUMBER;
		step->result = value.number;
	}
}

/* Handles an event of a process trace that reports the start of a process, or an exec. */
static void take_begin(struct reader *reader, const struct ktread_event *event)
{
	struct ktread_value how, parent;
	uint32_t maker = DIFF_NONE;

	if (ktread_value(event, 0, &how) != 0 || how.type != KTRX_TYPE_STRING || how.length != 4 ||
	    memcmp(how.string, "made", 4) != 0 || ktread_value(event, 1, &parent) != 0)
		return;
	if (parent.number)
		maker = diff_trace_thread(reader->trace, (uint32_t)parent.number, event->cpu);
	diff_trace_child(reader->trace, maker, event->thread);
}

static void take_create(struct reader *reader, const struct ktread_event *event,
			const struct wellknown *known, uint32_t thread)
{
	struct ktread_value name;
	uint32_t id, child;

	if (!wellknown_thread(known, event, WELLKNOWN_THREAD, &id) || id == 0)
		return;
	child = diff_trace_child(reader->trace, thread, id);
	if (child != DIFF_NONE && thread != DIFF_NONE && reader->trace->thread[thread].call != DIFF_NONE)
		diff_end_child(reader->trace, thread, child,
			       &reader->trace->step[reader->trace->thread[thread].call]);
	if (child != DIFF_NONE && wellknown_string(known, event, WELLKNOWN_NAME, &name))
		diff_trace_name(&reader->trace->thread[child], name.string, name.length);
}

/* Handles the arrival of a signal. A call before a gap is not paired with a signal after it. */
static void take_signal(struct reader *reader, uint32_t thread)
{
	const uint32_t broken = reader->trace->thread[thread].broken;

	if (broken != DIFF_NONE && reader->trace->step[broken].stamp < reader->gap_stamp)
		reader->trace->thread[thread].broken = DIFF_NONE;
	diff_trace_signal(reader->trace, thread);
}

/* Stores the number of a signal that is sent to a thread or arrives at a thread. */
static void note_signal(struct reader *reader, const struct ktread_event *event,
			const struct wellknown *known, uint32_t thread)
{
	const bool sends = known->kind == WELLKNOWN_SIGNAL_SEND;
	uint32_t target = thread;
	uint64_t number;

	if ((known->kind != WELLKNOWN_SIGNAL_SEND && known->kind != WELLKNOWN_SIGNAL_DELIVER) ||
	    !wellknown_number(known, event, WELLKNOWN_NUMBER, &number))
		return;
	if (wellknown_thread(known, event, WELLKNOWN_THREAD, &target))
		target = diff_trace_thread(reader->trace, target, event->cpu);
	if (target != DIFF_NONE && sends)
		diff_end_process(reader->trace, target, event->stamp);
	if (target != DIFF_NONE && (sends || reader->trace->thread[target].signal != number))
		diff_end_signal(&reader->trace->thread[target], (uint32_t)number, event->stamp,
				sends && thread != DIFF_NONE && thread != target);
}

/* Stores the signal that ended a process. Only process traces contain it. */
static void take_end(struct reader *reader, const struct ktread_event *event, uint32_t thread)
{
	struct ktread_value how, number;

	if (ktread_value(event, 0, &how) == 0 && how.type == KTRX_TYPE_STRING && how.length == 6 &&
	    memcmp(how.string, "signal", 6) == 0 && ktread_value(event, 1, &number) == 0 &&
	    reader->trace->thread[thread].signal != number.number)
		diff_end_signal(&reader->trace->thread[thread], (uint32_t)number.number, 0, false);
}

static void take_event(struct reader *reader, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&reader->known, event);
	const struct read_type *type = read_type_of(reader, event, known);
	const bool interrupts =
		event->context == KTRX_CONTEXT_INTERRUPT || event->context == KTRX_CONTEXT_NMI;
	struct diff_trace *trace = reader->trace;
	uint32_t thread = DIFF_NONE, target;

	if (!interrupts && event->thread != KTREAD_NO_THREAD) {
		thread = diff_trace_thread(trace, event->thread, event->cpu);
		if (thread == DIFF_NONE)
			return;
		trace->thread[thread].seen = event->stamp;
	}
	read_scheduling(reader, event, known, thread);
	note_signal(reader, event, known, thread);
	if (thread != DIFF_NONE && type->use == READ_NOISE && type->noise == DIFF_NOISE_SIGNAL &&
	    known->kind != WELLKNOWN_SIGNAL_SEND &&
	    (!wellknown_thread(known, event, WELLKNOWN_THREAD, &target) || target == event->thread))
		take_signal(reader, thread);
	if (thread == DIFF_NONE && type->use == READ_STEP && type->kind != DIFF_NONE)
		trace->kind[type->kind].served = true;
	if (thread == DIFF_NONE || type->use == READ_NOISE) {
		trace->noise[thread == DIFF_NONE ? DIFF_NOISE_INTERRUPT : type->noise]++;
		return;
	}
	if (type->use == READ_BEGIN)
		take_begin(reader, event);
	else if (type->use == READ_CALL)
		read_call_enter(reader, event, type, known, thread);
	else if (type->use == READ_RETURN)
		read_call_exit(reader, event, type, thread);
	else if (type->use == READ_PATH)
		read_call_path(reader, event, thread);
	else
		take_step(reader, event, type, thread);
	if (type->use == READ_END)
		take_end(reader, event, thread);
	read_wait_end(trace, thread, event->stamp, DIFF_NONE);
	if (known->kind == WELLKNOWN_CREATE)
		take_create(reader, event, known, thread);
	if (known->kind == WELLKNOWN_EXIT || type->use == READ_END)
		trace->thread[thread].ended = true;
}

static int read_all(struct reader *reader)
{
	struct diff_trace *trace = reader->trace;
	const struct ktread_event *event;
	int more;

	while ((more = ktread_next(reader->from, &event)) > 0 && !trace->full) {
		note_gap(reader, event);
		if (trace->begin == UINT64_MAX)
			trace->begin = event->stamp;
		if (event->stamp > trace->end)
			trace->end = event->stamp;
		trace->events++;
		take_event(reader, event);
	}
	return more < 0 ? more : 0;
}

static void name_threads(struct reader *reader)
{
	struct diff_trace *trace = reader->trace;

	for (uint32_t n = 0; n < trace->threads; n++) {
		struct diff_thread *thread = &trace->thread[n];
		const char *name = ktread_thread_name(reader->from, thread->id);

		/* If the id was reused, the name belongs to the newest thread with this id. */
		if (name && diff_trace_thread(trace, thread->id, thread->cpu) == n)
			diff_trace_name(thread, name, strlen(name));
	}
}

static bool records_calls(struct reader *reader)
{
	const struct ktread_type *type;

	if (ktread_info(reader->from)->form == KTREAD_FORM_PROCESSES)
		return true;
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		type = ktread_type(reader->from, id);
		if (type && (type->state == KTRX_STATE_RECORD || type->wanted == KTRX_STATE_RECORD) &&
		    wellknown_bind(&reader->known, type)->kind == WELLKNOWN_SYSCALL_ENTER)
			return true;
	}
	return false;
}

int diff_read(struct diff_trace **trace, struct ktread *from, const char *path)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int status = KTREAD_E_MEMORY;

	*trace = diff_trace_new(path);
	if (reader)
		reader->last = calloc(ktread_info(from)->rings + 1, sizeof(*reader->last));
	if (*trace && reader && reader->last) {
		reader->from = from;
		reader->trace = *trace;
		(*trace)->trace = from;
		(*trace)->frequency = ktread_info(from)->frequency;
		(*trace)->calls = records_calls(reader);
		status = read_all(reader);
		if (status == 0) {
			note_ends(reader);
			name_threads(reader);
			status = diff_trace_end(*trace);
		}
	}
	if (reader)
		free(reader->last);
	free(reader);
	return status;
}
