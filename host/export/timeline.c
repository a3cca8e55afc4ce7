/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "analyze/event_name.h"
#include "analyze/names.h"
#include "analyze/wellknown.h"
#include "base/escape.h"
#include "export/timeline.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* Writes an opening bracket, and a number right-aligned in `width` columns. */
static char *put_right(char *at, uint64_t number, unsigned width)
{
	char digits[BASE_PUT_SCRATCH];
	size_t length = (size_t)(base_put_decimal(digits, number) - digits);

	*at++ = '[';
	for (; length < width; width--)
		*at++ = ' ';
	memcpy(at, digits, length);
	return at + length;
}

static char *timeline_put_ticks(char *at, uint64_t ticks)
{
	return base_put_literal(put_right(at, ticks, 12), "] ");
}

char *timeline_put_new_second(struct timeline *timeline, char *at, uint64_t ticks)
{
	struct timeline_second *second = &timeline->second;
	struct base_ticks_time time = { 0, 0 };
	char text[BASE_PUT_SCRATCH + 8], *end;

	if (timeline->scale.frequency == 0 && !timeline->zero_ticks)
		return timeline_put_ticks(at, ticks);
	if (timeline->scale.frequency != 0)
		time = base_ticks_time(ticks, timeline->scale.frequency);
	end = put_right(text, time.seconds, 5);
	*end++ = '.';
	if ((size_t)(end - text) <= sizeof(second->text)) {
		second->begin = time.seconds * 1000000;
		second->length = (uint32_t)(end - text);
		memcpy(second->text, text, sizeof(second->text));
	}
	memcpy(at, text, (size_t)(end - text));
	at = base_put_six(at + (end - text), time.microseconds);
	return base_put_literal(at, "] ");
}

char *timeline_put_mark(const struct timeline *timeline, char *at, const struct ktread_event *event)
{
	bool is_marked = false;

	if (__builtin_expect(!timeline->marked, 1))
		return at;
	for (uint32_t n = 0; n < timeline->marked_count; n++)
		is_marked |=
			timeline->marked[n].ring == event->ring && timeline->marked[n].index == event->index;
	return is_marked ? base_put_literal(at, "> ") : base_put_literal(at, "  ");
}

void timeline_begin(struct timeline *timeline)
{
	timeline->base = ktread_first_stamp(timeline->trace);
	timeline->second.begin = TIMELINE_NO_SECOND;
	base_ticks_scale_init(&timeline->scale, ktread_info(timeline->trace)->frequency);
}

/*
 * The lines of the timeline:
 *
 *	[    0.066302] CPU0 PID=6(init)              syscall.enter    execve nr=59 …
 *	[    0.066310] CPU2 PID=0(idle)          irq sched.wake       …
 *	--- CPU2: 4093 slots overwritten ---
 *
 * A gap line comes right before the first event of that ring after the gap. Gaps that no event follows are
 * reported at the end.
 */

#define THREAD_COLUMNS 20u
/* number of cached names of threads; the low bits of a thread's id are the index of its name */
#define THREADS		  256u
#define EVENT_COLUMNS_MIN 16u
#define EVENT_COLUMNS_MAX 28u
/* maximum length of the name of a thread or system call in the output, in bytes after escaping */
#define NAME_MAX_BYTES 160u
#define EVENTS	       (KTRX_EVENT_MAX + 1u)

struct label {
	char *text; /* cached text of the event; NULL: not cached yet */
	uint32_t length;
	struct phrase *phrase; /* the parsed text of the event type; NULL: ktread_format() is used */
};

struct thread_label {
	uint32_t thread;
	uint8_t length; /* length of the text; 0: not cached yet */
	/* position and length of the name in `text`; the length is 0 if the thread has no name */
	uint8_t name_start, name_length;
	char text[3 + 10 + NAME_MAX_BYTES + 3];
};

struct timeline_writer {
	struct timeline *timeline;
	unsigned event_columns;
	uint64_t *lost;	 /* indexed by ring: number of lost slots reported so far */
	uint32_t repeat; /* id of ktrace.repeat; 0: the trace has none */
	struct wellknown_table known;
	struct label event[EVENTS];
	struct thread_label thread[THREADS];
	struct calls calls;
	struct files *files; /* paths of open files; NULL: paths are not printed */
	struct object_names objects;
};

/*
 * Returns the width of the column for event names: the length of the longest name, but at least
 * EVENT_COLUMNS_MIN and at most EVENT_COLUMNS_MAX.
 */
static unsigned event_columns(const struct ktread *trace)
{
	unsigned columns = EVENT_COLUMNS_MIN;
	char text[ANALYZE_EVENT_NAME_MOST];

	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);
		uint32_t length = type ? (uint32_t)(analyze_event_name_lower(text, type) - text) : 0;

		if (length > columns)
			columns = length;
	}
	return columns < EVENT_COLUMNS_MAX ? columns : EVENT_COLUMNS_MAX;
}

static char *put_event_name(struct timeline_writer *writer, char *at, const struct ktread_event *event)
{
	struct label *label = &writer->event[event->id % EVENTS];

	if (__builtin_expect(!label->text, 0)) {
		uint32_t length = (uint32_t)(analyze_event_name_lower(at, event->type) - at);

		while (length <= writer->event_columns)
			at[length++] = ' ';
		if (at[length - 1] != ' ')
			at[length++] = ' ';
		label->text = malloc(length);
		if (!label->text)
			return at + length;
		memcpy(label->text, at, length);
		label->length = length;
		label->phrase = phrase_compile(event->type);
	}
	memcpy(at, label->text, label->length);
	return at + label->length;
}

static void render_thread(const struct timeline *timeline, struct thread_label *label, uint32_t thread)
{
	const char *name = ktread_thread_name(timeline->trace, thread);
	char *at = label->text, *end;

	if (thread == KTREAD_NO_THREAD)
		*at++ = '?';
	else
		at = base_put_decimal(at, thread);

	label->name_start = label->name_length = 0;
	if (name && *name) {
		*at++ = '(';
		label->name_start = (uint8_t)(at - label->text);
		at = base_escape_text(at, name, strlen(name), NAME_MAX_BYTES);
		label->name_length = (uint8_t)(at - label->text - label->name_start);
		*at++ = ')';
	}
	end = label->text + THREAD_COLUMNS;
	if (at < end)
		memset(at, ' ', (size_t)(end - at));
	at = at < end ? end : at;
	*at++ = ' ';
	label->thread = thread;
	label->length = (uint8_t)(at - label->text);
}

static const struct thread_label *label_of(struct timeline_writer *writer, uint32_t thread)
{
	struct thread_label *label = &writer->thread[thread % THREADS];

	if (__builtin_expect(label->length == 0 || label->thread != thread, 0))
		render_thread(writer->timeline, label, thread);
	return label;
}

static char *put_thread(struct timeline_writer *writer, char *at, uint32_t thread)
{
	const struct thread_label *label = label_of(writer, thread);

	memcpy(at, label->text, label->length);
	return at + label->length;
}

static char *put_cpu(char *at, uint32_t cpu)
{
	at = base_put_literal(at, "CPU");
	if (cpu != KTRX_NO_CPU)
		return base_put_decimal(at, cpu);
	*at = '?';
	return at + 1;
}

static char *put_name_or_number(char *at, const struct thread_label *label)
{
	if (!label->name_length)
		return base_put_decimal(at, label->thread);
	memcpy(at, label->text + label->name_start, label->name_length);
	return at + label->name_length;
}

/* Writes the names of the threads that a switch or a wakeup refers to: " (worker -> idle)". */
static char *put_threads_named(struct timeline_writer *writer, char *at, const struct wellknown *known,
			       const struct ktread_event *event)
{
	int change = known->kind == WELLKNOWN_SWITCH;
	uint32_t thread, next = 0;
	char *start = at;
	int named;

	if (!change && known->kind != WELLKNOWN_WAKE)
		return at;
	if (!wellknown_thread(known, event, change ? WELLKNOWN_PREV : WELLKNOWN_THREAD, &thread) ||
	    (change && !wellknown_thread(known, event, WELLKNOWN_NEXT, &next)))
		return at;
	named = label_of(writer, thread)->name_length;
	at = put_name_or_number(base_put_literal(at, " ("), label_of(writer, thread));
	if (change) {
		at = put_name_or_number(base_put_literal(at, " -> "), label_of(writer, next));
		named |= label_of(writer, next)->name_length;
	}
	*at = ')';
	return named ? at + 1 : start;
}

static char *put_text(struct timeline_writer *writer, char *at, const struct ktread_event *event)
{
	const struct phrase *phrase = writer->event[event->id % EVENTS].phrase;
	char *end = event->id == writer->repeat ? repeats_put(at, writer->timeline->trace, event)
		    : phrase			? phrase_put(phrase, at, event)
						: NULL;

	return end ? end : at + ktread_format(event, at, BASE_OUTPUT_LINE / 2);
}

/* Writes a system call with typed values or, if the types are unknown, its name and the kernel's text. */
static char *put_call(struct timeline_writer *writer, char *at, const struct wellknown *known,
		      const struct ktread_event *event)
{
	uint64_t number;
	char *end;

	if (!wellknown_number(known, event, WELLKNOWN_NUMBER, &number) || number > UINT32_MAX)
		return put_text(writer, at, event);
	end = calls_put(&writer->calls, at, (uint32_t)number, known, event);
	return end ? end : put_text(writer, calls_put_name(&writer->calls, at, (uint32_t)number), event);
}

/* Writes " (/etc/motd)": the path of the file that the file descriptor probably refers to. */
static char *put_path(struct timeline_writer *writer, char *at, const struct wellknown *known,
		      const struct ktread_event *event)
{
	struct files_path path = files_event(writer->files, event, known);

	if (!path.bytes)
		return at;
	at = base_escape_text(base_put_literal(at, " ("), path.bytes, path.length, 4 * FILES_PATH);
	*at = ')';
	return at + 1;
}

#define WAIT_WORD 16u

/* Writes " (event)": what the thread that goes to sleep waits for, if the event has the kind of the wait. */
static char *put_wait_kind(char *at, const struct wellknown *known, const struct ktread_event *event)
{
	static const char *const words[] = {
		[KTRX_WAIT_SPIN] = "spinning",	      [KTRX_WAIT_LOCK] = "lock",
		[KTRX_WAIT_EVENT] = "event",	      [KTRX_WAIT_TIME] = "time",
		[KTRX_WAIT_THREAD] = "end of thread", [KTRX_WAIT_DEVICE] = "device",
	};
	uint64_t kind;

	if (known->kind != WELLKNOWN_BLOCK || !wellknown_number(known, event, WELLKNOWN_NUMBER, &kind) ||
	    kind >= sizeof(words) / sizeof(words[0]) || !words[kind])
		return at;
	at = base_escape_text(base_put_literal(at, " ("), words[kind], strlen(words[kind]), WAIT_WORD);
	*at = ')';
	return at + 1;
}

/* Writes " (inode)": the name of the lock or interrupt that the event refers to. */
static char *put_object_named(struct timeline_writer *writer, char *at, const struct wellknown *known,
			      const struct ktread_event *event)
{
	const struct object_name name = object_names_event(&writer->objects, event, known);

	if (!name.bytes)
		return at;
	at = base_escape_text(base_put_literal(at, " ("), name.bytes, name.length, 4 * OBJECT_NAMES_MOST);
	*at = ')';
	return at + 1;
}

static char *put_event(struct timeline_writer *writer, char *at, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&writer->known, event);
	static const char context[4][5] = { "    ", "irq ", "nmi ", "    " };

	at = timeline_put_mark(writer->timeline, at, event);
	at = timeline_put_time(writer->timeline, at, timeline_stamp(writer->timeline, event));
	if (writer->timeline->ids)
		at = base_put_literal(timeline_put_id(at, event), " ");
	at = put_cpu(at, event->cpu);
	at = put_thread(writer, base_put_literal(at, " PID="), event->thread);
	memcpy(at, context[event->context % 4], 4);
	at = put_event_name(writer, at + 4, event);
	if (known->kind == WELLKNOWN_SYSCALL_ENTER || known->kind == WELLKNOWN_SYSCALL_EXIT)
		at = put_call(writer, at, known, event);
	else
		at = put_text(writer, at, event);
	at = put_threads_named(writer, at, known, event);
	at = put_path(writer, at, known, event);
	at = put_wait_kind(at, known, event);
	at = put_object_named(writer, at, known, event);
	if (event->callers || event->site)
		at = places_put(at, event, writer->timeline->symbols);
	*at++ = '\n';
	return at;
}

static void write_slots(struct base_output *out, uint64_t slots, const char *what)
{
	base_output_format(out, "%llu slot%s %s", (unsigned long long)slots, slots == 1 ? "" : "s", what);
}

static void write_ring_name(struct base_output *out, const struct ktread_ring *ring, uint32_t number)
{
	if (ring->kind == KTREAD_RING_PROCESSES)
		base_output_text(out, "process trace");
	else if (ring->cpu == KTRX_NO_CPU)
		base_output_format(out, "%s ring", ktread_ring_name(ring, number));
	else
		base_output_done(out, put_cpu(base_output_line(out), ring->cpu));
}

/*
 * Reports a gap. Overwritten slots are always the first slots of a ring. So the first missing slots are
 * reported as overwritten, until all overwritten slots of the ring have been reported.
 */
static void write_gap(struct timeline_writer *writer, uint32_t number, uint64_t slots, const char *where)
{
	const struct timeline *timeline = writer->timeline;
	const struct ktread_ring *ring = ktread_ring(timeline->trace, number);
	uint64_t overwritten = ring->overwritten, reported = writer->lost[number];

	overwritten = overwritten > reported ? overwritten - reported : 0;
	overwritten = overwritten < slots ? overwritten : slots;
	base_output_text(timeline->out, "--- ");
	write_ring_name(timeline->out, ring, number);
	base_output_text(timeline->out, ": ");
	if (overwritten)
		write_slots(timeline->out, overwritten, "overwritten");
	if (overwritten && slots > overwritten)
		base_output_text(timeline->out, ", ");
	if (slots > overwritten && ring->kind == KTREAD_RING_PROCESSES)
		base_output_format(timeline->out, "%llu record%s lost",
				   (unsigned long long)(slots - overwritten),
				   slots - overwritten == 1 ? "" : "s");
	else if (slots > overwritten)
		write_slots(timeline->out, slots - overwritten, "unreadable");
	base_output_format(timeline->out, "%s ---\n", where);
	writer->lost[number] += slots;
	writer->timeline->lost += slots;
}

/* Reports gaps after the last event of a ring, and records that were refused because a ring was full. */
static void write_rest(struct timeline_writer *writer, uint32_t rings)
{
	const struct timeline *timeline = writer->timeline;

	for (uint32_t n = 0; n < rings; n++) {
		const struct ktread_ring *ring = ktread_ring(timeline->trace, n);
		uint64_t lost = ring->overwritten + ring->invalid - ring->outside;

		if (!timeline_wants_ring(timeline, ring))
			continue;
		if (lost > writer->lost[n])
			write_gap(writer, n, lost - writer->lost[n],
				  timeline->filtered ? " in parts of the trace that are not shown"
						     : " at the end");
		if (!ring->dropped)
			continue;
		base_output_text(timeline->out, "--- ");
		write_ring_name(timeline->out, ring, n);
		base_output_format(timeline->out, ": %llu record%s refused by a full ring ---\n",
				   (unsigned long long)ring->dropped, ring->dropped == 1 ? "" : "s");
	}
	if (ktread_info(timeline->trace)->lost_events)
		base_output_format(timeline->out, "--- %llu records of events without an id refused ---\n",
				   (unsigned long long)ktread_info(timeline->trace)->lost_events);
}

static int write_all(struct timeline_writer *writer)
{
	struct timeline *timeline = writer->timeline;
	uint64_t left = timeline->limit ? timeline->limit : UINT64_MAX;
	const struct ktread_event *event;
	int result;

	while ((result = ktread_next(timeline->trace, &event)) > 0) {
		if (event->lost)
			write_gap(writer, event->ring, event->lost, "");
		timeline_writer_event(writer, event);
		timeline->shown++;
		timeline->last = event->stamp;
		if (--left == 0 || timeline->out->error)
			break;
	}
	if (result > 0)
		return result;
	write_rest(writer, ktread_info(timeline->trace)->rings);
	return result < 0 ? result : repeats_write(timeline->out, timeline->trace);
}

struct timeline_writer *timeline_writer_open(struct timeline *timeline)
{
	struct timeline_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->timeline = timeline;
	writer->repeat = repeat_type(timeline->trace) ? repeat_type(timeline->trace)->id : 0;
	writer->event_columns = event_columns(timeline->trace);
	writer->lost = calloc((size_t)ktread_info(timeline->trace)->rings + 1, sizeof(*writer->lost));
	calls_init(&writer->calls, timeline->trace);
	if (writer->lost && files_create(&writer->files, timeline->trace) == 0)
		return writer;
	timeline_writer_close(writer);
	return NULL;
}

void timeline_writer_event(struct timeline_writer *writer, const struct ktread_event *event)
{
	base_output_done(writer->timeline->out,
			 put_event(writer, base_output_line(writer->timeline->out), event));
}

void timeline_writer_forget_names(struct timeline_writer *writer)
{
	memset(writer->thread, 0, sizeof(writer->thread));
}

void timeline_writer_close(struct timeline_writer *writer)
{
	if (!writer)
		return;
	for (uint32_t id = 0; id < EVENTS; id++) {
		free(writer->event[id].text);
		phrase_free(writer->event[id].phrase);
	}
	files_destroy(writer->files);
	free(writer->lost);
	free(writer);
}

int timeline_write(struct timeline *timeline)
{
	struct timeline_writer *writer;
	int result;

	timeline_begin(timeline);
	writer = timeline_writer_open(timeline);
	result = writer ? write_all(writer) : KTREAD_E_MEMORY;
	timeline_writer_close(writer);
	return result;
}
