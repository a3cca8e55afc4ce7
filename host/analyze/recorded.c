/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads what ktrace.switched and ktrace.stopped state, and tracks whether the events of spans are recorded,
 * while a trace is read.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/scheduling.h"
#include "ktrx/v2.h"

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

const struct scheduling *recorded_folding(const struct scheduling *scheduling)
{
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++)
		if (scheduling_folded(scheduling, id))
			return scheduling;
	return NULL;
}

bool recorded_was_off(const struct scheduling *scheduling, enum wellknown_kind kind, uint64_t from,
		      uint64_t to)
{
	static const uint8_t kinds[] = { WELLKNOWN_SYSCALL_ENTER, WELLKNOWN_SYSCALL_EXIT,
					 WELLKNOWN_FAULT_ENTER,	  WELLKNOWN_FAULT_EXIT,
					 WELLKNOWN_IRQ_ENTER,	  WELLKNOWN_IRQ_EXIT,
					 WELLKNOWN_LOCK_CONTEND,  WELLKNOWN_LOCK_ACQUIRE,
					 WELLKNOWN_LOCK_RELEASE };
	const enum recorded_family family = recorded_family_of(kind);

	for (size_t n = 0; n < sizeof(kinds); n++)
		if (recorded_family_of((enum wellknown_kind)kinds[n]) == family &&
		    scheduling_off(scheduling, (enum wellknown_kind)kinds[n], from, to))
			return true;
	return false;
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
