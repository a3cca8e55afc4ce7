/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/sleepers.h"

#include <stdlib.h>

#include "why/pulse.h"

/*
 * Each pass takes at least one thread's hope for certain, or joins one group with another; a chain that is
 * longer has too many links to be believed.
 */
#define PASSES 64

/* The row says it best; without one, events do, but not until when. */
static bool sleeps_for_ever(const struct why_evidence *evidence, const struct why_thread *thread,
			    struct why_sleeper *sleeper)
{
	const struct ktrx_holder *row = &thread->holder;
	uint64_t queue = thread->object;

	if (thread->idle)
		return false;
	*sleeper = (struct why_sleeper){ .thread = thread, .since = thread->since };
	if (thread->has_holder && row->state != KTRX_THREAD_UNKNOWN) {
		if (row->state != KTRX_THREAD_WAITING || row->wait != KTRX_WAIT_EVENT || row->deadline)
			return false;
		queue = row->object;
		sleeper->since = row->wait_stamp ? row->wait_stamp : row->state_stamp;
		sleeper->pc = row->wait_pc;
		sleeper->told = true;
	} else if (thread->state != THREADS_SLEEPING && thread->state != THREADS_WAITING) {
		return false;
	}
	sleeper->queue = why_queue_find(evidence, queue);
	return sleeper->queue && !sleeper->queue->by_interrupt && !sleeper->queue->by_others;
}

/* The entry of a thread, NULL if it is not, or no longer, without hope. `of`: by thread, its entry + 1. */
static struct why_sleeper *entry_of(const struct why_evidence *evidence, const struct why_sleepers *sleepers,
				    const uint32_t *of, const struct why_thread *thread)
{
	uint32_t at = of[thread - evidence->thread];

	return at ? &sleepers->sleeper[at - 1] : NULL;
}

/*
 * Somebody may come who wakes it: a waker that lives. Or those who did are gone, and others may have taken
 * their place.
 */
static bool has_hope(const struct why_evidence *evidence, const struct why_sleepers *sleepers,
		     const uint32_t *of, const struct why_sleeper *sleeper)
{
	bool anybody = false;

	for (uint32_t n = 0; n < sleeper->queue->wakers; n++) {
		const struct why_thread *waker = why_thread_find(evidence, sleeper->queue->waker[n].thread);

		if (!waker) /* there is no room for it */
			return true;
		if (waker == sleeper->thread || why_is_gone(evidence, waker))
			continue;
		if (!entry_of(evidence, sleepers, of, waker))
			return true;
		anybody = true;
	}
	return !anybody;
}

/* Takes out whoever has hope. Was there anybody? */
static bool drop_hopeful(const struct why_evidence *evidence, struct why_sleepers *sleepers, uint32_t *of)
{
	bool changed = false;

	for (uint32_t n = 0; n < sleepers->count; n++) {
		struct why_sleeper *sleeper = &sleepers->sleeper[n];
		uint32_t *at = &of[sleeper->thread - evidence->thread];

		if (*at == 0 || !has_hope(evidence, sleepers, of, sleeper))
			continue;
		*at = 0;
		changed = true;
	}
	return changed;
}

/* Gives a sleeper and those whom it waits for the least number of their groups. Has one changed? */
static bool join_wakers(const struct why_evidence *evidence, struct why_sleepers *sleepers, uint32_t *of,
			struct why_sleeper *sleeper)
{
	bool changed = false;

	for (uint32_t n = 0; n < sleeper->queue->wakers; n++) {
		const struct why_thread *thread = why_thread_find(evidence, sleeper->queue->waker[n].thread);
		struct why_sleeper *waker = thread ? entry_of(evidence, sleepers, of, thread) : NULL;

		if (!waker || waker == sleeper)
			continue;
		waker->needed = true;
		if (waker->group == sleeper->group)
			continue;
		if (waker->group < sleeper->group)
			sleeper->group = waker->group;
		else
			waker->group = sleeper->group;
		changed = true;
	}
	return changed;
}

static bool join_groups(const struct why_evidence *evidence, struct why_sleepers *sleepers, uint32_t *of)
{
	bool changed = false;

	for (uint32_t n = 0; n < sleepers->count; n++)
		changed |= join_wakers(evidence, sleepers, of, &sleepers->sleeper[n]);
	return changed;
}

typedef bool a_pass(const struct why_evidence *evidence, struct why_sleepers *sleepers, uint32_t *of);

/* Until nothing changes. Where there is no end to it nobody is said to be without hope. */
static void repeat(a_pass *pass, const struct why_evidence *evidence, struct why_sleepers *sleepers,
		   uint32_t *of)
{
	int passes = 0;

	while (passes < PASSES && pass(evidence, sleepers, of))
		passes++;
	if (passes == PASSES)
		sleepers->count = 0;
}

static int by_group(const void *a, const void *b)
{
	const struct why_sleeper *left = a, *right = b;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	if (left->since != right->since)
		return left->since < right->since ? -1 : 1;
	return left->thread < right->thread ? -1 : left->thread > right->thread;
}

/* Drops what has got hope, and numbers what is left. */
static void close_ranks(const struct why_evidence *evidence, struct why_sleepers *sleepers, uint32_t *of)
{
	uint32_t kept = 0;

	for (uint32_t n = 0; n < sleepers->count; n++) {
		uint32_t *at = &of[sleepers->sleeper[n].thread - evidence->thread];

		if (*at == 0)
			continue;
		sleepers->sleeper[kept] = sleepers->sleeper[n];
		sleepers->sleeper[kept].group = kept;
		*at = ++kept;
	}
	sleepers->count = kept;
}

int why_sleepers_find(struct why_sleepers *sleepers, const struct why_evidence *evidence)
{
	uint32_t *of = calloc(evidence->threads + 1u, sizeof(*of));

	*sleepers = (struct why_sleepers){ calloc(evidence->threads + 1u, sizeof(*sleepers->sleeper)), 0 };
	if (!of || !sleepers->sleeper) {
		free(of);
		why_sleepers_free(sleepers);
		return KTREAD_E_MEMORY;
	}
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (sleeps_for_ever(evidence, &evidence->thread[n], &sleepers->sleeper[sleepers->count]))
			of[n] = ++sleepers->count;
	repeat(drop_hopeful, evidence, sleepers, of);
	close_ranks(evidence, sleepers, of);
	repeat(join_groups, evidence, sleepers, of);
	qsort(sleepers->sleeper, sleepers->count, sizeof(*sleepers->sleeper), by_group);
	free(of);
	return 0;
}

void why_sleepers_free(struct why_sleepers *sleepers)
{
	free(sleepers->sleeper);
	*sleepers = (struct why_sleepers){ NULL, 0 };
}
