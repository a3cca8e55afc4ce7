/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/coarse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/v2.h"

#define MARKS	   16384u /* of causes, and as many of effects */
#define CANDIDATES 512u	  /* causes of one effect; with more it says nothing */
#define KEYS	   1024u
#define BIT_KEY	   (UINT64_C(1) << 40)
#define PROMINENCE 1.5f /* times the second-best distance */
#define VOTES	   1.0f /* whole ones that an answer needs */

struct mark {
	uint64_t key;
	uint64_t stamp;
	uint32_t cpu;
};

struct marks {
	struct mark mark[MARKS];
	uint32_t count;
	uint32_t seen
		[KEYS]; /* marks of each hash of a key: those that come up all the time leave room for others */
};

/* What most effects say of two clocks. */
struct peak {
	float votes; /* 0: nothing stands out */
	int64_t ahead;
};

struct coarse {
	uint32_t cpus;
	uint64_t reach, grain;
	uint32_t bins;	   /* of each pair of CPUs; the middle one is distance 0 */
	float *votes;	   /* [from * cpus + to][bin], from < to */
	struct peak *peak; /* [from * cpus + to] */
	struct marks causes, effects;
};

struct coarse *coarse_create(uint32_t cpus, uint64_t reach, uint64_t grain)
{
	struct coarse *coarse = calloc(1, sizeof(*coarse));

	if (!coarse)
		return NULL;
	coarse->cpus = cpus;
	coarse->reach = reach;
	coarse->grain = grain ? grain : 1;
	coarse->bins = 2 * (uint32_t)(reach / coarse->grain) + 3;
	coarse->votes = malloc((size_t)cpus * cpus * coarse->bins * sizeof(*coarse->votes));
	coarse->peak = malloc((size_t)cpus * cpus * sizeof(*coarse->peak));
	if (coarse->votes && coarse->peak)
		return coarse;
	coarse_destroy(coarse);
	return NULL;
}

void coarse_destroy(struct coarse *coarse)
{
	if (!coarse)
		return;
	free(coarse->votes);
	free(coarse->peak);
	free(coarse);
}

static void put(struct marks *marks, uint64_t key, const struct ktread_event *event)
{
	if (marks->count < MARKS && marks->seen[key * UINT64_C(0x9e3779b97f4a7c15) >> 54]++ < CANDIDATES)
		marks->mark[marks->count++] = (struct mark){ key, event->stamp, event->cpu };
}

/* An interrupt's key is the CPU it goes to; reasons are not told apart. */
int coarse_event(struct coarse *coarse, const struct ktread_event *event, const struct wellknown *known)
{
	uint32_t thread;
	uint64_t key;

	if (event->cpu >= coarse->cpus)
		return 1;
	switch (known->kind) {
	case WELLKNOWN_WAKE:
		if (wellknown_thread(known, event, WELLKNOWN_THREAD, &thread) && thread != 0)
			put(&coarse->causes, thread, event);
		break;
	case WELLKNOWN_SWITCH:
		if (wellknown_thread(known, event, WELLKNOWN_NEXT, &thread) && thread != 0)
			put(&coarse->effects, thread, event);
		break;
	case WELLKNOWN_IPI_SEND:
		if (wellknown_number(known, event, WELLKNOWN_CPU, &key))
			put(&coarse->causes, BIT_KEY + key, event);
		break;
	case WELLKNOWN_IPI_RECEIVE:
		put(&coarse->effects, BIT_KEY + event->cpu, event);
		break;
	default:
		break;
	}
	return coarse->causes.count < MARKS && coarse->effects.count < MARKS;
}

static int by_key_and_stamp(const void *a, const void *b)
{
	const struct mark *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return (left->stamp > right->stamp) - (left->stamp < right->stamp);
}

/* First cause that is not before this one. */
static uint32_t find(const struct marks *causes, uint64_t key, uint64_t stamp)
{
	const struct mark wanted = { .key = key, .stamp = stamp };
	uint32_t low = 0, high = causes->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (by_key_and_stamp(&causes->mark[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void vote_for(struct coarse *coarse, const struct mark *cause, const struct mark *effect, float weight)
{
	int64_t ahead = (int64_t)(effect->stamp - cause->stamp), bin;
	uint32_t low = cause->cpu, high = effect->cpu;

	if (low > high) {
		low = effect->cpu;
		high = cause->cpu;
		ahead = -ahead;
	}
	bin = (ahead + (int64_t)coarse->reach) / (int64_t)coarse->grain;
	coarse->votes[((size_t)low * coarse->cpus + high) * coarse->bins + (size_t)bin] += weight;
}

static void vote(struct coarse *coarse, const struct mark *effect)
{
	uint64_t begin = effect->stamp > coarse->reach ? effect->stamp - coarse->reach : 0;
	uint32_t first = find(&coarse->causes, effect->key, begin);
	uint32_t end = find(&coarse->causes, effect->key, effect->stamp + coarse->reach);

	if (end - first > CANDIDATES)
		return;
	for (uint32_t i = first; i < end; i++)
		if (coarse->causes.mark[i].cpu != effect->cpu)
			vote_for(coarse, &coarse->causes.mark[i], effect, 1.0f / (float)(end - first));
}

/*
 * Two neighbours count together: the true distance may lie on their border. What stands out is told from what any
 * distance has, and must stand out more than any other one.
 */
static struct peak find_peak(const struct coarse *coarse, const float *votes)
{
	float best = 0, second = 0, mean = 0;
	uint32_t at = 0;

	for (uint32_t bin = 0; bin + 1 < coarse->bins; bin++) {
		mean += (votes[bin] + votes[bin + 1]) / (float)(coarse->bins - 1);
		if (votes[bin] + votes[bin + 1] <= best)
			continue;
		best = votes[bin] + votes[bin + 1];
		at = bin;
	}
	for (uint32_t bin = 0; bin + 1 < coarse->bins; bin++)
		if ((bin + 2 < at || bin > at + 2) && votes[bin] + votes[bin + 1] > second)
			second = votes[bin] + votes[bin + 1];
	best -= mean;
	second -= mean;
	return (struct peak){ best >= VOTES && best >= PROMINENCE * second ? best : 0,
			      ((int64_t)at + 1) * (int64_t)coarse->grain - (int64_t)coarse->reach };
}

static void find_peaks(struct coarse *coarse)
{
	for (uint32_t low = 0; low < coarse->cpus; low++)
		for (uint32_t high = low + 1; high < coarse->cpus; high++) {
			size_t at = (size_t)low * coarse->cpus + high;

			coarse->peak[at] = find_peak(coarse, &coarse->votes[at * coarse->bins]);
		}
}

/* The surest distance between a CPU that is done and one that is not; false if there is none. */
static bool reach_further(const struct coarse *coarse, int64_t *forward)
{
	uint32_t reached = 0;
	int64_t by = 0;
	float best = 0;

	for (uint32_t low = 0; low < coarse->cpus; low++)
		for (uint32_t high = low + 1; high < coarse->cpus; high++) {
			const struct peak *peak = &coarse->peak[(size_t)low * coarse->cpus + high];

			if ((forward[low] == INT64_MAX) == (forward[high] == INT64_MAX) ||
			    peak->votes <= best)
				continue;
			best = peak->votes;
			reached = forward[low] == INT64_MAX ? low : high;
			by = reached == high ? forward[low] - peak->ahead : forward[high] + peak->ahead;
		}
	if (best > 0)
		forward[reached] = by;
	return best > 0;
}

void coarse_solve(struct coarse *coarse, int64_t *forward)
{
	memset(coarse->votes, 0, (size_t)coarse->cpus * coarse->cpus * coarse->bins * sizeof(*coarse->votes));
	qsort(coarse->causes.mark, coarse->causes.count, sizeof(struct mark), by_key_and_stamp);
	for (uint32_t i = 0; i < coarse->effects.count; i++)
		vote(coarse, &coarse->effects.mark[i]);
	for (uint32_t cpu = 0; cpu < coarse->cpus; cpu++)
		forward[cpu] = cpu == 0 ? 0 : INT64_MAX;
	find_peaks(coarse);
	while (reach_further(coarse, forward))
		;
	coarse->causes.count = coarse->effects.count = 0;
	memset(coarse->causes.seen, 0, sizeof(coarse->causes.seen));
	memset(coarse->effects.seen, 0, sizeof(coarse->effects.seen));
}
