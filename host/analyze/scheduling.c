/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/scheduling.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/threads.h"
#include "base/grow.h"
#include "base/index.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* ---- When events were switched off ---- */

/*
 * Finds when events were not recorded because they were switched off: from the library's own records
 * (`ktrace.switched`, `ktrace.stopped`), and from the event table, which has the final states. If the trace
 * does not show when recording of an event stopped, assumes that it stopped directly after the event's last
 * record. So no conclusion is drawn from a missing record.
 *
 * An event also counts as off while its repetitions were counted instead of recorded (KTRX_EVENT_FOLD).
 * Between the first and the last repetition, a record of the event may be missing. `ktrace.repeat` and the
 * table of repetitions have these times. If slots are missing that may have contained `ktrace.repeat`,
 * assumes that any record of an event that folds is missing before them.
 */

/*
 * maximum number of periods in which an event was off that are stored, for all events together; an event for
 * which there is no room counts as always off
 */
#define SWITCHED_MAX 65536u

/* A period in which an event was off: after the timestamp `from`, and before the timestamp `to`. */
struct time {
	uint64_t from, to;
	uint64_t latest; /* maximum of `to` over this period and the event's periods before it in the array */
	uint32_t id;
};

struct switched {
	struct ktread *trace;
	/* periods in which events were off; switched_end() sorts them by event id, and then by `from` */
	struct time *time;
	uint32_t count, room;
	/* indexed by event id: timestamp of the event's newest record; 0 if it has no record */
	uint64_t last[KTRX_EVENT_MAX + 1];
	/* indexed by event id: timestamp since which the event is off; 0 if it is not known to be off */
	uint64_t off[KTRX_EVENT_MAX + 1];
	/* indexed by event id: index in `time` of the event's first element */
	uint32_t begin[KTRX_EVENT_MAX + 2];
	uint8_t some[SWITCHED_MAP]; /* bit map of the events that have an element in `time` */
	uint8_t always[SWITCHED_MAP];
	/* the events of `some` and `always`, in ascending order; switched_end() makes this array */
	uint16_t any[KTRX_EVENT_MAX + 1];
	uint32_t anys;
	uint8_t folded[SWITCHED_MAP]; /* bit map of the events of which repetitions were counted */
	uint32_t repeat;	      /* id of ktrace.repeat; UINT32_MAX: the trace has none */
	bool *begun;		      /* indexed by ring: true after the ring's first event */
	/* timestamp of the newest event before which slots of its ring are missing; 0: there is none */
	uint64_t lost;
};

/* Returns 0 or KTREAD_E_MEMORY. The caller frees `*switched` in either case. */
static int switched_open(struct switched **switched, struct ktread *trace)
{
	const struct ktread_type *repeat = ktread_type_find(trace, "ktrace", "repeat");
	struct switched *s = calloc(1, sizeof(*s));

	*switched = s;
	if (!s)
		return KTREAD_E_MEMORY;
	s->trace = trace;
	s->repeat = repeat ? repeat->id : UINT32_MAX;
	s->begun = calloc((size_t)ktread_info(trace)->rings + 1, sizeof(*s->begun));
	return s->begun ? 0 : KTREAD_E_MEMORY;
}

static void switched_close(struct switched *s)
{
	if (!s)
		return;
	free(s->begun);
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
	s->time[s->count++] = (struct time){ .from = from, .to = to, .id = id };
	mark(s->some, id);
	return 0;
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
 * Records that repetitions of an event were counted instead of recorded. `first`, `last`: their timestamps.
 */
static int take_fold(struct switched *s, uint64_t id, uint64_t first, uint64_t last)
{
	if (id > KTRX_EVENT_MAX)
		return 0;
	mark(s->folded, (uint32_t)id);
	return add(s, (uint32_t)id, first ? first - 1 : 0, last < UINT64_MAX ? last + 1 : last);
}

static int take_repeat(struct switched *s, const struct ktread_event *event)
{
	struct ktread_value id, first, last;

	if (ktread_value_named(event, "event", &id) < 0 || ktread_value_named(event, "first", &first) < 0 ||
	    ktread_value_named(event, "last", &last) < 0)
		return 0;
	return take_fold(s, id.number, ktread_clock_correct(s->trace, event->cpu, first.number),
			 ktread_clock_correct(s->trace, event->cpu, last.number));
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
	if (event->lost > 0 && s->begun[event->ring] && event->stamp > s->lost)
		s->lost = event->stamp;
	s->begun[event->ring] = true;
	if (id == s->repeat)
		return take_repeat(s, event);
	return switched_change_of(event, &change)
		       ? take(s, &change, switched_change_stamp(&change, s->trace, event))
		       : 0;
}

static int by_id(const void *a, const void *b)
{
	const struct time *left = a, *right = b;

	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return left->from < right->from ? -1 : left->from > right->from;
}

/*
 * Returns whether records after the last event of a ring are missing. Records that the boot ring refused,
 * which has no CPU, do not count, because CPUs leave it when they have rings of their own.
 */
static bool lacks_repeats(const struct ktread *trace)
{
	for (uint32_t n = 0; n < ktread_info(trace)->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		if (ring->cut > 0 || (ring->dropped > 0 && (n > 0 || ring->cpu != KTRX_NO_CPU)))
			return true;
	}
	return false;
}

/*
 * Adds the repetitions that the kernel was still counting, and, for each event that folds, the time for which
 * `ktrace.repeat` may be missing.
 */
static int take_folds(struct switched *s)
{
	struct ktread_fold fold;
	uint64_t to;
	uint32_t row = 0;
	int status, error = 0;

	while (!error && (status = ktread_fold(s->trace, &row, &fold)) > 0)
		error = take_fold(s, fold.event.id, fold.first, fold.last);
	if (error || (s->lost == 0 && !lacks_repeats(s->trace)))
		return error;
	to = lacks_repeats(s->trace) ? UINT64_MAX : s->lost;
	for (uint32_t id = 1; id <= KTRX_EVENT_MAX && !error; id++) {
		const struct ktread_type *type = ktread_type(s->trace, id);

		if (!(type && type->flags & KTRX_EVENT_FOLD) && !(s->folded[id / 8] >> id % 8 & 1))
			continue;
		mark(s->folded, id);
		error = add(s, id, 0, to);
	}
	return error;
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

	if (!error)
		error = take_folds(s);
	if (s->count)
		qsort(s->time, s->count, sizeof(*s->time), by_id);
	for (uint32_t i = 0; i < s->count; i++) {
		struct time *time = &s->time[i];

		time->latest = time->to;
		if (i > 0 && time[-1].id == time->id && time[-1].latest > time->to)
			time->latest = time[-1].latest;
	}
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX + 1; id++) {
		while (n < s->count && s->time[n].id < id)
			n++;
		s->begin[id] = n;
		if (id <= KTRX_EVENT_MAX && (s->some[id / 8] | s->always[id / 8]) >> id % 8 & 1)
			s->any[s->anys++] = (uint16_t)id;
	}
	return error;
}

static bool was_off(const struct switched *s, uint32_t id, uint64_t from, uint64_t to)
{
	const struct time *time = s->time + s->begin[id];
	const uint32_t count = s->begin[id + 1] - s->begin[id];
	/* all periods before the first one whose `latest` is after `from` end at or before `from` */
	const size_t n = base_count_up_to(time, count, sizeof(*time), offsetof(struct time, latest), from);

	return n < count && time[n].from < to;
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
	/* this function is called for each span, and in most traces, few events were switched on or off */
	for (uint32_t n = 0; n < s->anys; n++) {
		const uint32_t id = s->any[n];

		if (events[id / 8] >> id % 8 & 1 && switched_event_off(s, id, from, to))
			return id;
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
	struct mixture mixture;
	bool mixed;		   /* true if `mixture` shows that thread 0 stands for several threads */
	struct known_event *event; /* array of the events with a known meaning */
	struct wellknown *as;	   /* meaning of each entry of `event`, with the positions of its fields */
	uint32_t events;
	/* indexed by event id: index in `event` + 1; 0: the event has no known meaning */
	uint16_t place[KTRX_EVENT_MAX + 1];
	bool changes; /* true if some event was switched on or off */
	bool has_state, states;
	bool deads; /* true if some switch records that its thread is dead */
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

int scheduling_open(struct scheduling **result, struct ktread *trace)
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
	if (s)
		s->mixture.call_cpu = KTRX_NO_CPU;
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

bool scheduling_mixes_threads(const struct scheduling *s)
{
	return s->mixed;
}

/* Forgets calls whose ends may be missing before an event, in lost slots or because events were off. */
static void forget_calls(struct scheduling *s, const struct ktread_event *event, bool change)
{
	if (change)
		mixture_forget(&s->mixture, KTRX_NO_CPU);
	else if (event->lost > 0 || !s->switched->begun[event->ring])
		mixture_forget(&s->mixture, ktread_ring(s->switched->trace, event->ring)->cpu == KTRX_NO_CPU
						    ? KTRX_NO_CPU
						    : event->cpu);
}

int scheduling_event(struct scheduling *s, const struct ktread_event *event)
{
	const uint32_t place = event->id <= KTRX_EVENT_MAX ? s->place[event->id] : 0;
	struct switched_change change;
	const bool changes = !place && switched_change_of(event, &change);
	uint64_t state;

	if (place && s->event[place - 1].kind == WELLKNOWN_SWITCH &&
	    wellknown_number(&s->as[place - 1], event, WELLKNOWN_STATE, &state)) {
		s->has_state = true;
		s->states |= state != WELLKNOWN_STATE_RUNNABLE;
		s->deads |= state == WELLKNOWN_STATE_DEAD;
		count_state(s, &s->as[place - 1], event, state);
	}
	forget_calls(s, event, changes);
	mixture_event(&s->mixture, event, place ? &s->as[place - 1] : NULL);
	s->changes |= changes;
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
	s->mixed = mixture_is_found(&s->mixture, s);
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

bool scheduling_has_deads(const struct scheduling *s)
{
	return s->deads;
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

bool scheduling_is_idle(const struct scheduling *s, uint32_t thread)
{
	return threads_is_idle(s->switched->trace, thread);
}

bool scheduling_folded(const struct scheduling *s, uint32_t id)
{
	return id <= KTRX_EVENT_MAX && s->switched->folded[id / 8] >> id % 8 & 1;
}

void scheduling_mark(const struct ktread *trace, struct wellknown_table *table, uint8_t *map)
{
	static const enum wellknown_kind kinds[] = { WELLKNOWN_SWITCH, WELLKNOWN_WAKE, WELLKNOWN_WAKE_QUEUE,
						     WELLKNOWN_EXIT };

	for (size_t n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++)
		wellknown_mark(trace, table, kinds[n], map);
}
