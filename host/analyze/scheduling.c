/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/scheduling.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* ---- When events were switched off ---- */

/*
 * Finds when events were not recorded because they were switched off: from the library's own records
 * (`ktrace.switched`, `ktrace.stopped`), and from the event table, which has the final states. If the trace
 * does not show when recording of an event stopped, assumes that it stopped directly after the event's last
 * record. So no conclusion is drawn from a missing record.
 */

/*
 * maximum number of periods in which an event was off that are stored, for all events together; an event for
 * which there is no room counts as always off
 */
#define SWITCHED_MAX 65536u

/* A period in which an event was off: after the timestamp `from`, and before the timestamp `to`. */
struct time {
	uint64_t from, to;
	uint32_t id;
};

struct switched {
	const struct ktread *trace;
	struct time *time; /* periods in which events were off; switched_end() sorts them by event id */
	uint32_t count, room;
	/* indexed by event id: timestamp of the event's newest record; 0 if it has no record */
	uint64_t last[KTRX_EVENT_MAX + 1];
	/* indexed by event id: timestamp since which the event is off; 0 if it is not known to be off */
	uint64_t off[KTRX_EVENT_MAX + 1];
	/* indexed by event id: index in `time` of the event's first element */
	uint32_t begin[KTRX_EVENT_MAX + 2];
	uint8_t some[SWITCHED_MAP]; /* bit map of the events that have an element in `time` */
	uint8_t always[SWITCHED_MAP];
};

/* Returns 0 or KTREAD_E_MEMORY. The caller frees `*switched` in either case. */
static int switched_open(struct switched **switched, const struct ktread *trace)
{
	*switched = calloc(1, sizeof(**switched));
	if (!*switched)
		return KTREAD_E_MEMORY;
	(*switched)->trace = trace;
	return 0;
}

static void switched_close(struct switched *s)
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

/* Reads what an event of the group `ktrace` states about the events in its range. */
static bool read_kind(const struct ktread_event *event, struct switched_change *change)
{
	struct ktread_value state, until, cpu;

	*change = (struct switched_change){ 0 };
	if (strcmp(event->type->name, "switched") == 0 && ktread_value_named(event, "state", &state) >= 0) {
		change->records = (state.number & KTRX_STATE_RECORD) != 0;
		return true;
	}
	if (strcmp(event->type->name, "stopped") != 0 || ktread_value_named(event, "until", &until) < 0 ||
	    ktread_value_named(event, "cpu", &cpu) < 0)
		return false;
	change->stopped = true;
	change->until = until.number;
	change->cpu = (uint32_t)cpu.number;
	return true;
}

bool switched_change_read(const struct ktread_event *event, struct switched_change *change)
{
	struct ktread_value first, last;

	if (strcmp(event->type->group, "ktrace") != 0 || !read_kind(event, change) ||
	    ktread_value_named(event, "first", &first) < 0 || ktread_value_named(event, "last", &last) < 0)
		return false;
	change->first = first.number <= KTRX_EVENT_MAX ? (uint32_t)first.number : KTRX_EVENT_MAX;
	change->last = last.number <= KTRX_EVENT_MAX ? (uint32_t)last.number : KTRX_EVENT_MAX;
	return true;
}

uint64_t switched_change_stamp(const struct switched_change *change, const struct ktread *trace,
			       const struct ktread_event *event)
{
	uint64_t stamp;

	if (!change->stopped)
		return event->stamp;
	stamp = ktread_clock_correct(trace, change->cpu, change->until);
	return stamp < event->stamp ? stamp : event->stamp;
}

/*
 * Records that events were switched on or off. If an event is already off, switching it off again changes
 * nothing.
 */
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

/*
 * Processes an event of the trace. Call it for each event, in the order of the trace. Returns 0 or
 * KTREAD_E_MEMORY.
 */
static int switched_event(struct switched *s, const struct ktread_event *event)
{
	struct switched_change change;
	const uint32_t id = event->id;

	if (id <= KTRX_EVENT_MAX && event->stamp > s->last[id])
		s->last[id] = event->stamp;
	return switched_change_of(event, &change)
		       ? take(s, &change, switched_change_stamp(&change, s->trace, event))
		       : 0;
}

static int by_id(const void *a, const void *b)
{
	const struct time *left = a, *right = b;

	return left->id < right->id ? -1 : left->id > right->id;
}

/*
 * For each event that was off when the trace was captured, adds the last period in which it was off. A stop
 * of all recording does not count, because the trace ends there.
 */
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

/* Call this after the last event. Returns 0 or KTREAD_E_MEMORY. */
static int switched_end(struct switched *s)
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

/* Returns whether one event was off at some time between the two timestamps. */
static bool switched_event_off(const struct switched *s, uint32_t id, uint64_t from, uint64_t to)
{
	const uint8_t bit = (uint8_t)(1u << id % 8);

	if (s->always[id / 8] & bit)
		return true;
	return s->some[id / 8] & bit && was_off(s, id, from, to);
}

/*
 * Returns whether recording of this event was on at some time that the trace covers, even if it never
 * occurred. The final state of the event in the event table does not show this: recording may have been
 * stopped as a whole, or the event may have been switched off later.
 *
 * An event without an element in `time` was never switched on or off, so it was in its final state all the
 * time.
 */
static bool switched_was_on(const struct switched *s, uint32_t id)
{
	const struct ktread_type *type = ktread_type(s->trace, id);

	if (!type)
		return false;
	return s->last[id] || s->some[id / 8] >> id % 8 & 1 ||
	       (type->wanted | type->state) & KTRX_STATE_RECORD;
}

/*
 * Returns the id of an event of the bit map that was off at some time between the two timestamps; 0 if there
 * is none.
 */
static uint32_t switched_between(const struct switched *s, const uint8_t *events, uint64_t from, uint64_t to)
{
	/*
	 * fast path: most traces have no event that was switched on or off, and this function is called for
	 * each span
	 */
	if (s->count == 0)
		return 0;
	for (uint32_t byte = 0; byte < SWITCHED_MAP; byte++) {
		const uint8_t some = events[byte] & (s->some[byte] | s->always[byte]);

		for (uint32_t bit = 0; some >> bit; bit++)
			if (some >> bit & 1 &&
			    (s->always[byte] >> bit & 1 || was_off(s, byte * 8 + bit, from, to)))
				return byte * 8 + bit;
	}
	return 0;
}

/* ---- Events about threads ---- */

/*
 * The states of sched.switch are doubtful if more than 1/LAST_PART of all switches leave a thread stopped,
 * dead, or in a state that ktrace does not define.
 */
#define LAST_PART 8u

struct known_event {
	uint16_t id;
	uint8_t kind; /* enum wellknown_kind */
};

struct scheduling {
	struct switched *switched;
	struct known_event *event; /* array of the events with a known meaning */
	struct wellknown *as;	   /* meaning of each entry of `event`, with the positions of its fields */
	uint32_t events;
	/* indexed by event id: index in `event` + 1; 0: the event has no known meaning */
	uint16_t place[KTRX_EVENT_MAX + 1];
	bool changes; /* true if some event was switched on or off */
	bool has_state, states;
	bool wrong; /* true if the states of sched.switch are wrong */
	/*
	 * numbers of switches away from threads other than thread 0: `runnable` with state 0, `last` with a
	 * state after which a thread seldom runs again
	 */
	uint64_t switches, runnable, last;
	/* indexed by kind of event: true if recording was on at some time */
	bool recorded[WELLKNOWN_COUNTER + 1];
	/* indexed by kind of event: true if recording was on all the time */
	bool throughout[WELLKNOWN_COUNTER + 1];
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

static void count_state(struct scheduling *s, const struct wellknown *as, const struct ktread_event *event,
			uint64_t state)
{
	uint32_t prev;

	if (!wellknown_thread(as, event, WELLKNOWN_PREV, &prev) || prev == 0)
		return;
	s->switches++;
	s->runnable += state == WELLKNOWN_STATE_RUNNABLE;
	s->last += state >= WELLKNOWN_STATE_STOPPED;
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
		count_state(s, &s->as[place - 1], event, state);
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

	/* A trace of records_only has no states, and no records of events that are switched on or off. */
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

bool scheduling_states_are_doubtful(const struct scheduling *s)
{
	return s->states && s->switches && (s->runnable == 0 || s->last > s->switches / LAST_PART);
}

int scheduling_judge(struct scheduling *s, struct ktread *trace)
{
	struct wellknown_table *known = calloc(1, sizeof(*known));
	struct switch_states *states;
	const struct ktread_event *event;
	int status = known ? switch_states_open(&states, trace) : KTREAD_E_MEMORY, again;

	if (status < 0) {
		free(known);
		return status;
	}
	ktread_apply_filter(trace, 0);
	status = ktread_rewind(trace);
	while (status >= 0 && (status = ktread_next(trace, &event)) > 0)
		switch_states_event(states, event, wellknown_of(known, event));
	s->wrong = status == 0 && switch_states_are_wrong(states);
	ktread_apply_filter(trace, 1);
	again = ktread_rewind(trace);
	switch_states_free(states);
	free(known);
	return status < 0 ? status : again;
}

bool scheduling_states_are_wrong(const struct scheduling *s)
{
	return s->wrong;
}

bool scheduling_states(const struct scheduling *s)
{
	return s->states && !s->wrong;
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

uint32_t scheduling_switched(const struct scheduling *s, const uint8_t *events, uint64_t from, uint64_t to)
{
	return switched_between(s->switched, events, from, to);
}

void scheduling_mark(const struct ktread *trace, struct wellknown_table *table, uint8_t *map)
{
	static const enum wellknown_kind kinds[] = { WELLKNOWN_SWITCH, WELLKNOWN_WAKE, WELLKNOWN_WAKE_QUEUE,
						     WELLKNOWN_EXIT };

	for (size_t n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++)
		wellknown_mark(trace, table, kinds[n], map);
}

/* ---- Whether the events of spans are recorded ---- */

enum recorded_family recorded_family_of(enum wellknown_kind kind)
{
	switch (kind) {
	case WELLKNOWN_SYSCALL_ENTER:
	case WELLKNOWN_SYSCALL_EXIT:
		return RECORDED_CALLS;
	case WELLKNOWN_IRQ_ENTER:
	case WELLKNOWN_IRQ_EXIT:
		return RECORDED_INTERRUPTS;
	case WELLKNOWN_FAULT_ENTER:
	case WELLKNOWN_FAULT_EXIT:
		return RECORDED_FAULTS;
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
	case WELLKNOWN_LOCK_RELEASE:
		return RECORDED_LOCKS;
	default:
		return RECORDED_FAMILIES;
	}
}

int recorded_create(struct recorded **recorded, const struct ktread *trace)
{
	const struct ktread_type *change = ktread_type_find(trace, "ktrace", "switched");
	const struct ktread_type *stop = ktread_type_find(trace, "ktrace", "stopped");
	struct wellknown_table *table;
	struct recorded *r;

	*recorded = NULL;
	if (!change)
		return 0;
	table = calloc(1, sizeof(*table));
	r = calloc(1, sizeof(*r));
	if (!table || !r) {
		free(table);
		free(r);
		return KTREAD_E_MEMORY;
	}
	r->change = change->id;
	r->stop = stop ? stop->id : UINT32_MAX;
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = id ? ktread_type(trace, id) : NULL;

		r->family[id] = (uint8_t)(type ? recorded_family_of(wellknown_bind(table, type)->kind)
					       : RECORDED_FAMILIES);
	}
	free(table);
	*recorded = r;
	return 0;
}

static void set_off(struct recorded *r, uint32_t id, bool off)
{
	if (r->family[id] == RECORDED_FAMILIES || r->off[id] == off)
		return;
	r->off[id] = off;
	r->events_off[r->family[id]] += off ? 1 : UINT32_MAX;
	r->of_spans_off += off ? 1 : UINT32_MAX;
}

unsigned recorded_event(struct recorded *r, const struct ktread_event *event, uint32_t gaps, bool *late)
{
	struct switched_change change;
	unsigned families = 0;

	if (!recorded_is_due(r, event))
		return 0;
	/*
	 * An event that counts as off may still have a record. If there was a gap before the record, the
	 * event was switched on in the gap. Otherwise the CPU began to write the record before the event was
	 * switched off, and finished it later.
	 */
	if (r->of_spans_off && event->id <= KTRX_EVENT_MAX && r->off[event->id] && gaps != r->gaps)
		set_off(r, event->id, false);
	if ((event->id != r->change && event->id != r->stop) || !switched_change_of(event, &change))
		return 0;
	r->gaps = gaps;
	*late = change.records || change.stopped;
	for (uint32_t id = change.first; id <= change.last; id++) {
		if (r->family[id] != RECORDED_FAMILIES)
			families |= 1u << r->family[id];
		set_off(r, id, !change.records);
	}
	return families;
}
