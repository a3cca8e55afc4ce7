/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/scheduling.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "ktrx/v2.h"

/*
 * Gaps are in lists: one list for each CPU with a number below GAPS_CPUS_MAX, one list for all other CPUs,
 * and one list for gaps that have no CPU.
 */
#define LIST_OTHERS (GAPS_CPUS_MAX + 0u)
#define LIST_SHARED (GAPS_CPUS_MAX + 1u)
#define LISTS	    (GAPS_CPUS_MAX + 2u)

struct gaps_gap {
	/* timestamp of the last event before the gap; 0: the beginning of the ring is missing */
	uint64_t from;
	/* timestamp of the first event after the gap; UINT64_MAX: the end of the ring is missing */
	uint64_t to;
	uint32_t ring, cpu;
	uint64_t latest; /* maximum of `to` over this gap and all gaps before it in the array */
};

/* A gap in the list of its CPU. */
struct entry {
	uint64_t latest; /* maximum of `to` over this gap and all gaps before it in the list */
	uint32_t gap;	 /* index of the gap in the array of all gaps */
};

struct gaps {
	const struct ktread *trace;
	struct gaps_gap *gap; /* array of gaps, sorted by `from` */
	uint32_t count, room, limit;
	/* the same gaps as lists, in the same order: list n is from entry[list[n]] to entry[list[n + 1]] */
	struct entry *entry;
	uint32_t list[LISTS + 1];
	bool partial; /* true if only the events of a filter are read */
	/*
	 * index of the first gap that begins at or after `to`, where `to` is the largest one that
	 * gaps_between() was called with so far
	 */
	uint32_t next;
	uint64_t until[LISTS]; /* for each list: latest end of the gaps before index `next` */
	uint64_t until_any;
	struct scheduling *scheduling;
};

/* State of a ring while gaps are searched for. */
struct progress {
	uint64_t seen; /* timestamp of the ring's last event */
	uint64_t first;
	uint64_t lost; /* number of slots that are missing before the ring's events so far */
	uint32_t last; /* index of the ring's last gap, plus 1; 0 if the ring has no gap */
	bool begun;
};

static int add(struct gaps *gaps, struct progress *ring, struct gaps_gap gap)
{
	struct gaps_gap *larger;

	if (gaps->count >= gaps->limit && ring->last) {
		gaps->gap[ring->last - 1].to = gap.to;
		return 0;
	}
	larger = base_grow(gaps->gap, &gaps->room, (size_t)gaps->count + 1, sizeof(*larger));
	if (!larger)
		return KTREAD_E_MEMORY;
	gaps->gap = larger;
	gaps->gap[gaps->count++] = gap;
	ring->last = gaps->count;
	return 0;
}

/*
 * Returns whether slots before the first event of a ring are missing. `event`: the first event of the ring.
 */
static bool lacks_head(const struct gaps *gaps, const struct ktread *trace, const struct ktread_event *event)
{
	const struct ktread_ring *of = ktread_ring(trace, event->ring);
	/* In version 1, events are numbered from the oldest existing event. */
	const uint64_t first = ktread_info(trace)->version == 1 ? 0 : of->overwritten;

	return (of->overwritten > 0 || of->cleared > 0) && (!gaps->partial || event->index <= first);
}

/* Returns the CPU whose events are in the event's ring; KTRX_NO_CPU if they may be of any CPU. */
static uint32_t cpu_of(const struct ktread *trace, const struct ktread_event *event)
{
	return ktread_ring(trace, event->ring)->cpu == KTRX_NO_CPU ? KTRX_NO_CPU : event->cpu;
}

static int take(struct gaps *gaps, struct progress *ring, const struct ktread *trace,
		const struct ktread_event *event)
{
	const bool head_missing = !ring->begun && lacks_head(gaps, trace, event);
	const uint32_t cpu = cpu_of(trace, event);

	if ((event->lost > 0 || head_missing) &&
	    add(gaps, ring, (struct gaps_gap){ ring->seen, event->stamp, event->ring, cpu, 0 }) < 0)
		return KTREAD_E_MEMORY;
	ring->lost += event->lost;
	if (head_missing && event->lost == 0)
		ring->lost += ktread_ring(trace, event->ring)->overwritten;
	if (!ring->begun)
		ring->first = event->stamp;
	ring->begun = true;
	ring->seen = event->stamp;
	return scheduling_event(gaps->scheduling, event);
}

/*
 * Adds gaps for a boot ring whose end is missing, because it was full and rejected records, or because its
 * last slots cannot be read: one gap for each CPU, which ends when the CPU gets a ring of its own. If the
 * beginning of the CPU's own ring is lost, that gap is known already.
 */
static int find_end_of_boot(struct gaps *gaps, struct progress *rings, const struct ktread *trace)
{
	const uint64_t from = rings[0].seen;
	int status = 0;
	bool any = false;

	for (uint32_t n = 1; n < ktread_info(trace)->rings && status == 0; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		any |= rings[n].begun && ring->cpu != KTRX_NO_CPU;
		if (rings[n].begun && ring->cpu != KTRX_NO_CPU && !ring->overwritten && !ring->cleared &&
		    rings[n].first > from)
			status = add(gaps, &rings[0],
				     (struct gaps_gap){ from, rings[n].first, n, ring->cpu, 0 });
	}
	if (!any && ktread_ring(trace, 0)->dropped > 0)
		status = add(gaps, &rings[0], (struct gaps_gap){ from, UINT64_MAX, 0, KTRX_NO_CPU, 0 });
	return status;
}

/* Returns whether slots after the last event of a ring are missing or cannot be read. */
static bool lacks_tail(const struct ktread_ring *ring, const struct progress *progress)
{
	return ring->cut > 0 || ring->dropped > 0 || ring->overwritten + ring->invalid > progress->lost;
}

/* Adds gaps after the last event of each ring. */
static int find_tails(struct gaps *gaps, struct progress *rings, const struct ktread *trace)
{
	int status = 0;

	for (uint32_t n = 0; n < ktread_info(trace)->rings && status == 0; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		const bool boot = n == 0 && ring->cpu == KTRX_NO_CPU;

		if (boot && lacks_tail(ring, &rings[0]))
			status = find_end_of_boot(gaps, rings, trace);
		if (status == 0 && (ring->cut > 0 || (!boot && lacks_tail(ring, &rings[n]))))
			status = add(gaps, &rings[n],
				     (struct gaps_gap){ rings[n].seen, UINT64_MAX, n, ring->cpu, 0 });
	}
	return status;
}

static int find_all(struct gaps *gaps, struct progress *rings, struct ktread *trace)
{
	const struct ktread_event *event;
	int status, error = 0;

	while (!error && (status = ktread_next(trace, &event)) > 0)
		error = take(gaps, &rings[event->ring], trace, event);
	if (error)
		return error;
	if (status == 0 && !gaps->partial)
		status = find_tails(gaps, rings, trace);
	if (status == 0)
		status = scheduling_end(gaps->scheduling);
	return status;
}

/*
 * Returns whether a trace can show gaps, and events that were switched on or off. Version 1 contains only
 * records, so it does not show what is missing.
 */
static bool can_have_gaps(const struct ktread *trace)
{
	for (uint32_t n = 0; n < ktread_info(trace)->rings; n++)
		if (ktread_ring(trace, n)->kind == KTREAD_RING_BESIDE)
			return true;
	return ktread_info(trace)->version != 1;
}

/* Reads without the filter: the events that the filter leaves out may show which slots are missing. */
static int find_unfiltered(struct gaps *gaps, struct progress *rings, struct ktread *trace)
{
	int status, again;

	if (!can_have_gaps(trace)) {
		status = scheduling_end(gaps->scheduling);
		return status ? status : ktread_rewind(trace);
	}
	ktread_apply_filter(trace, 0);
	status = ktread_rewind(trace);
	if (status == 0)
		status = find_all(gaps, rings, trace);
	ktread_apply_filter(trace, 1);
	again = ktread_rewind(trace);
	return status < 0 ? status : again;
}

static int by_from(const void *a, const void *b)
{
	const struct gaps_gap *left = a, *right = b;

	return left->from < right->from ? -1 : left->from > right->from;
}

static uint32_t list_of(uint32_t cpu)
{
	if (cpu == KTRX_NO_CPU)
		return LIST_SHARED;
	return cpu < GAPS_CPUS_MAX ? cpu : LIST_OTHERS;
}

/* Makes the lists. Requires: the array is sorted. */
static int make_lists(struct gaps *gaps)
{
	uint32_t *list = gaps->list;

	gaps->entry = calloc((size_t)gaps->count + 1, sizeof(*gaps->entry));
	if (!gaps->entry)
		return KTREAD_E_MEMORY;
	for (uint32_t n = 0; n < gaps->count; n++)
		list[list_of(gaps->gap[n].cpu)]++;
	for (uint32_t n = 1; n <= LISTS; n++)
		list[n] += list[n - 1];
	/* each number is now the end of its list, and becomes the beginning */
	for (uint32_t n = gaps->count; n-- > 0;)
		gaps->entry[--list[list_of(gaps->gap[n].cpu)]].gap = n;
	for (uint32_t n = 0; n < LISTS; n++) {
		uint64_t latest = 0;

		for (uint32_t i = list[n]; i < list[n + 1]; i++) {
			const uint64_t to = gaps->gap[gaps->entry[i].gap].to;

			latest = to > latest ? to : latest;
			gaps->entry[i].latest = latest;
		}
	}
	return 0;
}

static int sort(struct gaps *gaps)
{
	uint64_t latest = 0;

	if (gaps->count)
		qsort(gaps->gap, gaps->count, sizeof(*gaps->gap), by_from);
	for (uint32_t n = 0; n < gaps->count; n++) {
		latest = gaps->gap[n].to > latest ? gaps->gap[n].to : latest;
		gaps->gap[n].latest = latest;
	}
	return make_lists(gaps);
}

/* Finds the gaps while reading only the events that the filter selects. */
static int find_filtered(struct gaps *gaps, struct progress *rings, struct ktread *trace)
{
	const int status = find_all(gaps, rings, trace), again = ktread_rewind(trace);

	return status < 0 ? status : again;
}

static int read_gaps(struct gaps **result, struct ktread *trace, bool partial)
{
	uint32_t rings = ktread_info(trace)->rings;
	struct gaps *gaps = calloc(1, sizeof(*gaps));
	struct progress *progress = calloc((size_t)rings + 1, sizeof(*progress));
	int error = KTREAD_E_MEMORY, sorted;

	*result = gaps;
	if (gaps && progress) {
		gaps->trace = trace;
		gaps->limit = GAPS_MAX;
		gaps->partial = partial;
		error = scheduling_open(&gaps->scheduling, trace);
		if (!error)
			error = partial ? find_filtered(gaps, progress, trace)
					: find_unfiltered(gaps, progress, trace);
		sorted = sort(gaps);
		error = error ? error : sorted;
	}
	free(progress);
	return error;
}

int gaps_read(struct gaps **result, struct ktread *trace)
{
	return read_gaps(result, trace, false);
}

int gaps_read_part(struct gaps **result, struct ktread *trace)
{
	return read_gaps(result, trace, true);
}

/*
 * Returns the index of the first gap of a list that ends after `from`; the number of all gaps if there is
 * none. All gaps before the first one whose `latest` is after `from` end at or before `from`.
 */
static uint32_t first_of(const struct gaps *gaps, uint32_t list, uint64_t from)
{
	const struct entry *entry = gaps->entry + gaps->list[list];
	const uint32_t entries = gaps->list[list + 1] - gaps->list[list];
	const size_t n =
		base_count_up_to(entry, entries, sizeof(*entry), offsetof(struct entry, latest), from);

	return n < entries ? entry[n].gap : gaps->count;
}

uint64_t gaps_find(const struct gaps *gaps, uint32_t cpu, uint64_t from, uint64_t to,
		   struct gaps_where *where)
{
	const struct gaps_gap *gap;
	uint32_t n, of_all;

	if (cpu == GAPS_ANYWHERE) {
		n = (uint32_t)base_count_up_to(gaps->gap, gaps->count, sizeof(gaps->gap[0]),
					       offsetof(struct gaps_gap, latest), from);
	} else {
		n = first_of(gaps, list_of(cpu), from);
		of_all = first_of(gaps, LIST_SHARED, from);
		n = n < of_all ? n : of_all;
	}
	if (n == gaps->count || gaps->gap[n].from >= to)
		return UINT64_MAX;
	gap = &gaps->gap[n];
	*where = (struct gaps_where){ gap->ring, gap->to };
	return gap->from > from ? gap->from : from;
}

uint64_t gaps_first(const struct gaps *gaps, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct gaps_where where;

	return gaps_find(gaps, cpu, from, to, &where);
}

void gaps_free(struct gaps *gaps)
{
	if (!gaps)
		return;
	scheduling_free(gaps->scheduling);
	free(gaps->entry);
	free(gaps->gap);
	free(gaps);
}

static void begin_gap(struct gaps *gaps, uint32_t cpu, uint64_t to)
{
	uint64_t *until = &gaps->until[list_of(cpu)];

	if (to > *until)
		*until = to;
	if (to > gaps->until_any)
		gaps->until_any = to;
}

void gaps_event(struct gaps *gaps, const struct ktread_event *event)
{
	if (event->lost > 0)
		begin_gap(gaps, cpu_of(gaps->trace, event), event->stamp);
}

bool gaps_between(struct gaps *gaps, uint32_t cpu, uint64_t from, uint64_t to)
{
	for (; gaps->next < gaps->count && gaps->gap[gaps->next].from < to; gaps->next++)
		begin_gap(gaps, gaps->gap[gaps->next].cpu, gaps->gap[gaps->next].to);
	if (cpu == GAPS_ANYWHERE)
		return gaps->until_any > from;
	return gaps->until[list_of(cpu)] > from || gaps->until[LIST_SHARED] > from;
}

void gaps_restart(struct gaps *gaps)
{
	gaps->next = 0;
	gaps->until_any = 0;
	memset(gaps->until, 0, sizeof(gaps->until));
}

uint32_t gaps_switched(const struct gaps *gaps, const uint8_t *events, uint64_t from, uint64_t to)
{
	return scheduling_switched(gaps->scheduling, events, from, to);
}

const struct scheduling *gaps_scheduling(const struct gaps *gaps)
{
	return gaps->scheduling;
}

bool gaps_state_lasts(struct gaps *gaps, const uint8_t *events, bool running, uint32_t cpu, uint64_t from,
		      uint64_t to)
{
	return !(gaps_between(gaps, running ? cpu : GAPS_ANYWHERE, from, to) ||
		 gaps_switched(gaps, events, from, to));
}
