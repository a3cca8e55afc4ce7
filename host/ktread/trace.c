/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Traces: warnings and messages, reading of events in the order of timestamps, filters, names. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "versions.h"
#include "message.h"
#include "trace.h"

/* total size in bytes of the windows of all rings: half of the L2 cache of a current CPU core */
#define WINDOW_BYTES	 (UINT64_C(512) << 10)
#define WINDOW_MAX_SLOTS 2048u
#define WINDOW_MIN_SLOTS 32u

/*
 * Returns true if the trace has this warning already: a trace that is read again causes the same warnings
 * again.
 */
static bool is_known_warning(const struct ktread *trace, const char *text)
{
	for (uint32_t i = 0; i < trace->warnings; i++)
		if (strcmp(trace->warning[i], text) == 0)
			return true;
	return false;
}

void ktread_warn(struct ktread *trace, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if (trace->warnings < KTREAD_MAX_WARNINGS && !is_known_warning(trace, text))
		trace->warning[trace->warnings++] = text;
	else
		free(text);
}

const char *ktread_warning(struct ktread *trace)
{
	return trace->warnings_returned < trace->warnings ? trace->warning[trace->warnings_returned++] : NULL;
}

const char *ktread_warning_at(const struct ktread *trace, uint32_t number)
{
	return number < trace->warnings ? trace->warning[number] : NULL;
}

const char *ktread_message(const struct ktread *trace)
{
	return trace && trace->message[0] ? trace->message : ktread_fail_text();
}

uint32_t ktread_window_slots(uint32_t rings)
{
	uint64_t slots = WINDOW_BYTES / KTREAD_ITEM_SIZE / (rings ? rings : 1);

	return slots > WINDOW_MAX_SLOTS	  ? WINDOW_MAX_SLOTS
	       : slots < WINDOW_MIN_SLOTS ? WINDOW_MIN_SLOTS
					  : (uint32_t)slots;
}

int ktread_cursors_create(struct ktread *trace, uint32_t count)
{
	trace->cursor = calloc(count ? count : 1, sizeof(*trace->cursor));
	if (!trace->cursor)
		return ktread_fail_memory();
	trace->cursors = count;
	trace->info.rings = count;
	for (uint32_t i = 0; i < count; i++)
		trace->cursor[i].event.ring = i;
	return ktread_merge_init(&trace->merge, count);
}

int ktread_keep_message(struct ktread *trace, int status)
{
	snprintf(trace->message, sizeof(trace->message), "%s", ktread_fail_text());
	return status;
}

/* Stores an error. After an error, nothing more is read. Returns the error. */
static int fail(struct ktread *trace, int status)
{
	trace->status = status;
	return ktread_keep_message(trace, status);
}

/* Returns the largest timestamp whose distance from `first` fits in 63 bits of nanoseconds. */
static uint64_t find_last_fit(uint64_t first, uint64_t frequency)
{
	const unsigned __int128 ticks = (unsigned __int128)INT64_MAX * frequency / 1000000000u;

	return frequency && ticks < UINT64_MAX - first ? first + (uint64_t)ticks : UINT64_MAX;
}

/*
 * Warns if the last item that was read from a ring is more than 2^63 ns (292 years) after the first
 * timestamp. Such a time can be printed, but cannot be stored in other formats.
 */
static void check_distance(struct ktread *trace, const struct ktread_cursor *cursor)
{
	if (trace->last_fit && ktread_item_stamp(cursor->end - KTREAD_ITEM_SIZE) > trace->last_fit)
		ktread_warn(trace,
			    "%s: ring %u: timestamps are more than 292 years after the first one: "
			    "they or the clock frequency are damaged",
			    trace->memory->name, cursor->event.ring);
}

/* Reads the next items of a ring. If there are none, cursor->item == cursor->end afterwards. */
static int refill(struct ktread *trace, struct ktread_cursor *cursor)
{
	int status;

	if (trace->stop && trace->stop(trace->stop_context))
		return ktread_fail(KTREAD_E_SYSTEM, "the reading of the trace was stopped");
	status = cursor->version->refill(trace, cursor);
	if (status == 0)
		cursor->item = cursor->end;
	if (status > 0)
		check_distance(trace, cursor);
	return status;
}

/* Returns true if only those parts of rings need to be read that can contain events of the filter. */
static bool is_window(const struct ktread *trace)
{
	return trace->options.window && trace->selection.active;
}

/*
 * Prepares a ring for reading: from its beginning or, if the caller wants a time window, from the beginning
 * of that window.
 */
static int restart(struct ktread *trace, struct ktread_cursor *cursor)
{
	cursor->item = cursor->end = NULL;
	cursor->ring.decoded = cursor->ring.invalid = cursor->ring.records = cursor->ring.outside = 0;
	if (!cursor->version)
		cursor->version = trace->version;
	cursor->version->rewind(trace, cursor);
	if (is_window(trace) && cursor->version->seek)
		return cursor->version->seek(trace, cursor);
	return 0;
}

int ktread_rewind(struct ktread *trace)
{
	uint64_t first = UINT64_MAX;

	trace->status = 0;
	trace->unmerged = 0;
	for (uint32_t i = 0; i < trace->cursors; i++) {
		struct ktread_cursor *cursor = &trace->cursor[i];
		int status = restart(trace, cursor);

		if (status == 0)
			status = refill(trace, cursor);
		if (status < 0)
			return fail(trace, status);
		if (status > 0 && ktread_item_stamp(cursor->item) < first)
			first = ktread_item_stamp(cursor->item);
	}
	first = first == UINT64_MAX ? 0 : first;
	/* the first timestamp in a time window is not the first timestamp of the trace */
	if (!is_window(trace))
		trace->first_stamp = first;
	trace->last_fit = find_last_fit(trace->first_stamp, trace->info.frequency);
	ktread_merge_reset(&trace->merge, first);
	for (uint32_t i = 0; i < trace->cursors; i++) {
		struct ktread_cursor *cursor = &trace->cursor[i];

		if (cursor->item != cursor->end)
			check_distance(trace, cursor);
		ktread_merge_feed(&trace->merge, i, cursor->item, cursor->end);
	}
	return 0;
}

/* Merges more items in the order of their timestamps. Returns 1 on success, 0 at the end, or an error. */
static int order_more(struct ktread *trace)
{
	struct ktread_merge *merge = &trace->merge;

	if (trace->status < 0)
		return trace->status;
	if (merge->starved != KTREAD_MERGE_NONE) {
		struct ktread_cursor *cursor = &trace->cursor[merge->starved];
		int status = refill(trace, cursor);

		if (status < 0)
			return fail(trace, status);
		merge->starved = KTREAD_MERGE_NONE;
		ktread_merge_feed(merge, cursor->event.ring, cursor->item, cursor->end);
	}
	ktread_merge_run(merge);
	return merge->ordered != 0;
}

/*
 * Does the work of ktread_next() in two rare cases: no event has been merged in advance, or the filter
 * rejects the next event.
 */
static __attribute__((noinline)) int next_wanted(struct ktread *trace, const struct ktread_event **event)
{
	struct ktread_merge *merge = &trace->merge;

	for (;;) {
		struct ktread_cursor *cursor;

		if (merge->next == merge->ordered) {
			int status = order_more(trace);

			if (status <= 0)
				return status;
		}
		cursor = &trace->cursor[merge->order[merge->next++]];
		if (cursor->version->decode(trace, cursor)) {
			*event = &cursor->event;
			return 1;
		}
	}
}

int ktread_next(struct ktread *trace, const struct ktread_event **event)
{
	struct ktread_merge *merge = &trace->merge;

	if (__builtin_expect(merge->next != merge->ordered, 1)) {
		struct ktread_cursor *cursor = &trace->cursor[merge->order[merge->next++]];

		if (__builtin_expect(cursor->version->decode(trace, cursor), 1)) {
			*event = &cursor->event;
			return 1;
		}
	}
	return next_wanted(trace, event);
}

int ktread_next_by_ring(struct ktread *trace, const struct ktread_event **event)
{
	for (; trace->status == 0 && trace->unmerged < trace->cursors; trace->unmerged++) {
		struct ktread_cursor *cursor = &trace->cursor[trace->unmerged];

		for (;;) {
			int status = cursor->item == cursor->end ? refill(trace, cursor) : 1;

			if (status < 0)
				return fail(trace, status);
			if (status == 0)
				break;
			if (cursor->version->decode(trace, cursor)) {
				*event = &cursor->event;
				return 1;
			}
		}
	}
	return trace->status;
}

/* Decodes the items from cursor->item on, and returns those that pass the filter. */
static uint16_t decode_briefs(struct ktread *trace, struct ktread_cursor *cursor, struct ktread_brief *brief,
			      uint16_t room)
{
	const struct ktread_event *event = &cursor->event;
	uint16_t count = 0;

	while (count < room && cursor->item < cursor->end)
		if (cursor->version->decode(trace, cursor))
			brief[count++] =
				(struct ktread_brief){ event->stamp, event->cpu, event->thread, event->id };
	return count;
}

int ktread_next_briefs(struct ktread *trace, struct ktread_brief *brief, uint16_t room)
{
	for (; trace->status == 0 && trace->unmerged < trace->cursors; trace->unmerged++) {
		struct ktread_cursor *cursor = &trace->cursor[trace->unmerged];
		bool quick = cursor->version->brief && !trace->selection.active;

		for (;;) {
			int status = cursor->item == cursor->end ? refill(trace, cursor) : 1;
			uint16_t count;

			if (status < 0)
				return fail(trace, status);
			if (status == 0)
				break;
			count = quick ? cursor->version->brief(cursor, brief, room)
				      : decode_briefs(trace, cursor, brief, room);
			if (count > 0)
				return count;
		}
	}
	return trace->status;
}

static void *copy(const void *from, size_t bytes)
{
	void *to = from ? malloc(bytes ? bytes : 1) : NULL;

	return to ? memcpy(to, from, bytes) : NULL;
}

int ktread_set_filter(struct ktread *trace, const struct ktread_filter *filter)
{
	struct ktread_selection *selection = &trace->selection;

	free(selection->cpus);
	free(selection->events);
	memset(selection, 0, sizeof(*selection));
	if (!filter)
		return 0;
	if (filter->size != sizeof(*filter))
		return ktread_keep_message(trace,
					   ktread_fail(KTREAD_E_ARGUMENT, "the filter has the wrong size"));
	selection->cpus = copy(filter->cpus, ((size_t)filter->cpu_count + 7) / 8);
	selection->events = copy(filter->events, KTREAD_TYPE_ROWS / 8);
	if ((filter->cpus && !selection->cpus) || (filter->events && !selection->events))
		return ktread_keep_message(trace, ktread_fail_memory());
	selection->cpu_count = filter->cpu_count;
	selection->thread = filter->thread;
	selection->since = filter->since;
	selection->until = filter->until ? filter->until : UINT64_MAX;
	selection->accept = filter->accept;
	selection->context = filter->context;
	selection->set = selection->active = true;
	return 0;
}

void ktread_set_stop(struct ktread *trace, int (*stop)(void *context), void *context)
{
	trace->stop = stop;
	trace->stop_context = context;
}

void ktread_apply_filter(struct ktread *trace, int apply)
{
	trace->selection.active = trace->selection.set && apply;
}

int ktread_selects(const struct ktread *trace, const struct ktread_event *event)
{
	struct ktread_selection want = trace->selection;

	want.active = want.set;
	return ktread_wanted(&want, event);
}

void ktread_filter_window(const struct ktread *trace, uint64_t *since, uint64_t *until)
{
	*since = trace->selection.set ? trace->selection.since : 0;
	*until = trace->selection.set ? trace->selection.until : UINT64_MAX;
}

int ktread_is_narrowed(const struct ktread *trace)
{
	const struct ktread_selection *want = &trace->selection;

	return want->active && (want->cpus || want->events || want->thread >= 0 || want->accept);
}

void ktread_close(struct ktread *trace)
{
	if (!trace)
		return;
	for (uint32_t i = 0; i < trace->cursors; i++) {
		struct ktread_cursor *cursor = &trace->cursor[i];

		(cursor->version ? cursor->version : trace->version)->destroy(cursor);
	}
	for (uint32_t i = 0; i < trace->warnings; i++)
		free(trace->warning[i]);
	free(trace->cursor);
	free(trace->selection.cpus);
	free(trace->selection.events);
	ktread_merge_free(&trace->merge);
	ktread_types_free(&trace->types);
	ktread_names_free(&trace->threads);
	ktread_names_free(&trace->syscalls);
	ktread_names_free(&trace->errors);
	ktread_open_release(trace);
	free(trace);
}

const struct ktread_info *ktread_info(const struct ktread *trace)
{
	return &trace->info;
}

const struct ktread_ring *ktread_ring(const struct ktread *trace, uint32_t ring)
{
	return ring < trace->cursors ? &trace->cursor[ring].ring : NULL;
}

const struct ktread_type *ktread_type(const struct ktread *trace, uint32_t id)
{
	return ktread_types_known(&trace->types, id);
}

const struct ktread_type *ktread_type_find(const struct ktread *trace, const char *group, const char *name)
{
	for (uint32_t id = 0; id < KTREAD_TYPE_ROWS; id++) {
		const struct ktread_type *type = ktread_types_known(&trace->types, id);

		if (type && strcmp(type->name, name) == 0 && (!group || strcmp(type->group, group) == 0))
			return type;
	}
	return NULL;
}

const char *ktread_thread_name(const struct ktread *trace, uint32_t thread)
{
	return ktread_names_get(&trace->threads, thread);
}

const char *ktread_syscall_name(const struct ktread *trace, uint32_t number)
{
	return ktread_names_get(&trace->syscalls, number);
}

uint32_t ktread_syscall_names(const struct ktread *trace)
{
	return (uint32_t)trace->syscalls.rows;
}

const char *ktread_syscall_types(const struct ktread *trace, uint32_t number)
{
	return ktread_names_rest(&trace->syscalls, number);
}

const char *ktread_error_name(const struct ktread *trace, uint32_t number)
{
	return ktread_names_get(&trace->errors, number);
}

int ktread_set_calls(struct ktread *trace, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return ktread_fail_memory();
	ktread_names_free(&trace->syscalls);
	ktread_names_free(&trace->errors);
	trace->syscalls = trace->errors = (struct ktread_names){ .rows = 0 };
	return ktread_names_load_calls(&trace->syscalls, &trace->errors, copy, strlen(copy));
}

int ktread_set_registers(struct ktread *trace, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return ktread_fail_memory();
	free(trace->registers);
	trace->registers = copy;
	trace->info.registers = copy;
	return 0;
}

int ktread_set_note(struct ktread *trace, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return ktread_fail_memory();
	free(trace->note);
	trace->note = copy;
	trace->info.note = copy;
	return 0;
}

uint64_t ktread_first_stamp(const struct ktread *trace)
{
	return trace->first_stamp;
}
