/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/gaps.h"

#include <stdlib.h>

struct gap {
	uint64_t from, to;
	uint32_t ring, cpu;
};

struct gaps {
	struct gap *gap; /* by `from` */
	uint32_t count, room, limit;
	uint32_t next;			   /* the first that begins behind all `to` asked about */
	uint64_t until[GAPS_CPUS_MAX + 1]; /* end of the last gap begun, by CPU; the last: no CPU */
	uint64_t until_any;
};

/* What is known of a ring while its gaps are looked for. */
struct progress {
	uint64_t seen; /* its last event */
	uint32_t last; /* index of its last gap + 1 */
	bool begun;
};

static int add(struct gaps *gaps, struct progress *ring, struct gap gap)
{
	if (gaps->count >= gaps->limit && ring->last) {
		gaps->gap[ring->last - 1].to = gap.to;
		return 0;
	}
	if (gaps->count == gaps->room) {
		uint32_t room = gaps->room ? 2 * gaps->room : 16;
		struct gap *larger = realloc(gaps->gap, room * sizeof(*larger));

		if (!larger)
			return KTREAD_E_MEMORY;
		gaps->gap = larger;
		gaps->room = room;
	}
	gaps->gap[gaps->count++] = gap;
	ring->last = gaps->count;
	return 0;
}

static int find_all(struct gaps *gaps, struct progress *rings, struct ktread *trace)
{
	const struct ktread_event *event;
	int status;

	while ((status = ktread_next(trace, &event)) > 0) {
		struct progress *ring = &rings[event->ring];
		bool head_missing = !ring->begun && ktread_ring(trace, event->ring)->overwritten > 0;

		if ((event->lost > 0 || head_missing) &&
		    add(gaps, ring, (struct gap){ ring->seen, event->stamp, event->ring, event->cpu }) < 0)
			return KTREAD_E_MEMORY;
		ring->begun = true;
		ring->seen = event->stamp;
	}
	for (uint32_t n = 0; n < ktread_info(trace)->rings && status == 0; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		if (ring->cut > 0)
			status =
				add(gaps, &rings[n], (struct gap){ rings[n].seen, UINT64_MAX, n, ring->cpu });
	}
	return status < 0 ? status : ktread_rewind(trace);
}

static int by_from(const void *a, const void *b)
{
	const struct gap *left = a, *right = b;

	return left->from < right->from ? -1 : left->from > right->from;
}

int gaps_read(struct gaps **result, struct ktread *trace)
{
	uint32_t rings = ktread_info(trace)->rings;
	struct gaps *gaps = calloc(1, sizeof(*gaps));
	struct progress *progress = calloc((size_t)rings + 1, sizeof(*progress));
	int error = KTREAD_E_MEMORY;

	*result = gaps;
	if (gaps && progress) {
		gaps->limit = GAPS_MAX;
		error = find_all(gaps, progress, trace);
		if (gaps->count)
			qsort(gaps->gap, gaps->count, sizeof(*gaps->gap), by_from);
	}
	free(progress);
	return error;
}

void gaps_free(struct gaps *gaps)
{
	if (!gaps)
		return;
	free(gaps->gap);
	free(gaps);
}

static void begin_gap(struct gaps *gaps, uint32_t cpu, uint64_t to)
{
	uint64_t *until = &gaps->until[cpu < GAPS_CPUS_MAX ? cpu : GAPS_CPUS_MAX];

	if (to > *until)
		*until = to;
	if (to > gaps->until_any)
		gaps->until_any = to;
}

void gaps_event(struct gaps *gaps, const struct ktread_event *event)
{
	if (event->lost > 0)
		begin_gap(gaps, event->cpu, event->stamp);
}

bool gaps_between(struct gaps *gaps, uint32_t cpu, uint64_t from, uint64_t to)
{
	for (; gaps->next < gaps->count && gaps->gap[gaps->next].from < to; gaps->next++)
		begin_gap(gaps, gaps->gap[gaps->next].cpu, gaps->gap[gaps->next].to);
	if (cpu >= GAPS_CPUS_MAX)
		return gaps->until_any > from;
	return gaps->until[cpu] > from || gaps->until[GAPS_CPUS_MAX] > from;
}
