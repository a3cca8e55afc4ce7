/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/gaps.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "ktrx/v2.h"

#define CPUS  GAPS_CPUS_MAX
#define FIRST 64u /* places at first */

struct open {
	uint64_t key[PAIRS_KEYS];
	uint64_t stamp;
	uint64_t time;
	uint64_t events; /* of its CPU until then */
	uint32_t cpu;
	bool used;
};

struct pairs {
	const struct pairs_rule *rule;
	struct gaps *gaps;
	struct threads *threads;
	struct wellknown_table known;
	uint64_t time;	   /* as threads.h has it */
	struct open *open; /* open addressing */
	uint32_t places, count;
	uint64_t events[CPUS]; /* by CPU */
	struct pairs_result result;
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t string_key(const struct ktread_value *value)
{
	uint64_t hash = value->length;

	for (uint32_t n = 0; n < value->length; n++)
		hash = mix(hash, (unsigned char)value->string[n]);
	return hash;
}

static bool field_key(const struct ktread_event *event, const char *field, uint64_t *key)
{
	struct ktread_value value;

	if (ktread_value_named(event, field, &value) < 0)
		return false;
	*key = value.type == KTRX_TYPE_STRING ? string_key(&value) : value.number;
	return true;
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
			key[n] = of_cpu(event) ? UINT64_C(1) << 32 | event->cpu : event->thread;
			break;
		case PAIRS_BY_THREAD:
			key[n] = event->thread;
			break;
		case PAIRS_BY_CPU:
			key[n] = event->cpu;
			break;
		case PAIRS_BY_FIELD:
			if (!field_key(event, ends ? part->end_field : part->begin_field, &key[n]))
				return false;
			break;
		}
	}
	return true;
}

/* The place of a key, or the free one where it belongs. */
static uint32_t find(const struct pairs *p, const uint64_t *key)
{
	uint64_t hash = 0;
	uint32_t at;

	for (uint32_t n = 0; n < PAIRS_KEYS; n++)
		hash = mix(hash, key[n]);
	at = (uint32_t)(hash >> 32) & (p->places - 1);
	while (p->open[at].used && memcmp(p->open[at].key, key, sizeof(p->open[at].key)) != 0)
		at = (at + 1) & (p->places - 1);
	return at;
}

static int grow(struct pairs *p)
{
	struct open *old = p->open;
	uint32_t places = p->places;
	struct open *open = calloc((size_t)places * 2, sizeof(*open));

	if (!open)
		return KTREAD_E_MEMORY;
	p->open = open;
	p->places = places * 2;
	for (uint32_t n = 0; n < places; n++)
		if (old[n].used)
			open[find(p, old[n].key)] = old[n];
	free(old);
	return 0;
}

/* Frees a place; those behind it that were pushed on by it move up. */
static void take_out(struct pairs *p, uint32_t at)
{
	uint32_t mask = p->places - 1;

	p->open[at].used = false;
	p->count--;
	for (uint32_t next = (at + 1) & mask; p->open[next].used; next = (next + 1) & mask) {
		struct open moved = p->open[next];

		p->open[next].used = false;
		p->open[find(p, moved.key)] = moved;
	}
}

/* The CPU whose gaps alone can have hidden something between the two, or GAPS_ANYWHERE. */
static uint32_t where_gaps_matter(const struct pairs *p, const struct open *begin,
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
	uint64_t took = end->stamp - begin;
	unsigned __int128 off = (unsigned __int128)cost * events / 1000u;

	took = off < took ? took - (uint64_t)off : 0;
	if (ticks->count == 0 || took > ticks->greatest)
		*worst = (struct pairs_worst){ begin, end->stamp, end->cpu, end->thread };
	return histogram_add(ticks, took);
}

static int end(struct pairs *p, const uint64_t *key, const struct ktread_event *event)
{
	uint32_t at = find(p, key);
	struct open begin = p->open[at];
	uint64_t meanwhile = 0;

	if (!begin.used) {
		p->result.ends++;
		return 0;
	}
	take_out(p, at);
	if (gaps_between(p->gaps, where_gaps_matter(p, &begin, event), begin.stamp, event->stamp)) {
		p->result.dropped++;
		return 0;
	}
	if (begin.cpu == event->cpu && event->cpu < CPUS)
		meanwhile = p->events[event->cpu] - begin.events;
	return pairs_measure(&p->result.ticks, &p->result.worst, begin.stamp, event, p->rule->cost,
			     meanwhile);
}

static int begin(struct pairs *p, const uint64_t *key, const struct ktread_event *event)
{
	struct open *open = &p->open[find(p, key)];
	int error;

	if (!open->used && p->count == PAIRS_OPEN) {
		p->result.left_out++;
		return 0;
	}
	if (!open->used && p->count >= p->places / 2) {
		error = grow(p);
		if (error)
			return error;
		open = &p->open[find(p, key)];
	}
	p->count += !open->used;
	p->result.begins += open->used;
	*open = (struct open){ .stamp = event->stamp, .time = p->time, .cpu = event->cpu, .used = true };
	open->events = event->cpu < CPUS ? p->events[event->cpu] : 0;
	memcpy(open->key, key, sizeof(open->key));
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
			p->result.keyless++;
	}
	if (!error && in(p->rule->begins, event->id)) {
		if (read_key(p, event, false, key))
			error = begin(p, key, event);
		else
			p->result.keyless++;
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
	while (!error && (status = ktread_next(trace, &event)) > 0)
		error = take(p, event);
	p->result.begins += p->count;
	return error ? error : status;
}

int pairs_read(struct pairs **pairs, struct ktread *trace, const struct pairs_rule *rule)
{
	struct pairs *p = *pairs = calloc(1, sizeof(*p));

	if (!p)
		return KTREAD_E_MEMORY;
	p->rule = rule;
	p->places = FIRST;
	p->open = calloc(p->places, sizeof(*p->open));
	return p->open ? read_all(p, trace) : KTREAD_E_MEMORY;
}

void pairs_free(struct pairs *p)
{
	if (!p)
		return;
	histogram_free(&p->result.ticks);
	threads_destroy(p->threads);
	gaps_free(p->gaps);
	free(p->open);
	free(p);
}

struct pairs_result *pairs_result(struct pairs *p)
{
	return &p->result;
}
