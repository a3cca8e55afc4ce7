/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "diff/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define SENDER 4u /* index of the argument of recvfrom() that points to the sender's address */

struct diff_trace *diff_trace_new(const char *path)
{
	struct diff_trace *trace = calloc(1, sizeof(*trace));

	if (trace) {
		trace->path = path;
		trace->begin = UINT64_MAX;
	}
	return trace;
}

void diff_trace_free(struct diff_trace *trace)
{
	if (!trace)
		return;
	free(trace->kind);
	free(trace->thread);
	free(trace->step);
	free(trace->value);
	free(trace->wait);
	free(trace->wake);
	free(trace->gap);
	free(trace->order);
	base_index_free(&trace->kind_index);
	base_index_free(&trace->thread_index);
	free(trace);
}

/*
 * Makes room for one more element of *array. Returns false if the array has `most` elements, or if out of
 * memory.
 */
static bool grow(void *array, uint32_t *room, uint32_t count, uint32_t most, size_t size)
{
	void **at = array;
	void *grown = count < most ? base_grow(*at, room, (size_t)count + 1, size) : NULL;

	if (grown)
		*at = grown;
	return grown != NULL;
}

uint32_t diff_trace_kind(struct diff_trace *trace, const char *name, size_t length, bool call)
{
	const uint64_t hash = base_hash_bytes(call, name, length);
	struct diff_kind *kind;
	uint32_t row;

	for (uint32_t probe = 0; base_index_next(&trace->kind_index, hash, &probe, &row);)
		if (trace->kind[row].hash == hash)
			return row;
	if (!grow(&trace->kind, &trace->kind_room, trace->kinds, DIFF_KINDS_MAX, sizeof(*kind)) ||
	    base_index_add(&trace->kind_index, hash, trace->kinds) < 0)
		return DIFF_NONE;
	kind = &trace->kind[trace->kinds];
	length = length < DIFF_NAME - 1 ? length : DIFF_NAME - 1;
	*kind = (struct diff_kind){ .hash = hash, .call = call };
	memcpy(kind->name, name, length);
	kind->sync = call && diff_is_sync(kind->name);
	kind->transfer = call && diff_is_transfer(kind->name);
	kind->poll = call && diff_is_poll(kind->name);
	kind->leaves = call && diff_is_leave(kind->name);
	kind->exits = call && diff_is_exit(kind->name);
	kind->kills = call ? diff_kills(kind->name) : 0;
	kind->pauses = call && diff_is_pause(kind->name);
	kind->handled = call && strstr(kind->name, "sigreturn");
	return trace->kinds++;
}

/* ---- Adding threads ---- */

static uint64_t thread_hash(uint32_t id, uint32_t cpu)
{
	return base_hash(base_hash(0, id), cpu);
}

static uint32_t find(const struct diff_trace *trace, uint32_t id, uint32_t cpu)
{
	uint32_t row;

	for (uint32_t probe = 0; base_index_next(&trace->thread_index, thread_hash(id, cpu), &probe, &row);)
		if (trace->thread[row].id == id && trace->thread[row].cpu == cpu)
			return row;
	return DIFF_NONE;
}

static uint32_t add(struct diff_trace *trace, uint32_t id, uint32_t cpu)
{
	if (!grow(&trace->thread, &trace->thread_room, trace->threads, DIFF_THREADS_MAX,
		  sizeof(*trace->thread)) ||
	    base_index_add(&trace->thread_index, thread_hash(id, cpu), trace->threads) < 0) {
		trace->full = true;
		return DIFF_NONE;
	}
	trace->thread[trace->threads] = (struct diff_thread){ .id = id,
							      .cpu = cpu,
							      .process = trace->threads,
							      .parent = DIFF_NONE,
							      .call = DIFF_NONE,
							      .broken = DIFF_NONE,
							      .wait = DIFF_NONE,
							      .first_wait = DIFF_NONE,
							      .last_wait = DIFF_NONE,
							      .peer = DIFF_NONE,
							      .waker = DIFF_NONE };
	return trace->threads++;
}

uint32_t diff_trace_thread(struct diff_trace *trace, uint32_t id, uint32_t cpu)
{
	uint32_t thread;

	/* Thread 0 may run on several CPUs at once, so it counts as a separate thread on each CPU. */
	cpu = id == 0 ? cpu : DIFF_NONE;
	thread = find(trace, id, cpu);
	return thread != DIFF_NONE ? thread : add(trace, id, cpu);
}

uint32_t diff_trace_find(const struct diff_trace *trace, uint32_t id)
{
	return find(trace, id, DIFF_NONE);
}

uint32_t diff_trace_child(struct diff_trace *trace, uint32_t parent, uint32_t id)
{
	uint32_t child = find(trace, id, DIFF_NONE);

	/* The child may already be known, because it ran before its parent's call returned. */
	if (child != DIFF_NONE && !trace->thread[child].ended) {
		if (trace->thread[child].parent != DIFF_NONE || child == parent)
			return child;
	} else {
		if (child != DIFF_NONE)
			base_index_remove(&trace->thread_index, thread_hash(id, DIFF_NONE), child);
		child = add(trace, id, DIFF_NONE);
	}
	if (child != DIFF_NONE && parent != DIFF_NONE) {
		trace->thread[child].parent = parent;
		trace->thread[child].nth = trace->thread[parent].made++;
	}
	return child;
}

void diff_trace_name(struct diff_thread *thread, const char *name, size_t length)
{
	length = length < DIFF_NAME - 1 ? length : DIFF_NAME - 1;
	memset(thread->name, 0, sizeof(thread->name));
	memcpy(thread->name, name, length);
}

/* ---- Adding steps ---- */

struct diff_step *diff_trace_step(struct diff_trace *trace, uint32_t thread, uint32_t kind, uint64_t stamp,
				  uint32_t ring, uint64_t slot)
{
	struct diff_step *step;

	if (kind == DIFF_NONE ||
	    !grow(&trace->step, &trace->step_room, trace->steps, DIFF_STEPS_MAX, sizeof(*step))) {
		trace->full = true;
		return NULL;
	}
	step = &trace->step[trace->steps++];
	*step = (struct diff_step){ .key = trace->kind[kind].hash,
				    .stamp = stamp,
				    .slot = slot,
				    .ring = ring,
				    .thread = thread,
				    .kind = kind,
				    .value = trace->values };
	trace->kind[kind].count++;
	trace->thread[thread].broken = DIFF_NONE;
	trace->thread[thread].signalled = false;
	trace->thread[thread].steps++;
	if (trace->kind[kind].call) {
		trace->thread[thread].calls = true;
		trace->thread[thread].leaves = trace->kind[kind].leaves;
	}
	if (trace->kind[kind].handled)
		diff_end_signal(&trace->thread[thread], 0, 0, false);
	return step;
}

void diff_trace_value(struct diff_trace *trace, enum diff_form form, uint64_t value)
{
	struct diff_step *step = &trace->step[trace->steps - 1];

	if (step->values == DIFF_VALUES)
		return;
	if (!grow(&trace->value, &trace->value_room, trace->values, UINT32_MAX, sizeof(*trace->value))) {
		trace->full = true;
		return;
	}
	step->form[step->values++] = (uint8_t)form;
	trace->value[trace->values++] = value;
}

static void join_signal(struct diff_trace *trace, const struct diff_thread *thread)
{
	if (thread->signalled && thread->broken != DIFF_NONE)
		trace->step[thread->broken].interrupted = true;
}

void diff_trace_signal(struct diff_trace *trace, uint32_t thread)
{
	trace->thread[thread].signalled = true;
	join_signal(trace, &trace->thread[thread]);
}

void diff_trace_broken(struct diff_trace *trace, uint32_t step)
{
	struct diff_thread *thread = &trace->thread[trace->step[step].thread];

	thread->broken = step;
	join_signal(trace, thread);
}

void diff_trace_gap(struct diff_trace *trace, uint64_t from, uint64_t to)
{
	/* With a coarse clock, the events before and after a gap may have the same timestamp. */
	if (from == to) {
		from -= from > 0;
		to += to < UINT64_MAX;
	}
	if (grow(&trace->gap, &trace->gap_room, trace->gaps, DIFF_GAPS_MAX, sizeof(*trace->gap))) {
		trace->gap[trace->gaps++] = (struct diff_gap){ from, to };
		return;
	}
	if (trace->gaps == 0) {
		trace->full = true;
		return;
	}
	/* There is no room for another gap: extend the last gap to include the new gap. */
	if (from < trace->gap[trace->gaps - 1].from)
		trace->gap[trace->gaps - 1].from = from;
	if (to > trace->gap[trace->gaps - 1].to)
		trace->gap[trace->gaps - 1].to = to;
}

bool diff_trace_gap_between(const struct diff_trace *trace, uint64_t from, uint64_t to)
{
	uint32_t low = 0, high = trace->gaps;

	/* After diff_trace_end(), gaps are sorted and do not overlap. */
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (trace->gap[middle].to <= from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < trace->gaps && trace->gap[low].from < to;
}

static int by_stamp(const void *a, const void *b)
{
	const struct diff_gap *first = a, *second = b;

	return first->from < second->from ? -1 : first->from > second->from;
}

static void join_gaps(struct diff_trace *trace)
{
	uint32_t kept = 0;

	if (trace->gaps == 0)
		return;
	qsort(trace->gap, trace->gaps, sizeof(*trace->gap), by_stamp);
	for (uint32_t n = 1; n < trace->gaps; n++) {
		struct diff_gap *last = &trace->gap[kept];

		if (trace->gap[n].from > last->to)
			trace->gap[++kept] = trace->gap[n];
		else if (trace->gap[n].to > last->to)
			last->to = trace->gap[n].to;
	}
	trace->gaps = kept + 1;
}

/* Returns whether a call requests the sender's address. Then the thread may receive from several senders. */
static bool is_from_anyone(const struct diff_trace *trace, const struct diff_step *step)
{
	return step->values > SENDER && step->form[SENDER] == DIFF_FORM_OPAQUE &&
	       trace->value[step->value + SENDER] != 0 &&
	       strcmp(trace->kind[step->kind].name, "recvfrom") == 0;
}

/*
 * Marks the threads that wait for any of several files or senders, and the kinds of step that server threads
 * record.
 */
static void find_servers(struct diff_trace *trace)
{
	for (uint32_t n = 0; n < trace->steps; n++) {
		const struct diff_step *step = &trace->step[n];
		struct diff_thread *thread = &trace->thread[step->thread];
		struct diff_kind *kind = &trace->kind[step->kind];
		/* The second argument of poll() is the number of files. */
		const bool single = step->values > 1 && step->form[1] == DIFF_FORM_NUMBER &&
				    trace->value[step->value + 1] < 2 && strstr(kind->name, "poll") &&
				    !strstr(kind->name, "epoll");

		thread->polls |= (kind->poll && !single) || is_from_anyone(trace, step);
		kind->served |= thread->serves && !thread->calls;
	}
}

int diff_trace_end(struct diff_trace *trace)
{
	uint32_t next = 0;

	if (trace->full)
		diff_trace_gap(trace, trace->end, UINT64_MAX);
	join_gaps(trace);
	trace->order = malloc(((size_t)trace->steps + 1) * sizeof(*trace->order));
	if (!trace->order)
		return KTREAD_E_MEMORY;
	for (uint32_t n = 0; n < trace->threads; n++) {
		trace->thread[n].first = next;
		next += trace->thread[n].steps;
		trace->thread[n].steps = 0;
	}
	for (uint32_t n = 0; n < trace->steps; n++) {
		struct diff_thread *thread = &trace->thread[trace->step[n].thread];

		trace->order[thread->first + thread->steps++] = n;
	}
	find_servers(trace);
	diff_ends_find(trace);
	diff_transfers_join(trace);
	diff_retries_drop(trace);
	return 0;
}
