/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Compares the steps of the two threads of a pair. */
#include <stdlib.h>

#include "base/grow.h"
#include "diff/pairs.h"

#define END_MOST 8u /* maximum number of steps that record the end of a thread */
/* maximum number of steps that a thread may lack because another thread ended it earlier */
#define KILL_MOST 16u

/* One thread of a pair: all steps that are compared, and the steps that have no counterpart (singles). */
struct side {
	const struct diff_trace *trace;
	const struct diff_thread *thread;
	uint32_t *step; /* array of the indices of the compared steps */
	uint64_t *key;
	uint32_t count;
	struct single {
		uint64_t key, at; /* `at`: timestamp in the first trace */
		uint32_t step, place;
		bool early; /* the other trace may have ended before this step */
	} * single;
	uint32_t singles;
};

struct diff_item *pairs_item(struct diff_result *result, enum diff_what what, uint64_t at)
{
	struct diff_item *grown =
		base_grow(result->item, &result->room, (size_t)result->items + 1, sizeof(*grown));

	if (!grown) {
		result->out_of_memory = true;
		return NULL;
	}
	result->item = grown;
	grown = &result->item[result->items++];
	*grown = (struct diff_item){ .what = (uint8_t)what,
				     .at = at,
				     .thread = { DIFF_NONE, DIFF_NONE },
				     .step = { DIFF_NONE, DIFF_NONE },
				     .steps = 1 };
	result->count[what]++;
	return grown;
}

void pairs_item_step(struct diff_item *item, const struct pairs *pairs, int which, uint32_t n)
{
	const struct diff_step *step = &pairs->trace[which]->step[n];

	item->step[which] = n;
	item->thread[which] = step->thread;
	item->event[which] = (struct diff_event){ .known = true, .ring = step->ring, .slot = step->slot };
}

bool pairs_is_noise(struct pairs *pairs, const struct diff_trace *trace, const struct diff_step *step)
{
	const struct diff_kind *kind = &trace->kind[step->kind];
	/* Whether the program or a kernel thread does such work depends on timing. */
	const bool shared = step->inside && kind->served;

	/*
	 * The comparison is mainly about system calls. So if one trace does not record a kind of system call,
	 * the result is undecided.
	 */
	pairs->result->undecided += kind->excluded && kind->call;
	pairs->result->noise[DIFF_NOISE_ALONE] += kind->excluded;
	pairs->result->noise[DIFF_NOISE_LOCK] += !kind->excluded && kind->sync;
	pairs->result->noise[DIFF_NOISE_SIGNAL] += step->interrupted || kind->handled;
	pairs->result->noise[DIFF_NOISE_ORDER] += shared;
	return kind->excluded || kind->sync || step->interrupted || kind->handled || shared;
}

static bool collect(struct side *side, struct pairs *pairs, int which, uint32_t thread)
{
	*side = (struct side){ .trace = pairs->trace[which], .thread = &pairs->trace[which]->thread[thread] };
	side->step = malloc(((size_t)side->thread->steps + 1) * sizeof(*side->step));
	side->key = malloc(((size_t)side->thread->steps + 1) * sizeof(*side->key));
	side->single = malloc(((size_t)side->thread->steps + 1) * sizeof(*side->single));
	if (!side->step || !side->key || !side->single)
		return false;
	for (uint32_t n = 0; n < side->thread->steps; n++) {
		const struct diff_step *step = diff_step_of(side->trace, side->thread, n);

		if (pairs_is_noise(pairs, side->trace, step))
			continue;
		side->step[side->count] = side->trace->order[side->thread->first + n];
		side->key[side->count++] = step->key;
	}
	return true;
}

static void drop(struct side *side)
{
	free(side->step);
	free(side->key);
	free(side->single);
}

static uint64_t stamp_of(const struct side *side, uint32_t n)
{
	return side->trace->step[side->step[n]].stamp;
}

/*
 * A block: adjacent steps of each thread that have no counterpart, from index `from` up to but not including
 * `to`.
 */
struct block {
	uint32_t from[2], to[2];
};

/* Returns whether the counterparts of steps in the block may be in a missing part of a trace. */
static bool is_undecided(struct side *const side[2], const struct block *block)
{
	for (int which = 0; which < 2; which++) {
		const struct side *of = side[which];
		const uint64_t before = block->from[which] ? stamp_of(of, block->from[which] - 1) : 0;
		const uint64_t after =
			block->to[which] < of->count ? stamp_of(of, block->to[which]) : UINT64_MAX;

		if (diff_trace_gap_between(of->trace, before, after))
			return true;
	}
	return false;
}

/* Returns for how many ticks the thread has slept when its trace ends; 0 if it does not sleep. */
static uint64_t sleeps_at_end(const struct side *side)
{
	const struct diff_thread *thread = side->thread;

	return thread->wait != DIFF_NONE ? side->trace->end - side->trace->wait[thread->wait].stamp : 0;
}

/*
 * Returns whether the thread of `side` lacks steps only because its trace ends too early. Returns false if
 * the thread has ended, or if it sleeps at the end of its trace for more than twice the time that the thread
 * of the other trace needed from the step before `next` to the step `next`.
 */
static bool ends_too_early(const struct side *side, const struct side *other, uint32_t next)
{
	const uint64_t slept = sleeps_at_end(side);
	const uint64_t before = next ? stamp_of(other, next - 1) : other->trace->begin;

	if (side->thread->ended)
		return false;
	return slept == 0 || slept / 2 <= stamp_of(other, next) - before;
}

/*
 * Returns whether other threads may have ended both threads in the same way. What a thread does last then
 * depends on timing. If so, counts the `steps` steps that only one of the threads has. They count as noise if
 * they are few and both traces show what ended the threads; otherwise as undecided.
 */
static bool take_killed(struct pairs *pairs, struct side *const side[2], uint32_t steps)
{
	const enum diff_end end[2] = { diff_end_of(side[0]->trace, side[0]->thread),
				       diff_end_of(side[1]->trace, side[1]->thread) };

	if (!side[0]->thread->calls && !side[1]->thread->calls)
		return false;
	if (end[0] == DIFF_END_ITSELF || end[1] == DIFF_END_ITSELF ||
	    side[0]->thread->signal != side[1]->thread->signal)
		return false;
	if (end[0] == DIFF_END_BY_OTHER && end[1] == DIFF_END_BY_OTHER && steps <= KILL_MOST)
		pairs->result->noise[DIFF_NOISE_SIGNAL] += steps;
	else
		pairs->result->undecided += steps;
	return true;
}

/*
 * Returns whether a thread makes no call from step `from` on. The few steps that are left may record the
 * thread's end.
 */
static bool is_at_end(const struct side *side, uint32_t from)
{
	if (side->count - from > END_MOST)
		return false;
	for (uint32_t n = from; n < side->count; n++)
		if (side->trace->kind[side->trace->step[side->step[n]].kind].call)
			return false;
	return true;
}

static void add_singles(struct side *const side[2], const struct block *block, bool early)
{
	const uint64_t at =
		block->from[0] < side[0]->count ? stamp_of(side[0], block->from[0]) : side[0]->trace->end;

	for (int which = 0; which < 2; which++)
		for (uint32_t n = block->from[which]; n < block->to[which]; n++)
			side[which]->single[side[which]->singles++] =
				(struct single){ .key = side[which]->key[n],
						 .at = which == 0 ? stamp_of(side[0], n) : at,
						 .step = side[which]->step[n],
						 .place = n,
						 .early = early };
}

/*
 * Counts the steps of a block, or adds them to the singles. Returns whether one of the threads has stopped at
 * the block, while the other thread continues.
 */
static bool take_block(struct pairs *pairs, struct side *const side[2], const struct block *block)
{
	const uint32_t length[2] = { block->to[0] - block->from[0], block->to[1] - block->from[1] };
	const bool last = block->to[0] == side[0]->count && block->to[1] == side[1]->count;
	const bool tail = last && (length[0] == 0 || length[1] == 0);
	bool early = false;

	if (length[0] + length[1] == 0)
		return false;
	if (is_undecided(side, block)) {
		pairs->result->undecided += length[0] + length[1];
		return false;
	}
	if ((length[0] == 0 || length[1] == 0) && is_at_end(side[0], block->to[0]) &&
	    is_at_end(side[1], block->to[1]) && take_killed(pairs, side, length[0] + length[1]))
		return false;
	if (last && length[1] == 0)
		early |= ends_too_early(side[1], side[0], block->from[0]);
	if (last && length[0] == 0)
		early |= ends_too_early(side[0], side[1], block->from[1]);
	/* Both threads have ended themselves. Only the steps that record the end are missing. */
	if (early && side[0]->thread->leaves && side[1]->thread->leaves &&
	    is_at_end(side[0], block->from[0]) && is_at_end(side[1], block->from[1])) {
		pairs->result->noise[DIFF_NOISE_ORDER] += length[0] + length[1];
		return false;
	}
	add_singles(side, block, early);
	return tail && !early;
}

/* ---- Steps without a counterpart: missing, extra, or at another place ---- */

static int by_key(const void *a, const void *b)
{
	const struct single *first = a, *second = b;

	if (first->key != second->key)
		return first->key < second->key ? -1 : 1;
	return first->place < second->place ? -1 : first->place > second->place;
}

static int by_place(const void *a, const void *b)
{
	const struct single *first = a, *second = b;

	return first->place < second->place ? -1 : first->place > second->place;
}

/*
 * Returns whether the threads are servers: kernel threads that several threads wake, or programs that wait
 * for any of several files. The order of a server's steps is the order in which requests arrive, and a server
 * may handle several requests at once.
 */
static bool is_server(struct side *const side[2])
{
	const struct diff_thread *first = side[0]->thread, *second = side[1]->thread;

	if (first->calls || second->calls)
		return first->polls || second->polls;
	return first->serves || second->serves;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return first < second ? -1 : first > second;
}

/* Removes the steps of a server that the other trace has as well, at any place and any number of times. */
static void drop_served(struct pairs *pairs, struct side *const side[2])
{
	for (int which = 0; which < 2; which++)
		qsort(side[which]->key, side[which]->count, sizeof(uint64_t), by_number);
	for (int which = 0; which < 2; which++) {
		uint32_t kept = 0;

		for (uint32_t n = 0; n < side[which]->singles; n++) {
			const struct single *single = &side[which]->single[n];

			if (bsearch(&single->key, side[!which]->key, side[!which]->count, sizeof(uint64_t),
				    by_number))
				pairs->result->noise[DIFF_NOISE_ORDER]++;
			else
				side[which]->single[kept++] = *single;
		}
		side[which]->singles = kept;
	}
}

/* Removes the steps that the other trace may lack because it ends too early. They count as undecided. */
static void drop_early(struct pairs *pairs, struct side *const side[2])
{
	for (int which = 0; which < 2; which++) {
		uint32_t kept = 0;

		for (uint32_t n = 0; n < side[which]->singles; n++)
			if (side[which]->single[n].early)
				pairs->result->undecided++;
			else
				side[which]->single[kept++] = side[which]->single[n];
		side[which]->singles = kept;
	}
}

static void add_reordered(struct pairs *pairs, const struct single *first, const struct single *second)
{
	struct diff_item *item =
		pairs_item(pairs->result, DIFF_REORDERED, first->at < second->at ? first->at : second->at);

	if (!item)
		return;
	item->kind = pairs->trace[0]->step[first->step].kind;
	pairs_item_step(item, pairs, 0, first->step);
	pairs_item_step(item, pairs, 1, second->step);
	pairs->match[first->step] = second->step;
}

/*
 * Adds an item DIFF_REORDERED for each step that both traces have, but at different places. Removes these
 * steps from the steps that only one trace has.
 */
static void find_reordered(struct pairs *pairs, struct side *const side[2])
{
	uint32_t at[2] = { 0, 0 }, kept[2] = { 0, 0 };

	for (int which = 0; which < 2; which++)
		qsort(side[which]->single, side[which]->singles, sizeof(struct single), by_key);
	while (at[0] < side[0]->singles || at[1] < side[1]->singles) {
		const struct single *first = at[0] < side[0]->singles ? &side[0]->single[at[0]] : NULL;
		const struct single *second = at[1] < side[1]->singles ? &side[1]->single[at[1]] : NULL;

		if (first && second && first->key == second->key) {
			add_reordered(pairs, first, second);
			at[0]++;
			at[1]++;
		} else if (first && (!second || first->key < second->key)) {
			side[0]->single[kept[0]++] = side[0]->single[at[0]++];
		} else {
			side[1]->single[kept[1]++] = side[1]->single[at[1]++];
		}
	}
	for (int which = 0; which < 2; which++) {
		side[which]->singles = kept[which];
		qsort(side[which]->single, kept[which], sizeof(struct single), by_place);
	}
}

/* Adds one item for each series of consecutive steps. */
static void add_runs(struct pairs *pairs, struct side *const side[2], int which, bool served)
{
	const enum diff_what what = which == 0 ? DIFF_MISSING : DIFF_EXTRA;
	struct diff_item *item = NULL;

	for (uint32_t n = 0; n < side[which]->singles; n++) {
		const struct single *single = &side[which]->single[n];
		const struct diff_step *step = &side[which]->trace->step[single->step];

		const bool common = served && pairs_kind_count(pairs->trace[!which],
							       &side[which]->trace->kind[step->kind]) > 0;

		if (n > 0 && item && item->served == common && single->place == single[-1].place + 1) {
			item->steps++;
			pairs->result->count[what]++;
			continue;
		}
		item = pairs_item(pairs->result, what, single->at);
		if (!item)
			return;
		item->kind = step->kind;
		item->served = common;
		pairs_item_step(item, pairs, which, single->step);
		item->thread[!which] = side[which]->thread->peer;
	}
}

static void compare_aligned(struct pairs *pairs, struct side *const side[2], const uint32_t *pair)
{
	const bool kernel = !side[0]->thread->calls && !side[1]->thread->calls;
	struct pairs_files files = { .is = { 1, 2, 3 }, .served = is_server(side) };
	struct block block = { { 0, 0 }, { 0, 0 } };
	bool stopped = false;

	for (uint32_t n = 0; n <= side[0]->count; n++) {
		if (n < side[0]->count && pair[n] == SEQUENCE_NONE)
			continue;
		block.to[0] = n;
		block.to[1] = n < side[0]->count ? pair[n] : side[1]->count;
		stopped = take_block(pairs, side, &block);
		if (n < side[0]->count)
			pairs_values(pairs, &files, side[0]->step[n], side[1]->step[pair[n]]);
		block.from[0] = block.to[0] + 1;
		block.from[1] = block.to[1] + 1;
	}
	/* If a server has stopped, each missing step is a difference. */
	if (files.served && !stopped)
		drop_served(pairs, side);
	drop_early(pairs, side);
	find_reordered(pairs, side);
	add_runs(pairs, side, 0, kernel && files.served && !stopped);
	add_runs(pairs, side, 1, kernel && files.served && !stopped);
}

int pairs_steps(struct pairs *pairs, uint32_t first, uint32_t second)
{
	struct side a, b, *const side[2] = { &a, &b };
	uint32_t *pair = NULL;
	int status = KTREAD_E_MEMORY;
	const bool collected = collect(&a, pairs, 0, first) & collect(&b, pairs, 1, second);

	if (collected)
		pair = malloc(((size_t)a.count + 1) * sizeof(*pair));
	if (pair && sequence_align(a.key, a.count, b.key, b.count, pair) == 0) {
		compare_aligned(pairs, side, pair);
		status = 0;
	}
	free(pair);
	drop(&a);
	drop(&b);
	return status;
}
