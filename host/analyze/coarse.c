/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/align.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/v2.h"

/* maximum number of marks (causes and effects) that are stored */
#define MARKS	   16384u
#define CANDIDATES 512u /* maximum number of marks that are stored for each hash of a key */
#define KEYS	   1024u
#define BIT_KEY	   (UINT64_C(1) << 40)
/* the best distance needs this many times the votes of every other distance */
#define PROMINENCE 1.5f
/*
 * used instead of PROMINENCE to compare the best distance with two distances that differ from it by the same
 * amount: a larger one and a smaller one
 */
#define EVEN_PROMINENCE 1.2f
/* for two CPUs whose events alternate: number of pairs of events for one vote */
#define IN_TURN 16.0f
#define VOTES	1.0f /* minimum number of votes for a result */
#define UNKNOWN HUGE_VAL

/* A cause or an effect. */
struct mark {
	uint64_t key;
	uint64_t stamp;
	uint32_t cpu;
};

struct marks {
	struct mark mark[MARKS];
	uint32_t count;
	/*
	 * indexed by the hash of the key: number of marks so far, including those that were not stored. Only
	 * the first CANDIDATES marks of a hash are stored, so that frequent keys leave room for others.
	 */
	uint32_t seen[KEYS];
	/*
	 * indexed by the hash of the key: timestamp of the first mark that was left out; 0 if none was left
	 * out
	 */
	uint64_t cut[KEYS];
};

/* The distance that most effects vote for. */
struct peak {
	/* number of votes for it, minus the mean; 0 if no distance clearly has the most votes */
	float votes;
	double distance; /* number of bins by which the CPU's clock is ahead of CPU 0's clock */
};

/* Votes for the distances that belong to one bin. */
struct bin {
	float votes;
	/* sum of vote * position, over all votes; a position is the distance's place in the bin, 0 to 1 */
	float within;
};

/* Votes of all CPUs with a known clock for the distance of one more CPU. */
struct sum {
	float votes;
	/*
	 * sum of vote * distance, over all votes; a distance is the number of bins by which the clock is
	 * ahead of CPU 0's clock
	 */
	float distance;
};

struct coarse {
	uint32_t cpus;
	uint64_t reach, grain;
	uint32_t bins;	 /* number of bins of each pair of CPUs; the middle bin begins at distance 0 */
	struct bin *bin; /* votes; the indices are from * cpus + to, with from < to, and the bin */
	struct sum *sum; /* indexed by bin: scratch memory for the votes of all CPUs */
	struct marks causes, effects;
	uint64_t begun; /* timestamp of the first event of the current estimate; 0: there was none yet */
};

struct coarse *coarse_create(uint32_t cpus, uint64_t reach, uint64_t grain)
{
	struct coarse *coarse = calloc(1, sizeof(*coarse));

	if (!coarse)
		return NULL;
	coarse->cpus = cpus;
	coarse->grain = grain ? grain : 1;
	coarse->reach = (reach / coarse->grain + 1) * coarse->grain;
	coarse->bins = 2 * (uint32_t)(coarse->reach / coarse->grain) + 1;
	coarse->bin = malloc((size_t)cpus * cpus * coarse->bins * sizeof(*coarse->bin));
	coarse->sum = malloc((size_t)(cpus + 1) * (coarse->bins + 2) * sizeof(*coarse->sum));
	if (coarse->bin && coarse->sum)
		return coarse;
	coarse_destroy(coarse);
	return NULL;
}

void coarse_destroy(struct coarse *coarse)
{
	if (!coarse)
		return;
	free(coarse->bin);
	free(coarse->sum);
	free(coarse);
}

static uint32_t hash(uint64_t key)
{
	return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 54);
}

_Static_assert(KEYS == UINT64_C(1) << (64 - 54), "a place for every hash");

static void put(struct marks *marks, uint64_t key, const struct ktread_event *event)
{
	const uint32_t at = hash(key);

	if (marks->count == MARKS)
		return;
	if (marks->seen[at]++ < CANDIDATES)
		marks->mark[marks->count++] = (struct mark){ key, event->stamp, event->cpu };
	else if (marks->cut[at] == 0)
		marks->cut[at] = event->stamp;
}

/* The key of an interrupt is its target CPU; reasons are not distinguished. */
int coarse_event(struct coarse *coarse, const struct ktread_event *event, const struct wellknown *known)
{
	uint32_t thread;
	uint64_t key;

	if (coarse->begun == 0)
		coarse->begun = event->stamp;
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

/*
 * Returns the index of the first cause that, in order of key and timestamp, is not before `key` and `stamp`.
 */
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
	int64_t ahead = (int64_t)(effect->stamp - cause->stamp), at;
	uint32_t low = cause->cpu, high = effect->cpu;
	struct bin *bin;

	if (low > high) {
		low = effect->cpu;
		high = cause->cpu;
		ahead = -ahead;
	}
	at = ahead + (int64_t)coarse->reach;
	bin = &coarse->bin[((size_t)low * coarse->cpus + high) * coarse->bins +
			   (size_t)(at / (int64_t)coarse->grain)];
	bin->votes += weight;
	bin->within += weight * (float)(at % (int64_t)coarse->grain) / (float)coarse->grain;
}

/*
 * Votes for the distances from an effect to its possible causes. The effect does not vote if one of its
 * possible causes was left out.
 */
static void vote(struct coarse *coarse, const struct mark *effect)
{
	uint64_t begin = effect->stamp > coarse->reach ? effect->stamp - coarse->reach : 0;
	uint64_t cut = coarse->causes.cut[hash(effect->key)];
	uint32_t first = find(&coarse->causes, effect->key, begin);
	uint32_t end = find(&coarse->causes, effect->key, effect->stamp + coarse->reach);

	if (cut != 0 && effect->stamp + coarse->reach > cut)
		return;
	for (uint32_t i = first; i < end; i++)
		if (coarse->causes.mark[i].cpu != effect->cpu)
			vote_for(coarse, &coarse->causes.mark[i], effect, 1.0f / (float)(end - first));
}

/*
 * Returns the sum of the votes of a bin and of the next bin, because the true distance may be on their
 * border. Returns 0 outside of the bins.
 */
static float around(const struct sum *sum, int64_t bins, int64_t bin)
{
	return bin < 0 || bin + 1 >= bins ? 0 : sum[bin].votes + sum[bin + 1].votes;
}

/* Returns the highest number of votes among the bins at most two bins from `bin`. */
static float most_near(const struct sum *sum, int64_t bins, int64_t bin)
{
	float most = 0;

	for (int64_t at = bin - 2; at <= bin + 2; at++)
		if (around(sum, bins, at) > most)
			most = around(sum, bins, at);
	return most;
}

/* ---- Votes of frequent keys --------------------------------------------------------------------- */

/*
 * Returns how many marks from `mark` on have the same key; marks are sorted by key. Returns 0 if they are of
 * several CPUs, or if `mark` is less than `reach` after the beginning.
 */
static uint32_t in_a_row(const struct coarse *coarse, const struct mark *mark, const struct mark *end)
{
	uint32_t count = 0;

	while (mark + count < end && mark[count].key == mark->key)
		if (mark[count++].cpu != mark->cpu)
			return 0;
	return count == 0 || mark->stamp < coarse->begun + coarse->reach ? 0 : count;
}

static int by_size(const void *a, const void *b)
{
	const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/*
 * Votes for two CPUs whose events alternate: the effect of the n-th cause is the n-th effect. The vote goes
 * to the median distance, if three quarters of the pairs agree with it and clocks may be that far apart.
 */
static void vote_in_turn(struct coarse *coarse, const struct mark *cause, const struct mark *effect,
			 uint32_t count)
{
	int64_t apart[CANDIDATES], middle;
	uint32_t alike = 0;
	struct mark usual = *cause;

	for (uint32_t i = 0; i < count; i++)
		apart[i] = (int64_t)(effect[i].stamp - cause[i].stamp);
	qsort(apart, count, sizeof(*apart), by_size);
	middle = apart[count / 2];
	for (uint32_t i = 0; i < count; i++)
		alike += llabs(apart[i] - middle) < (int64_t)coarse->grain;
	if (alike < count / 4 * 3 || llabs(middle) >= (int64_t)coarse->reach)
		return;
	usual.stamp = effect->stamp - (uint64_t)middle;
	vote_for(coarse, &usual, effect, (float)alike / IN_TURN);
}

/*
 * Adds the votes of frequent keys, because vote() skips effects if some of their possible causes were left
 * out.
 */
static void vote_by_turns(struct coarse *coarse)
{
	const struct mark *effects_end = coarse->effects.mark + coarse->effects.count;
	const struct mark *causes_end = coarse->causes.mark + coarse->causes.count;

	for (const struct mark *effect = coarse->effects.mark; effect < effects_end; effect++) {
		const struct mark *cause = coarse->causes.mark + find(&coarse->causes, effect->key, 0);
		uint32_t count, causes;

		if ((effect > coarse->effects.mark && effect[-1].key == effect->key) || cause == causes_end ||
		    cause->key != effect->key || cause->cpu == effect->cpu ||
		    coarse->causes.cut[hash(effect->key)] == 0)
			continue;
		count = in_a_row(coarse, effect, effects_end);
		causes = in_a_row(coarse, cause, causes_end);
		count = causes < count ? causes : count;
		if (count >= IN_TURN)
			vote_in_turn(coarse, cause, effect, count);
	}
}

/* ---- The true distance -------------------------------------------------------------------------- */

/*
 * Finds the distance with the most votes. Votes are compared after the mean is subtracted. The best distance
 * needs PROMINENCE times the votes of every other distance. Periodic causes give votes to distances one
 * period above and below the true one. Against such a pair the best distance needs only EVEN_PROMINENCE times
 * the votes.
 */
static struct peak find_peak(const struct sum *sum, int64_t bins)
{
	float best = 0, mean = 0;
	int64_t at = 0;

	for (int64_t bin = 0; bin + 1 < bins; bin++) {
		mean += around(sum, bins, bin) / (float)(bins - 1);
		if (around(sum, bins, bin) > best) {
			best = around(sum, bins, bin);
			at = bin;
		}
	}
	for (int64_t bin = 0; bin + 1 < bins; bin++) {
		const float other = around(sum, bins, bin) - mean;
		const bool is_image = most_near(sum, bins, 2 * at - bin) - mean > other / 2;

		if (llabs(bin - at) > 2 && best - mean < (is_image ? EVEN_PROMINENCE : PROMINENCE) * other)
			best = 0;
	}
	if (best - mean < VOTES)
		return (struct peak){ .votes = 0 };
	return (struct peak){ best - mean, (sum[at].distance + sum[at + 1].distance) / best };
}

/*
 * Sums, for each distance of this CPU's clock from CPU 0's, the votes of this CPU's pairs with all CPUs
 * whose clock is known.
 */
static void add_up(struct coarse *coarse, const double *behind, uint32_t cpu, int64_t limit)
{
	const int64_t bins = coarse->bins, middle = coarse->bins / 2;

	memset(coarse->sum, 0, (size_t)(2 * limit + 1) * sizeof(*coarse->sum));
	for (uint32_t other = 0; other < coarse->cpus; other++) {
		const uint32_t low = other < cpu ? other : cpu, high = other < cpu ? cpu : other;
		const struct bin *from = &coarse->bin[((size_t)low * coarse->cpus + high) * coarse->bins];
		const int64_t shift = behind[other] == UNKNOWN ? 0 : llround(behind[other]);

		for (int64_t bin = 0; behind[other] != UNKNOWN && bin < bins; bin++) {
			const int64_t ahead = other == low ? bin - middle : middle - 1 - bin;
			const float exact = (float)(bin - middle) * from[bin].votes + from[bin].within;
			struct sum *to = &coarse->sum[limit + ahead - shift];

			to->votes += from[bin].votes;
			to->distance +=
				(other == low ? exact : -exact) - (float)behind[other] * from[bin].votes;
		}
	}
}

/*
 * Determines the offset of the clock of one more CPU: the CPU for whose offset most pairs of events vote.
 * Returns false if no CPU has enough votes.
 */
static bool reach_further(struct coarse *coarse, double *behind)
{
	double limit = 0, by = 0;
	uint32_t reached = 0;
	float best = 0;
	int64_t bins;

	for (uint32_t cpu = 0; cpu < coarse->cpus; cpu++)
		if (behind[cpu] != UNKNOWN && fabs(behind[cpu]) > limit)
			limit = fabs(behind[cpu]);
	bins = llround(limit) + coarse->bins / 2 + 1;
	for (uint32_t cpu = 0; cpu < coarse->cpus; cpu++) {
		struct peak peak;

		if (behind[cpu] != UNKNOWN)
			continue;
		add_up(coarse, behind, cpu, bins);
		peak = find_peak(coarse->sum, 2 * bins + 1);
		if (peak.votes <= best)
			continue;
		best = peak.votes;
		reached = cpu;
		by = -peak.distance;
	}
	if (best > 0)
		behind[reached] = by;
	return best > 0;
}

static void forget(struct marks *marks)
{
	marks->count = 0;
	memset(marks->seen, 0, sizeof(marks->seen));
	memset(marks->cut, 0, sizeof(marks->cut));
}

static void take_votes(struct coarse *coarse)
{
	memset(coarse->bin, 0, (size_t)coarse->cpus * coarse->cpus * coarse->bins * sizeof(*coarse->bin));
	if (coarse->causes.count == 0 || coarse->effects.count == 0)
		return;
	qsort(coarse->causes.mark, coarse->causes.count, sizeof(struct mark), by_key_and_stamp);
	qsort(coarse->effects.mark, coarse->effects.count, sizeof(struct mark), by_key_and_stamp);
	for (uint32_t i = 0; i < coarse->effects.count; i++)
		vote(coarse, &coarse->effects.mark[i]);
	vote_by_turns(coarse);
}

void coarse_solve(struct coarse *coarse, int64_t *forward)
{
	double behind[COARSE_CPUS];

	take_votes(coarse);
	for (uint32_t cpu = 0; cpu < coarse->cpus; cpu++)
		behind[cpu] = cpu == 0 ? 0 : UNKNOWN;
	while (reach_further(coarse, behind))
		;
	for (uint32_t cpu = 0; cpu < coarse->cpus; cpu++)
		forward[cpu] =
			behind[cpu] == UNKNOWN ? INT64_MAX : llround(behind[cpu] * (double)coarse->grain);
	forget(&coarse->causes);
	forget(&coarse->effects);
	coarse->begun = 0;
}
