/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tracks whether the events of spans are recorded, while a trace is read. */
#include <stdlib.h>

#include "analyze/scheduling.h"

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
