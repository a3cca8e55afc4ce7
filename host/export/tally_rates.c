/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Rates of events in a trace whose rings cover different times. */
#include "export/summary.h"

#include <stdlib.h>

#include "ktrx/v2.h"

/*
 * Returns whether a ring has overwritten its oldest records, and another ring has records, too. Then the
 * rings cover different times.
 */
static bool covers_differ(const struct ktread *trace)
{
	uint32_t used = 0;
	bool overwritten = false;

	for (uint32_t n = 0; n < ktread_info(trace)->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		used += ring->records != 0;
		overwritten |= ring->records != 0 && ring->overwritten != 0;
	}
	return overwritten && used > 1;
}

/* Adds a record of a ring that covers this number of ticks to the rates. */
static void add(struct tally *tally, const struct ktread_event *event, uint64_t ticks)
{
	const double rate = 1.0 / (double)ticks;
	struct tally_count *page = tally->thread[(event->thread & KTRX_THREAD_MAX) / TALLY_THREAD_PAGE];

	tally->rate += rate;
	tally->event[event->id % TALLY_EVENTS].rate += rate;
	tally->cpu_rate[event->cpu < TALLY_CPUS ? event->cpu : TALLY_CPUS - 1] += rate;
	if (page)
		page[event->thread % TALLY_THREAD_PAGE].rate += rate;
}

/* The times that a trace and its rings cover, whatever the filter selects. */
struct covered {
	uint64_t from, to; /* timestamps of the first and the last event of the trace */
	uint64_t *first;   /* indexed by ring: timestamp of the oldest event; UINT64_MAX: none */
};

/* Reads all events without the filter. Then the filter is on again, and the trace must be rewound. */
static int read_covered(struct covered *covered, struct ktread *trace)
{
	const struct ktread_event *event;
	int status;

	covered->from = UINT64_MAX;
	ktread_apply_filter(trace, 0);
	status = ktread_rewind(trace);
	while (status == 0 && (status = ktread_next_by_ring(trace, &event)) > 0) {
		uint64_t *first = &covered->first[event->ring];

		*first = event->stamp < *first ? event->stamp : *first;
		covered->from = event->stamp < covered->from ? event->stamp : covered->from;
		covered->to = event->stamp > covered->to ? event->stamp : covered->to;
		status = 0;
	}
	ktread_apply_filter(trace, 1);
	return status;
}

/* Adds the selected events. Each counts for the part of its ring's time that the filter selects. */
static int add_all(struct tally *tally, struct ktread *trace, const struct covered *covered)
{
	const struct ktread_event *event;
	uint64_t since, until;
	int status = ktread_rewind(trace);

	ktread_filter_window(trace, &since, &until);
	until = covered->to < until ? covered->to : until;
	while (status == 0 && (status = ktread_next_by_ring(trace, &event)) > 0) {
		uint64_t first = ktread_ring(trace, event->ring)->overwritten ? covered->first[event->ring]
									      : covered->from;

		first = since > first ? since : first;
		if (until > first)
			add(tally, event, until - first);
		status = 0;
	}
	return status;
}

int tally_rates(struct tally *tally, struct ktread *trace)
{
	const uint32_t rings = ktread_info(trace)->rings;
	struct covered covered = { 0 };
	int status;

	if (!tally->events || !covers_differ(trace))
		return 0;
	covered.first = malloc(rings * sizeof(*covered.first));
	if (!covered.first)
		return KTREAD_E_MEMORY;
	for (uint32_t n = 0; n < rings; n++)
		covered.first[n] = UINT64_MAX;
	status = read_covered(&covered, trace);
	if (status == 0)
		status = add_all(tally, trace, &covered);
	free(covered.first);
	tally->rated = status == 0;
	return status;
}
