/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Compares two traces: pairs their threads, compares the steps of each pair, and then the durations of
 * calls.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/pairs.h"

/* ---- Pairs of threads ---- */

/*
 * Pairs threads. A thread is identified by its name, by its parent, and by the number of threads with the
 * same name that the parent had created before. Threads without a known parent are identified by their names
 * and by the order of their ids.
 */

/* maximum number of generations; threads of later generations are treated like threads without a parent */
#define DEPTH_MOST 64u

struct identity {
	uint64_t key;
	uint32_t nth, thread;
	uint32_t depth;
};

static void find_depths(const struct diff_trace *trace, struct identity *of)
{
	for (uint32_t n = 0; n < trace->threads; n++) {
		uint32_t depth = 0, at = n;

		while (trace->thread[at].parent != DIFF_NONE && depth < DEPTH_MOST) {
			at = trace->thread[at].parent;
			depth++;
		}
		of[n] = (struct identity){ .thread = n, .depth = depth < DEPTH_MOST ? depth : 0 };
		of[n].nth = of[n].depth ? trace->thread[n].nth : trace->thread[n].id;
	}
}

static int by_key(const void *a, const void *b)
{
	const struct identity *first = a, *second = b;

	if (first->key != second->key)
		return first->key < second->key ? -1 : 1;
	if (first->nth != second->nth)
		return first->nth < second->nth ? -1 : 1;
	return first->thread < second->thread ? -1 : first->thread > second->thread;
}

/* Numbers the threads of one generation that have the same key, and adds these numbers to the keys. */
static void number_generation(struct diff_trace *trace, struct identity *of, struct identity *sorted,
			      uint32_t depth)
{
	uint32_t count = 0, same = 0;

	for (uint32_t n = 0; n < trace->threads; n++)
		if (of[n].depth == depth)
			sorted[count++] = of[n];
	qsort(sorted, count, sizeof(*sorted), by_key);
	for (uint32_t n = 0; n < count; n++) {
		same = n > 0 && sorted[n].key == sorted[n - 1].key ? same + 1 : 0;
		of[sorted[n].thread].key = base_hash(sorted[n].key, same);
		trace->thread[sorted[n].thread].guessed = depth == 0 && same > 0;
		if (depth == 0 && same == 1)
			trace->thread[sorted[n - 1].thread].guessed = true;
	}
}

static struct identity *identify(struct diff_trace *trace)
{
	struct identity *of = calloc((size_t)trace->threads + 1, sizeof(*of));
	struct identity *sorted = calloc((size_t)trace->threads + 1, sizeof(*of));
	uint32_t deepest = 0;

	if (!of || !sorted) {
		free(of);
		free(sorted);
		return NULL;
	}
	find_depths(trace, of);
	for (uint32_t n = 0; n < trace->threads; n++)
		deepest = of[n].depth > deepest ? of[n].depth : deepest;
	for (uint32_t depth = 0; depth <= deepest; depth++) {
		for (uint32_t n = 0; n < trace->threads; n++) {
			const struct diff_thread *thread = &trace->thread[n];

			if (of[n].depth == depth)
				of[n].key = base_hash_text(depth ? of[thread->parent].key
								 : base_hash(0, thread->cpu),
							   thread->name);
		}
		number_generation(trace, of, sorted, depth);
	}
	free(sorted);
	return of;
}

static void join(struct diff_trace *const trace[2], uint32_t first, uint32_t second)
{
	trace[0]->thread[first].peer = second;
	trace[1]->thread[second].peer = first;
}

static int pair_by_key(struct diff_trace *const trace[2], struct identity *const of[2])
{
	struct base_index index = { 0 };
	int status = 0;

	for (uint32_t n = 0; n < trace[1]->threads && status == 0; n++)
		status = base_index_add(&index, of[1][n].key, n);
	for (uint32_t n = 0; n < trace[0]->threads && status == 0; n++) {
		uint32_t row;

		for (uint32_t probe = 0; base_index_next(&index, of[0][n].key, &probe, &row);)
			if (of[1][row].key == of[0][n].key && trace[1]->thread[row].peer == DIFF_NONE) {
				join(trace, n, row);
				break;
			}
	}
	base_index_free(&index);
	return status ? KTREAD_E_MEMORY : 0;
}

/*
 * Pairs threads with different names whose parents are a pair, if both are the n-th thread that their parents
 * created.
 */
static void pair_children(struct diff_trace *const trace[2])
{
	uint32_t from = 0;

	for (uint32_t n = 0; n < trace[0]->threads; n++) {
		const struct diff_thread *thread = &trace[0]->thread[n];
		uint32_t parent =
			thread->parent != DIFF_NONE ? trace[0]->thread[thread->parent].peer : DIFF_NONE;

		if (thread->peer != DIFF_NONE || parent == DIFF_NONE)
			continue;
		/*
		 * The children of a thread are usually adjacent, so the search starts at the child that was
		 * found last.
		 */
		for (uint32_t tried = 0; tried < trace[1]->threads; tried++) {
			const uint32_t at = (from + tried) % trace[1]->threads;
			const struct diff_thread *other = &trace[1]->thread[at];

			if (other->peer == DIFF_NONE && other->parent == parent &&
			    other->nth == thread->nth) {
				join(trace, n, at);
				from = at;
				break;
			}
		}
	}
}

/*
 * If each trace has only one thread left without a pair and without a parent, pairs these two: the program
 * may have been renamed.
 */
static void pair_rest(struct diff_trace *const trace[2])
{
	uint32_t left[2] = { DIFF_NONE, DIFF_NONE }, count[2] = { 0, 0 };

	for (int side = 0; side < 2; side++)
		for (uint32_t n = 0; n < trace[side]->threads; n++) {
			const struct diff_thread *thread = &trace[side]->thread[n];

			if (thread->peer == DIFF_NONE && thread->parent == DIFF_NONE && thread->steps) {
				left[side] = n;
				count[side]++;
			}
		}
	if (count[0] == 1 && count[1] == 1)
		join(trace, left[0], left[1]);
}

/* Pairs the threads of two traces: sets their `peer`. Returns 0 or KTREAD_E_MEMORY. */
static int pairs_threads(struct diff_trace *const trace[2])
{
	struct identity *of[2] = { identify(trace[0]), identify(trace[1]) };
	int status = of[0] && of[1] ? pair_by_key(trace, of) : KTREAD_E_MEMORY;

	free(of[0]);
	free(of[1]);
	if (status)
		return status;
	if (trace[0]->threads <= 4096 && trace[1]->threads <= 4096)
		pair_children(trace);
	pair_rest(trace);
	return 0;
}

/* ---- Durations of calls ---- */

/*
 * Finds the kinds of call that take longer in the second trace than in the first. Compares the means of the
 * logarithms of the durations by Welch's t-test. The test's confidence interval is that of the ratio of the
 * geometric means. Several kinds are compared, so each interval has a confidence of 1 - 0.05 / kinds
 * (Bonferroni); all of them together have 95 %.
 */

#define DOUBT 0.05

/*
 * Returns the quantile of the normal distribution, by formula 26.2.23 of Abramowitz and Stegun. The error is
 * below 0.00045. `above`: probability of a larger value. Requires: 0 < above <= 0.5.
 */
static double normal_quantile(double above)
{
	const double t = sqrt(-2 * log(above));

	return t - (2.515517 + t * (0.802853 + t * 0.010328)) /
			   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/*
 * Returns the quantile of Student's t-distribution, by the expansion 26.7.5 of Abramowitz and Stegun.
 * Requires: at least 20 degrees of freedom.
 */
static double student_quantile(double above, double degrees)
{
	const double z = normal_quantile(above), z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees);
}

/* Computes the confidence interval of the ratio. `above`: probability of a value above the interval. */
static void compare_samples(const struct pairs_sample *first, const struct pairs_sample *second, double above,
			    struct diff_slower *slower)
{
	const double n[2] = { (double)first->count, (double)second->count };
	const double square[2] = { first->squares / (n[0] - 1) / n[0], second->squares / (n[1] - 1) / n[1] };
	const double sum = square[0] + square[1], apart = second->mean - first->mean;
	double degrees = n[0] + n[1] - 2, half;

	if (sum > 0)
		degrees =
			sum * sum / (square[0] * square[0] / (n[0] - 1) + square[1] * square[1] / (n[1] - 1));
	half = student_quantile(above, degrees) * sqrt(sum);
	slower->samples[0] = first->count;
	slower->samples[1] = second->count;
	slower->mean[0] = exp(first->mean);
	slower->mean[1] = exp(second->mean);
	slower->ratio = exp(apart);
	slower->low = exp(apart - half);
	slower->high = exp(apart + half);
}

static void keep(struct diff_result *result, const struct diff_slower *slower)
{
	uint32_t at = result->slowers;

	while (at > 0 && result->slower[at - 1].low < slower->low)
		at--;
	if (at == DIFF_SLOWER)
		return;
	if (result->slowers < DIFF_SLOWER)
		result->slowers++;
	memmove(&result->slower[at + 1], &result->slower[at],
		(result->slowers - at - 1) * sizeof(result->slower[0]));
	result->slower[at] = *slower;
}

/*
 * Finds the kinds of call that take at least `percent` percent longer in the second trace than in the first.
 */
static void pairs_slower(struct pairs *pairs, uint64_t percent)
{
	struct diff_result *result = pairs->result;
	const double ticks[2] = { (double)pairs->trace[0]->frequency, (double)pairs->trace[1]->frequency };
	const double scale = ticks[0] > 0 && ticks[1] > 0 ? ticks[0] / ticks[1] : 1;
	struct diff_slower slower;

	for (uint32_t n = 0; n < pairs->trace[0]->kinds; n++) {
		const uint64_t count = pairs->sample[0][n].count;

		result->sampled += count >= DIFF_SAMPLES;
		result->too_few += count > 0 && count < DIFF_SAMPLES;
	}
	for (uint32_t n = 0; n < pairs->trace[0]->kinds; n++) {
		struct pairs_sample second = pairs->sample[1][n];

		if (pairs->sample[0][n].count < DIFF_SAMPLES)
			continue;
		second.mean += log(scale);
		compare_samples(&pairs->sample[0][n], &second, DOUBT / result->sampled / 2, &slower);
		slower.kind = n;
		if (ticks[0] > 0)
			for (int which = 0; which < 2; which++)
				slower.mean[which] *= 1e9 / ticks[0];
		if (slower.low >= 1 + (double)percent / 100)
			keep(result, &slower);
	}
}

/* ---- The comparison ---- */

/* Adds a difference for the steps of a thread that exists in only one trace. */
static void add_alone(struct pairs *pairs, int which, uint32_t n)
{
	const struct diff_trace *trace = pairs->trace[which];
	const struct diff_thread *thread = &trace->thread[n];
	const enum diff_what what = which == 0 ? DIFF_MISSING : DIFF_EXTRA;
	struct diff_item *item = NULL;
	uint32_t steps = 0;

	for (uint32_t place = 0; place < thread->steps; place++) {
		const uint32_t number = trace->order[thread->first + place];
		const struct diff_step *step = &trace->step[number];

		if (pairs_is_noise(pairs, trace, step))
			continue;
		steps++;
		/* If a part of a trace is missing, the thread's counterpart may be in the missing part. */
		if (pairs->trace[0]->gaps || pairs->trace[1]->gaps) {
			pairs->result->undecided++;
			continue;
		}
		if (steps > 1)
			continue;
		item = pairs_item(pairs->result, what, which == 0 ? step->stamp : pairs->trace[0]->end);
		if (!item)
			return;
		item->kind = step->kind;
		pairs_item_step(item, pairs, which, number);
	}
	if (item) {
		item->steps = steps;
		pairs->result->count[what] += steps - 1;
	}
}

/*
 * Returns whether two threads are paired only by the order of their ids, although threads with the same name
 * may be missing in the traces.
 */
static bool is_guess(const struct pairs *pairs, const struct diff_thread *first,
		     const struct diff_thread *second)
{
	return (first->guessed || second->guessed) && first->id != second->id &&
	       (pairs->trace[0]->gaps || pairs->trace[1]->gaps);
}

/* Compares the two threads of a pair. Returns 0 or KTREAD_E_MEMORY. */
static int compare_threads(struct pairs *pairs, uint32_t first, uint32_t second)
{
	struct diff_thread *one = &pairs->trace[0]->thread[first], *other = &pairs->trace[1]->thread[second];

	if (is_guess(pairs, one, other)) {
		one->peer = other->peer = DIFF_NONE;
		add_alone(pairs, 0, first);
		return 0;
	}
	pairs->result->threads++;
	return pairs_steps(pairs, first, second);
}

/*
 * Counts changes of order as noise: two consecutive steps of different threads in the first trace whose
 * counterparts are in the opposite order in the second trace.
 */
static void count_order(struct pairs *pairs)
{
	const struct diff_trace *trace = pairs->trace[0];
	uint32_t before = DIFF_NONE;

	for (uint32_t n = 0; n < trace->steps; n++) {
		if (pairs->match[n] == DIFF_NONE)
			continue;
		if (before != DIFF_NONE && trace->step[before].thread != trace->step[n].thread &&
		    pairs->match[n] < pairs->match[before])
			pairs->result->noise[DIFF_NOISE_ORDER]++;
		before = n;
	}
}

/* Counts gaps after the last step of a trace, because the comparison of steps does not find these gaps. */
static void count_lost_ends(struct pairs *pairs)
{
	for (int which = 0; which < 2; which++) {
		const struct diff_trace *trace = pairs->trace[which];
		const uint64_t last = trace->steps ? trace->step[trace->steps - 1].stamp : 0;

		if (diff_trace_gap_between(trace, last, UINT64_MAX))
			pairs->result->undecided++;
	}
}

/*
 * A difference in the steps of a kernel thread that works for other threads is noise, unless it affects
 * another thread.
 */
static void drop_served_items(struct diff_result *result)
{
	for (uint32_t n = 0; n < result->items; n++)
		if (!result->item[n].served)
			return;
	for (uint32_t n = 0; n < result->items; n++) {
		result->count[result->item[n].what] -= result->item[n].steps;
		result->noise[DIFF_NOISE_ORDER] += result->item[n].steps;
	}
	result->items = 0;
}

static int compare_all(struct pairs *pairs)
{
	int status = pairs_threads(pairs->trace);

	pairs_kinds(pairs->trace);
	for (uint32_t n = 0; n < pairs->trace[0]->threads && status == 0; n++) {
		const uint32_t peer = pairs->trace[0]->thread[n].peer;

		if (peer == DIFF_NONE) {
			add_alone(pairs, 0, n);
			continue;
		}
		status = compare_threads(pairs, n, peer);
	}
	for (uint32_t n = 0; n < pairs->trace[1]->threads && status == 0; n++)
		if (pairs->trace[1]->thread[n].peer == DIFF_NONE)
			add_alone(pairs, 1, n);
	if (status)
		return status;
	if (pairs->result->undecided == 0)
		count_lost_ends(pairs);
	pairs_sleepers(pairs);
	drop_served_items(pairs->result);
	count_order(pairs);
	pairs_first(pairs);
	return pairs->result->out_of_memory ? KTREAD_E_MEMORY : 0;
}

/* Returns whether durations of the two traces were measured in the same way. */
static bool is_same_form(struct diff_trace *const trace[2])
{
	bool processes[2];

	if (!trace[0]->trace || !trace[1]->trace)
		return !trace[0]->trace && !trace[1]->trace;
	for (int which = 0; which < 2; which++)
		processes[which] = ktread_info(trace[which]->trace)->form == KTREAD_FORM_PROCESSES;
	return processes[0] == processes[1];
}

int diff_compare(struct diff_trace *const trace[2], uint64_t slower, bool slower_differs,
		 struct diff_result *result)
{
	struct pairs pairs = { .trace = { trace[0], trace[1] }, .result = result };
	int status = KTREAD_E_MEMORY;

	*result = (struct diff_result){ .untimed = !is_same_form(trace), .slower_differs = slower_differs };
	pairs.match = malloc(((size_t)trace[0]->steps + 1) * sizeof(*pairs.match));
	for (int which = 0; which < 2; which++) {
		pairs.sample[which] = calloc((size_t)trace[0]->kinds + 1, sizeof(*pairs.sample[0]));
		for (int n = 0; n < DIFF_NOISES; n++)
			result->noise[n] += trace[which]->noise[n];
	}
	if (pairs.match && pairs.sample[0] && pairs.sample[1]) {
		memset(pairs.match, 0xff, (size_t)trace[0]->steps * sizeof(*pairs.match));
		status = compare_all(&pairs);
	}
	if (status == 0 && !result->untimed)
		pairs_slower(&pairs, slower);
	free(pairs.match);
	free(pairs.sample[0]);
	free(pairs.sample[1]);
	return status;
}

enum diff_verdict diff_verdict(const struct diff_result *result)
{
	if (result->items || (result->slower_differs && result->slowers))
		return DIFF_VERDICT_DIFFERS;
	return result->undecided ? DIFF_VERDICT_UNDECIDED : DIFF_VERDICT_SAME;
}
