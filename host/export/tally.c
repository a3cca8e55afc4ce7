/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/summary.h"

#include <stdlib.h>

#include "base/grow.h"
#include "export/timeline.h"

#define BRIEFS 256

static inline void count(struct tally_count *count, uint64_t stamp, uint64_t sequence)
{
	/*
	 * compare timestamps, because rings are read one after another, so a ring that is read later may
	 * contain an earlier event
	 */
	if (stamp < count->first || count->count == 0) {
		count->first = stamp;
		count->sequence = sequence;
	}
	count->count++;
}

/* Returns the count of a thread. Allocates its page of counts if necessary. Returns NULL if out of memory. */
static inline struct tally_count *thread_count(struct tally *tally, uint32_t thread)
{
	struct tally_count **page = &tally->thread[(thread & KTRX_THREAD_MAX) / TALLY_THREAD_PAGE];

	if (__builtin_expect(!*page, 0))
		*page = calloc(TALLY_THREAD_PAGE, sizeof(**page));
	return *page ? *page + thread % TALLY_THREAD_PAGE : NULL;
}

static int count_all(struct tally *tally, struct ktread *trace, tally_each *each, void *context)
{
	struct ktread_brief brief[BRIEFS];
	uint64_t last = 0, sequence = 0;
	int got;

	while ((got = ktread_next_briefs(trace, brief, BRIEFS)) > 0) {
		for (int n = 0; n < got; n++) {
			struct tally_count *thread = thread_count(tally, brief[n].thread);
			uint64_t stamp = brief[n].stamp;

			if (!thread)
				return KTREAD_E_MEMORY;
			count(thread, stamp, sequence);
			count(&tally->event[brief[n].id % TALLY_EVENTS], stamp, sequence);
			tally->cpu[brief[n].cpu < TALLY_CPUS ? brief[n].cpu : TALLY_CPUS - 1]++;
			last = stamp > last ? stamp : last;
			sequence++;
		}
		if (each && each(context, brief, (unsigned)got) < 0)
			return KTREAD_E_MEMORY;
		tally->last = last;
	}
	return got;
}

static void count_repeats(struct tally *tally, uint64_t id, uint64_t more)
{
	if (id >= TALLY_EVENTS)
		return;
	tally->repeats[id] += more;
	tally->folded += more;
}

/*
 * Counts the repetitions for which there is a record (ktrace.repeat). Reads the trace again, because the
 * payloads are needed.
 */
static int count_recorded(struct tally *tally, struct ktread *trace)
{
	const struct ktread_event *event;
	struct repeat repeat;
	int status = ktread_rewind(trace);

	if (status < 0)
		return status;
	while ((status = ktread_next(trace, &event)) > 0)
		if (repeat_of(event, &repeat))
			count_repeats(tally, repeat.id, repeat.more);
	return status;
}

static int count_folded(struct tally *tally, struct ktread *trace)
{
	const struct ktread_type *type = repeat_type(trace);
	struct ktread_fold fold;
	uint32_t row = 0;
	int status = 0;

	if (type && tally->event[type->id].count)
		status = count_recorded(tally, trace);
	while (status >= 0 && (status = ktread_fold(trace, &row, &fold)) > 0) {
		count_repeats(tally, fold.event.id, fold.count);
		tally->folding += fold.count;
	}
	return status;
}

int tally_trace_with(struct tally **result, struct ktread *trace, tally_each *each, void *context)
{
	struct tally *tally = calloc(1, sizeof(*tally));
	int status;

	*result = tally;
	if (!tally)
		return KTREAD_E_MEMORY;
	status = count_all(tally, trace, each, context);
	if (status >= 0)
		status = count_folded(tally, trace);
	tally->first = UINT64_MAX;
	for (uint32_t id = 0; id < TALLY_EVENTS; id++) {
		const struct tally_count *of = &tally->event[id];

		tally->events += of->count;
		if (of->count && of->first < tally->first)
			tally->first = of->first;
	}
	return status;
}

int tally_trace(struct tally **result, struct ktread *trace)
{
	return tally_trace_with(result, trace, NULL, NULL);
}

void tally_free(struct tally *tally)
{
	if (!tally)
		return;
	for (uint32_t page = 0; page < TALLY_THREAD_PAGES; page++)
		free(tally->thread[page]);
	free(tally);
}

/*
 * Returns the smallest key, at least `key`, that may have occurred. Skips threads for which no page was
 * allocated.
 */
static uint32_t next_key(const struct tally *tally, enum tally_kind kind, uint32_t key)
{
	while (kind == TALLY_BY_THREAD && key <= KTRX_THREAD_MAX && !tally->thread[key / TALLY_THREAD_PAGE])
		key = (key / TALLY_THREAD_PAGE + 1) * TALLY_THREAD_PAGE;
	return key;
}

static struct tally_count count_of(const struct tally *tally, enum tally_kind kind, uint32_t key)
{
	if (kind == TALLY_BY_EVENT)
		return tally->event[key];
	if (kind == TALLY_BY_THREAD)
		return tally->thread[key / TALLY_THREAD_PAGE][key % TALLY_THREAD_PAGE];
	return (struct tally_count){ .count = tally->cpu[key], .rate = tally->cpu_rate[key] };
}

static int most_first(const void *a, const void *b)
{
	const struct tally_entry *left = a, *right = b;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	return left->sequence < right->sequence ? -1 : left->sequence > right->sequence;
}

struct tally_entry *tally_list(const struct tally *tally, enum tally_kind kind, enum tally_order order,
			       size_t *entries)
{
	static const uint32_t keys[] = {
		[TALLY_BY_EVENT] = TALLY_EVENTS,
		[TALLY_BY_THREAD] = KTRX_THREAD_MAX + 1,
		[TALLY_BY_CPU] = TALLY_CPUS,
	};
	uint32_t room = 0;
	struct tally_entry *list = base_grow(NULL, &room, 1, sizeof(*list)), *larger;
	size_t length = 0;

	for (uint32_t key = 0; (key = next_key(tally, kind, key)) < keys[kind]; key++) {
		struct tally_count count = count_of(tally, kind, key);

		if (!count.count && !(kind == TALLY_BY_EVENT && tally->repeats[key]))
			continue;
		larger = list ? base_grow(list, &room, length + 1, sizeof(*list)) : NULL;
		if (!larger) {
			free(list);
			return NULL;
		}
		list = larger;
		list[length++] =
			(struct tally_entry){ count.count, count.first, count.sequence, count.rate, key };
	}
	*entries = length;
	if (list && order == TALLY_MOST_FIRST)
		qsort(list, length, sizeof(*list), most_first);
	return list;
}
