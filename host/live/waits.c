/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/waits.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/threads.h"

struct live_waits {
	struct threads *threads;
	uint64_t time;			 /* of the last event: stamps, made to grow by two at least */
	uint64_t last[THREADS_CPUS_MAX]; /* the same by CPU */
};

static void ignore(void *context, const struct threads_change *change)
{
	(void)context;
	(void)change;
}

int live_waits_restart(struct live_waits *waits)
{
	int error;

	threads_destroy(waits->threads);
	memset(waits, 0, sizeof(*waits));
	error = threads_create(&waits->threads, ignore, NULL);
	if (!error)
		threads_learn_on(waits->threads);
	return error;
}

struct live_waits *live_waits_open(void)
{
	struct live_waits *waits = calloc(1, sizeof(*waits));

	if (waits && live_waits_restart(waits) < 0) {
		free(waits);
		return NULL;
	}
	return waits;
}

void live_waits_close(struct live_waits *waits)
{
	if (!waits)
		return;
	threads_destroy(waits->threads);
	free(waits);
}

int live_waits_event(struct live_waits *waits, const struct ktread_event *event,
		     const struct wellknown *known)
{
	const uint32_t cpu = event->cpu < THREADS_CPUS_MAX ? event->cpu : 0;

	waits->time = event->stamp >= waits->time + 2 ? event->stamp : waits->time + 2;
	if (event->lost && event->cpu < THREADS_CPUS_MAX)
		threads_gap(waits->threads, cpu, waits->last[cpu]);
	waits->last[cpu] = waits->time;
	/* As many as are kept apart: those that are gone make room. */
	if (threads_left_out(waits->threads) && live_waits_restart(waits) < 0)
		return KTREAD_E_MEMORY;
	return threads_event(waits->threads, event, known, waits->time);
}

/* Threads that wait for locks come before those that wait for work. */
static bool goes_before(const struct live_wait *a, const struct live_wait *b)
{
	const bool a_lock = a->kind == KTRX_WAIT_SPIN || a->kind == KTRX_WAIT_LOCK;
	const bool b_lock = b->kind == KTRX_WAIT_SPIN || b->kind == KTRX_WAIT_LOCK;

	return a_lock != b_lock ? a_lock : a->ticks > b->ticks;
}

void live_wait_offer(struct live_wait list[LIVE_WAITS], uint32_t *count, const struct live_wait *wait)
{
	uint32_t at = *count;

	while (at > 0 && goes_before(wait, &list[at - 1]))
		at--;
	if (at == LIVE_WAITS)
		return;
	*count += *count < LIVE_WAITS;
	memmove(list + at + 1, list + at, (*count - 1 - at) * sizeof(*list));
	list[at] = *wait;
}

uint32_t live_waits_list(const struct live_waits *waits, struct live_wait list[LIVE_WAITS])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < threads_count(waits->threads); i++) {
		const struct threads_thread *thread = threads_at(waits->threads, i);
		const struct live_wait wait = { .thread = thread->id,
						.object = thread->object,
						.ticks = waits->time - thread->since };

		if (thread->state == THREADS_SLEEPING || thread->state == THREADS_WAITING)
			live_wait_offer(list, &count, &wait);
	}
	return count;
}
