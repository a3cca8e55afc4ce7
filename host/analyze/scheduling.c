/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/scheduling.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/switched.h"
#include "ktrx/slot.h"

struct known_event {
	uint16_t id;
	uint8_t kind; /* enum wellknown_kind */
};

struct scheduling {
	struct switched *switched;
	struct known_event *event; /* those whose kind has a meaning */
	struct wellknown *as;	   /* … and where their fields are, beside it */
	uint32_t events;
	uint16_t place[KTRX_EVENT_MAX + 1]; /* in `event` + 1 by id; 0: its kind has no meaning */
	bool changes;			    /* some event was switched on or off */
	bool has_state, states;
	bool recorded[WELLKNOWN_COUNTER + 1];	/* by kind, at some time */
	bool throughout[WELLKNOWN_COUNTER + 1]; /* by kind, all the time */
};

static void add_event(struct scheduling *s, uint32_t id, const struct wellknown *as)
{
	s->event[s->events] = (struct known_event){ (uint16_t)id, as->kind };
	s->as[s->events++] = *as;
	s->place[id] = (uint16_t)s->events;
}

int scheduling_open(struct scheduling **result, const struct ktread *trace)
{
	struct wellknown_table *known = calloc(1, sizeof(*known));
	struct scheduling *s = calloc(1, sizeof(*s));
	uint32_t count = 0;

	*result = s;
	for (uint32_t id = 0; known && id <= KTRX_EVENT_MAX; id++)
		if (ktread_type(trace, id))
			count += wellknown_bind(known, ktread_type(trace, id))->kind != WELLKNOWN_OTHER;
	if (s) {
		s->event = calloc(count + 1u, sizeof(*s->event));
		s->as = calloc(count + 1u, sizeof(*s->as));
	}
	if (!known || !s || !s->event || !s->as) {
		free(known);
		return KTREAD_E_MEMORY;
	}
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++)
		if (ktread_type(trace, id) && known->row[id].kind != WELLKNOWN_OTHER)
			add_event(s, id, &known->row[id]);
	free(known);
	return switched_open(&s->switched, trace);
}

void scheduling_free(struct scheduling *s)
{
	if (!s)
		return;
	switched_close(s->switched);
	free(s->event);
	free(s->as);
	free(s);
}

int scheduling_event(struct scheduling *s, const struct ktread_event *event)
{
	const uint32_t place = event->id <= KTRX_EVENT_MAX ? s->place[event->id] : 0;
	struct switched_change change;
	uint64_t state;

	if (place && s->event[place - 1].kind == WELLKNOWN_SWITCH &&
	    wellknown_number(&s->as[place - 1], event, WELLKNOWN_STATE, &state)) {
		s->has_state = true;
		s->states |= state != WELLKNOWN_STATE_RUNNABLE;
	}
	s->changes |= !place && switched_change_of(event, &change);
	return switched_event(s->switched, event);
}

int scheduling_end(struct scheduling *s)
{
	int error = switched_end(s->switched);

	for (uint32_t n = 0; n < s->events; n++)
		s->recorded[s->event[n].kind] |= switched_was_on(s->switched, s->event[n].id);
	memcpy(s->throughout, s->recorded, sizeof(s->throughout));
	for (uint32_t n = 0; n < s->events; n++)
		s->throughout[s->event[n].kind] &=
			!switched_event_off(s->switched, s->event[n].id, 0, UINT64_MAX);
	return error;
}

bool scheduling_needs_order(const struct scheduling *s)
{
	return s->changes;
}

static int read_unfiltered(struct scheduling *s, struct ktread *trace)
{
	const struct ktread_event *event;
	int status, error = 0;

	/* Nothing to learn: no states, and no records of events that are switched on or off. */
	if (ktread_info(trace)->records_only)
		return scheduling_end(s);
	status = ktread_rewind(trace);
	while (!error && status >= 0 && (status = ktread_next(trace, &event)) > 0)
		error = scheduling_event(s, event);
	if (!error)
		error = scheduling_end(s);
	return error ? error : status;
}

int scheduling_read(struct scheduling **result, struct ktread *trace)
{
	int again, error = scheduling_open(result, trace);

	if (error)
		return error;
	ktread_apply_filter(trace, 0);
	error = read_unfiltered(*result, trace);
	ktread_apply_filter(trace, 1);
	again = ktread_rewind(trace);
	return error ? error : again;
}

bool scheduling_states(const struct scheduling *s)
{
	return s->states;
}

bool scheduling_states_are_empty(const struct scheduling *s, bool *announced)
{
	*announced = s->recorded[WELLKNOWN_BLOCK];
	return s->has_state && !s->states;
}

bool scheduling_recorded(const struct scheduling *s, enum wellknown_kind kind)
{
	return s->recorded[kind];
}

bool scheduling_covers(const struct scheduling *s, enum wellknown_kind kind, uint64_t from, uint64_t to)
{
	if (!s->recorded[kind] || s->throughout[kind])
		return s->recorded[kind];
	for (uint32_t n = 0; n < s->events; n++)
		if (s->event[n].kind == kind && switched_event_off(s->switched, s->event[n].id, from, to))
			return false;
	return true;
}

bool scheduling_off(const struct scheduling *s, enum wellknown_kind kind, uint64_t from, uint64_t to)
{
	bool declared = false;

	for (uint32_t n = 0; n < s->events && !declared; n++)
		declared = s->event[n].kind == kind;
	return declared && !scheduling_covers(s, kind, from, to);
}

bool scheduling_switched(const struct scheduling *s, const uint8_t *events, uint64_t from, uint64_t to)
{
	return switched_between(s->switched, events, from, to);
}
