/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/latencies.h"

#include <stdlib.h>

#include "analyze/keyed.h"
#include "analyze/scheduling.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "ktrx/v2.h"

#define CPUS GAPS_CPUS_MAX

struct pairs {
	const struct pairs_rule *rule;
	struct gaps *gaps;
	struct threads *threads;
	struct wellknown_table known;
	uint64_t time; /* time of the current event, as in threads.h */
	/*
	 * beginnings that have no end so far; the member `count` is the number of events that the CPU
	 * recorded before the beginning
	 */
	struct keyed open;
	uint64_t events[CPUS]; /* indexed by CPU: number of events so far */
	struct pairs_result result;
	/*
	 * The trace's filter, if it selects events by CPU, thread or type; otherwise NULL. The trace is then
	 * read without it, because hidden events may end a pair. The filter selects pairs by their ends.
	 */
	const struct ktread *filter;
	uint64_t since, until; /* the filter's time window */
	uint8_t events_of_rule[(KTRX_EVENT_MAX + 1) / 8];
};

static bool is_selected(const struct pairs *p, const struct ktread_event *event, uint64_t begin)
{
	return !p->filter || (begin >= p->since && begin <= p->until && ktread_selects(p->filter, event));
}

static bool of_cpu(const struct ktread_event *event)
{
	return event->thread == 0 || event->context != KTRX_CONTEXT_THREAD;
}

static bool read_key(const struct pairs *p, const struct ktread_event *event, bool ends, uint64_t *key)
{
	for (uint32_t n = 0; n < p->rule->keys; n++) {
		const struct pairs_key *part = &p->rule->key[n];

		switch (part->by) {
		case PAIRS_BY_OWNER:
			if (event->thread == 0 && event->context == KTRX_CONTEXT_THREAD &&
			    threads_mixes_zero(p->threads))
				return false;
			key[n] = of_cpu(event) ? UINT64_C(1) << 32 | event->cpu : event->thread;
			break;
		case PAIRS_BY_THREAD:
			key[n] = event->thread;
			break;
		case PAIRS_BY_CPU:
			key[n] = event->cpu;
			break;
		case PAIRS_BY_FIELD:
			if (!keyed_field(event, ends ? part->end_field : part->begin_field, &key[n]))
				return false;
			break;
		}
	}
	return true;
}

/*
 * Finds out which lost slots may have contained an event between `begin` and `end`. Returns the CPU if these
 * can only be slots of one CPU, otherwise GAPS_ANYWHERE.
 */
static uint32_t where_gaps_matter(const struct pairs *p, const struct keyed_entry *begin,
				  const struct ktread_event *end)
{
	const struct threads_thread *running = threads_on(p->threads, end->cpu);

	if (begin->cpu != end->cpu)
		return GAPS_ANYWHERE;
	for (uint32_t n = 0; n < p->rule->keys; n++) {
		enum pairs_by by = p->rule->key[n].by;

		if (by == PAIRS_BY_CPU || (by == PAIRS_BY_OWNER && of_cpu(end)))
			return end->cpu;
		if ((by == PAIRS_BY_THREAD || by == PAIRS_BY_OWNER) && end->thread != 0 && running &&
		    running->id == end->thread && running->since <= begin->time)
			return end->cpu;
	}
	return GAPS_ANYWHERE;
}

int pairs_measure(struct histogram *ticks, struct pairs_worst *worst, uint64_t begin,
		  const struct ktread_event *end, uint64_t cost, uint64_t events)
{
	uint64_t took = elapsed(begin, end->stamp);
	unsigned __int128 off = (unsigned __int128)cost * events / 1000u;

	took = off < took ? took - (uint64_t)off : 0;
	if (ticks->count == 0 || took > ticks->greatest)
		*worst = (struct pairs_worst){ begin, end->stamp, end->cpu, end->thread };
	return histogram_add(ticks, took);
}

static int end(struct pairs *p, const uint64_t *key, const struct ktread_event *event)
{
	struct keyed_entry *entry = keyed_find(&p->open, key), begin;
	uint64_t meanwhile = 0;

	if (!entry) {
		p->result.ends += is_selected(p, event, event->stamp);
		return 0;
	}
	begin = *entry;
	keyed_remove(&p->open, entry);
	if (!is_selected(p, event, begin.stamp)) {
		p->result.ends += is_selected(p, event, event->stamp);
		return 0;
	}
	if (gaps_switched(p->gaps, p->events_of_rule, begin.stamp, event->stamp)) {
		p->result.switched++;
		return 0;
	}
	if (gaps_between(p->gaps, where_gaps_matter(p, &begin, event), begin.stamp, event->stamp)) {
		p->result.dropped++;
		return 0;
	}
	if (begin.cpu == event->cpu && event->cpu < CPUS)
		meanwhile = p->events[event->cpu] - begin.count;
	return pairs_measure(&p->result.ticks, &p->result.worst, begin.stamp, event, p->rule->cost,
			     meanwhile);
}

static int begin(struct pairs *p, const uint64_t *key, const struct ktread_event *event)
{
	struct keyed_entry *open;
	uint32_t before = p->open.count;
	int error = keyed_put(&p->open, key, &open);

	if (error)
		return error;
	if (!open) {
		p->result.left_out++;
		return 0;
	}
	p->result.begins += p->open.count == before && open->known;
	open->known = is_selected(p, event, event->stamp);
	open->stamp = event->stamp;
	open->time = p->time;
	open->cpu = event->cpu;
	open->count = event->cpu < CPUS ? p->events[event->cpu] : 0;
	return 0;
}

static bool in(const uint8_t *map, uint32_t id)
{
	return map[(id & KTRX_EVENT_MAX) / 8] >> id % 8 & 1;
}

static int take(struct pairs *p, const struct ktread_event *event)
{
	uint64_t key[PAIRS_KEYS] = { 0 };
	int error;

	p->time += 2;
	error = threads_event(p->threads, event, wellknown_of(&p->known, event), p->time);
	gaps_event(p->gaps, event);
	if (event->cpu < CPUS)
		p->events[event->cpu]++;
	if (!error && in(p->rule->ends, event->id)) {
		if (read_key(p, event, true, key))
			error = end(p, key, event);
		else
			p->result.keyless += is_selected(p, event, event->stamp);
	}
	if (!error && in(p->rule->begins, event->id)) {
		if (read_key(p, event, false, key))
			error = begin(p, key, event);
		else
			p->result.keyless += is_selected(p, event, event->stamp);
	}
	return error;
}

static void ignore_change(void *context, const struct threads_change *change)
{
	(void)context;
	(void)change;
}

static int read_all(struct pairs *p, struct ktread *trace)
{
	const struct ktread_event *event;
	int status = gaps_read(&p->gaps, trace), error = 0;

	if (!status)
		status = threads_create(&p->threads, ignore_change, NULL);
	if (status)
		return status;
	threads_learn(p->threads, gaps_scheduling(p->gaps));
	if (ktread_is_narrowed(trace)) {
		p->filter = trace;
		ktread_filter_window(trace, &p->since, &p->until);
		ktread_apply_filter(trace, 0);
		status = ktread_rewind(trace);
	}
	while (status >= 0 && !error && (status = ktread_next(trace, &event)) > 0)
		error = take(p, event);
	if (p->filter)
		ktread_apply_filter(trace, 1);
	for (uint32_t n = 0; n < p->open.count; n++)
		p->result.begins += p->open.entry[n].known;
	return error ? error : status;
}

int pairs_read(struct pairs **pairs, struct ktread *trace, const struct pairs_rule *rule)
{
	struct pairs *p = *pairs = calloc(1, sizeof(*p));

	if (!p)
		return KTREAD_E_MEMORY;
	p->rule = rule;
	for (uint32_t n = 0; n < sizeof(p->events_of_rule); n++)
		p->events_of_rule[n] = rule->begins[n] | rule->ends[n];
	return read_all(p, trace);
}

void pairs_free(struct pairs *p)
{
	if (!p)
		return;
	histogram_free(&p->result.ticks);
	threads_destroy(p->threads);
	gaps_free(p->gaps);
	keyed_free(&p->open);
	free(p);
}

struct pairs_result *pairs_result(struct pairs *p)
{
	return &p->result;
}
