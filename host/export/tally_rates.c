/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Rates of events in a trace whose rings cover different times. */
#include "export/summary.h"

#include "ktrx/v2.h"

/*
 * Returns whether a ring has overwritten its oldest records, and another ring has records, too. Then the rings
 * cover different times.
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

int tally_rates(struct tally *tally, struct ktread *trace)
{
	const struct ktread_event *event;
	uint32_t ring = UINT32_MAX;
	uint64_t first = 0;
	int status;

	if (!tally->events || !covers_differ(trace))
		return 0;
	status = ktread_rewind(trace);
	while (status == 0 && (status = ktread_next_by_ring(trace, &event)) > 0) {
		if (event->ring != ring)
			first = ktread_ring(trace, event->ring)->overwritten ? event->stamp : tally->first;
		ring = event->ring;
		if (tally->last > first)
			add(tally, event, tally->last - first);
		status = 0;
	}
	tally->rated = status == 0;
	return status;
}
