/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/compare.h"

#include <stdlib.h>
#include <string.h>

/* ---- Comparing two traces ---- */

/* The slots of a ring that are compared: those from `first` up to but not including `end`. */
struct part {
	uint64_t first, end;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Finds the slots of the first and the last event of each ring. Returns 0 or a negative error. */
static int find_parts(struct ktread *trace, struct part *parts, uint32_t rings)
{
	const struct ktread_event *event;
	int more;

	while ((more = ktread_next_by_ring(trace, &event)) > 0) {
		struct part *part = event->ring < rings ? &parts[event->ring] : NULL;

		if (!part)
			continue;
		if (part->end == 0)
			part->first = event->index;
		part->end = event->index + 1;
	}
	return more < 0 ? more : ktread_rewind(trace);
}

static bool has_overwritten(struct ktread *const trace[2], uint32_t ring)
{
	return ktread_ring(trace[0], ring)->overwritten > 0 || ktread_ring(trace[1], ring)->overwritten > 0;
}

/*
 * Reduces the compared part of one trace to the slots that the other trace contains as well. If no slot of a
 * ring was overwritten in either trace, both parts begin at the beginning of the ring. In identical runs, the
 * first event of the ring is then in the same slot.
 */
static void intersect(struct ktread *const trace[2], struct part *parts, const struct part *other,
		      uint32_t rings, bool same_end)
{
	for (uint32_t n = 0; n < rings; n++) {
		parts[n].first = has_overwritten(trace, n) ? larger(parts[n].first, other[n].first)
							   : smaller(parts[n].first, other[n].first);
		parts[n].end =
			same_end ? larger(parts[n].end, other[n].end) : smaller(parts[n].end, other[n].end);
	}
}

/* Finds the next event in the compared part of each trace; NULL at the end. Returns 0 or a negative error. */
static int next_common(struct ktread *trace, const struct part *parts, uint32_t rings,
		       const struct ktread_event **event)
{
	int more;

	while ((more = ktread_next(trace, event)) > 0)
		if ((*event)->ring < rings && (*event)->index >= parts[(*event)->ring].first &&
		    (*event)->index < parts[(*event)->ring].end)
			return 0;
	*event = NULL;
	return more;
}

static bool is_same_type(const struct ktread_type *a, const struct ktread_type *b)
{
	return a->id == b->id && strcmp(a->group, b->group) == 0 && strcmp(a->name, b->name) == 0;
}

/* Compares the addresses of the code that recorded an event. */
static bool is_same_place(const struct ktread_event *a, const struct ktread_event *b)
{
	return a->site == b->site && a->callers == b->callers &&
	       memcmp(a->caller, b->caller, a->callers * sizeof(a->caller[0])) == 0;
}

static bool is_same(const struct ktread_event *a, const struct ktread_event *b)
{
	return a->stamp == b->stamp && a->index == b->index && a->ring == b->ring && a->cpu == b->cpu &&
	       a->thread == b->thread && a->context == b->context && a->payload_size == b->payload_size &&
	       is_same_type(a->type, b->type) && is_same_place(a, b) &&
	       memcmp(a->payload, b->payload, a->payload_size) == 0;
}

/* Compares the events one by one. */
static int compare_parts(struct ktread *const trace[2], const struct part *parts, uint32_t rings,
			 struct compare *compare, int *which)
{
	while (!compare->differs) {
		for (*which = 0; *which < 2; ++*which) {
			int error = next_common(trace[*which], parts, rings, &compare->first[*which]);

			if (error)
				return error;
		}
		if (!compare->first[0] && !compare->first[1])
			break;
		compare->differs = !compare->first[0] || !compare->first[1] ||
				   !is_same(compare->first[0], compare->first[1]);
		compare->same += !compare->differs;
	}
	return 0;
}

int compare_traces(struct ktread *const trace[2], bool same_end, struct compare *compare, int *which)
{
	const uint32_t has[2] = { ktread_info(trace[0])->rings, ktread_info(trace[1])->rings };
	const uint32_t rings = has[0] < has[1] ? has[0] : has[1];
	struct part *parts[2] = { calloc(rings + 1, sizeof(**parts)), calloc(rings + 1, sizeof(**parts)) };
	int error = parts[0] && parts[1] ? 0 : KTREAD_E_MEMORY;

	*compare = (struct compare){ .differs = same_end && has[0] != has[1] };
	*which = 0;
	if (!error)
		error = find_parts(trace[0], parts[0], rings);
	if (!error) {
		*which = 1;
		error = find_parts(trace[1], parts[1], rings);
	}
	if (!error && !compare->differs) {
		intersect(trace, parts[0], parts[1], rings, same_end);
		error = compare_parts(trace, parts[0], rings, compare, which);
	}
	free(parts[0]);
	free(parts[1]);
	return error;
}

/* ---- Finding the events around a time window ---- */

void around_find(struct around *around, struct ktread *trace, double from, double to)
{
	const double frequency = (double)ktread_info(trace)->frequency;
	const struct ktread_event *event;

	*around = (struct around){ 0 };
	while (!around->after.known && ktread_next(trace, &event) > 0) {
		const double at = (double)event->stamp / frequency;
		const struct around_event found = { true, event->ring, event->index };

		if (at <= from)
			around->before = found;
		else if (at >= to)
			around->after = found;
	}
}
