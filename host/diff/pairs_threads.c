/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Pairs threads. A thread is identified by its name, by its parent, and by the number of threads with the
 * same name that the parent had created before. Threads without a known parent are identified by their names
 * and by the order of their ids.
 */
#include <stdlib.h>
#include <string.h>

#include "diff/pairs.h"

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

int pairs_threads(struct diff_trace *const trace[2])
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
