/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/switched.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ktrx/v2.h"

/* An event was off from one stamp to the other, both left out. */
struct time {
	uint64_t from, to;
	uint32_t id;
};

struct switched {
	const struct ktread *trace;
	struct time *time; /* in order of ids, once all are there */
	uint32_t count, room;
	uint64_t last[KTRX_EVENT_MAX + 1];  /* stamp of the newest record, 0: none */
	uint64_t off[KTRX_EVENT_MAX + 1];   /* since when it is off, 0: it is not known to be */
	uint32_t begin[KTRX_EVENT_MAX + 2]; /* index of an event's first time */
	uint8_t some[SWITCHED_MAP];	    /* events that have any */
	uint8_t always[SWITCHED_MAP];
};

int switched_open(struct switched **switched, const struct ktread *trace)
{
	*switched = calloc(1, sizeof(**switched));
	if (!*switched)
		return KTREAD_E_MEMORY;
	(*switched)->trace = trace;
	return 0;
}

void switched_close(struct switched *s)
{
	if (!s)
		return;
	free(s->time);
	free(s);
}

static void mark(uint8_t *map, uint32_t id)
{
	map[id / 8] |= (uint8_t)(1u << id % 8);
}

static int add(struct switched *s, uint32_t id, uint64_t from, uint64_t to)
{
	struct time *larger;

	if (s->count == SWITCHED_MAX) {
		mark(s->always, id);
		return 0;
	}
	larger = base_grow(s->time, &s->room, (size_t)s->count + 1, sizeof(*larger));
	if (!larger)
		return KTREAD_E_MEMORY;
	s->time = larger;
	s->time[s->count++] = (struct time){ from, to, id };
	mark(s->some, id);
	return 0;
}

bool switched_change_of(const struct ktread_event *event, struct switched_change *change)
{
	struct ktread_value first, last, state;

	if (strcmp(event->type->name, "switched") != 0 || strcmp(event->type->group, "ktrace") != 0 ||
	    ktread_value_named(event, "first", &first) < 0 || ktread_value_named(event, "last", &last) < 0 ||
	    ktread_value_named(event, "state", &state) < 0)
		return false;
	change->first = first.number <= KTRX_EVENT_MAX ? (uint32_t)first.number : KTRX_EVENT_MAX;
	change->last = last.number <= KTRX_EVENT_MAX ? (uint32_t)last.number : KTRX_EVENT_MAX;
	change->records = (state.number & KTRX_STATE_RECORD) != 0;
	return true;
}

/* Of an event that is already off another word of that changes nothing. */
static int take(struct switched *s, const struct switched_change *change, uint64_t stamp)
{
	int error = 0;

	for (uint32_t id = change->first; id <= change->last && !error; id++) {
		if (change->records) {
			error = add(s, id, s->off[id] ? s->off[id] : s->last[id], stamp);
			s->off[id] = 0;
		} else if (!s->off[id]) {
			s->off[id] = stamp;
		}
	}
	return error;
}

int switched_event(struct switched *s, const struct ktread_event *event)
{
	struct switched_change change;
	const uint32_t id = event->id;

	if (id <= KTRX_EVENT_MAX && event->stamp > s->last[id])
		s->last[id] = event->stamp;
	return switched_change_of(event, &change) ? take(s, &change, event->stamp) : 0;
}

static int by_id(const void *a, const void *b)
{
	const struct time *left = a, *right = b;

	return left->id < right->id ? -1 : left->id > right->id;
}

/* What was off when the trace was taken. A stop of all is no reason: the trace ends there. */
static int take_rest(struct switched *s)
{
	int error = 0;

	for (uint32_t id = 1; id <= KTRX_EVENT_MAX && !error; id++) {
		const struct ktread_type *type = ktread_type(s->trace, id);

		if (s->off[id])
			error = add(s, id, s->off[id], UINT64_MAX);
		else if (type && !((type->wanted | type->state) & KTRX_STATE_RECORD) && s->last[id])
			error = add(s, id, s->last[id], UINT64_MAX);
	}
	return error;
}

int switched_end(struct switched *s)
{
	int error = take_rest(s);
	uint32_t n = 0;

	if (s->count)
		qsort(s->time, s->count, sizeof(*s->time), by_id);
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX + 1; id++) {
		while (n < s->count && s->time[n].id < id)
			n++;
		s->begin[id] = n;
	}
	return error;
}

static bool was_off(const struct switched *s, uint32_t id, uint64_t from, uint64_t to)
{
	for (uint32_t n = s->begin[id]; n < s->begin[id + 1]; n++)
		if (s->time[n].from < to && s->time[n].to > from)
			return true;
	return false;
}

bool switched_event_off(const struct switched *s, uint32_t id, uint64_t from, uint64_t to)
{
	const uint8_t bit = (uint8_t)(1u << id % 8);

	if (s->always[id / 8] & bit)
		return true;
	return s->some[id / 8] & bit && was_off(s, id, from, to);
}

/*
 * An event that was switched off or on has a time; one that has no record is in the state in which it always
 * was.
 */
bool switched_was_on(const struct switched *s, uint32_t id)
{
	const struct ktread_type *type = ktread_type(s->trace, id);

	if (!type)
		return false;
	return s->last[id] || s->some[id / 8] >> id % 8 & 1 ||
	       (type->wanted | type->state) & KTRX_STATE_RECORD;
}

bool switched_between(const struct switched *s, const uint8_t *events, uint64_t from, uint64_t to)
{
	for (uint32_t byte = 0; byte < SWITCHED_MAP; byte++) {
		const uint8_t some = events[byte] & (s->some[byte] | s->always[byte]);

		for (uint32_t bit = 0; some >> bit; bit++)
			if (some >> bit & 1 &&
			    (s->always[byte] >> bit & 1 || was_off(s, byte * 8 + bit, from, to)))
				return true;
	}
	return false;
}
