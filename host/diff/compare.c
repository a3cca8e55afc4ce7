/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "diff/pairs.h"

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
