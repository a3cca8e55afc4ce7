/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* States of threads, holders of locks, and waits: from the kernel's tables and from events. */
#include <stdlib.h>
#include <string.h>

#include "live/details.h"

#define AT_ONCE	  32u
#define ROWS_MOST 65536u

static int by_number(const void *a, const void *b)
{
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static int by_id(const void *a, const void *b)
{
	const struct live_thread *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

/*
 * Returns the thread `id`, which is added if necessary; NULL if there is no room. `sorted`: number of rows at
 * the beginning that are sorted.
 */
static struct live_thread *thread_of(struct live_details *details, uint32_t sorted, uint32_t id)
{
	const struct live_thread key = { .id = id };
	struct live_thread *thread = bsearch(&key, details->thread, sorted, sizeof(key), by_id);

	if (thread || details->threads == LIVE_THREADS)
		return thread;
	thread = &details->thread[details->threads++];
	*thread = (struct live_thread){ .id = id, .cpu = KTRX_NO_CPU };
	return thread;
}

/* Adds the threads that events have shown. */
static void add_known(struct live_details *details, const struct live_model *model)
{
	const struct threads *threads = live_waits_threads(model->waits);
	const uint64_t now = live_waits_time(model->waits);

	for (uint32_t n = 0; n < threads_count(threads) && details->threads < LIVE_THREADS; n++) {
		const struct threads_thread *thread = threads_at(threads, n);

		if (thread->state == THREADS_DEAD)
			continue;
		details->thread[details->threads++] =
			(struct live_thread){ .id = thread->id,
					      .state = thread->state,
					      .cpu = thread->cpu,
					      .ticks = now > thread->since ? now - thread->since : 0,
					      .object = thread->state == THREADS_SLEEPING ||
									thread->state == THREADS_WAITING
								? thread->object
								: 0 };
	}
	qsort(details->thread, details->threads, sizeof(details->thread[0]), by_id);
}

/* Processes the locks that a thread or CPU holds. */
static void take_held(struct live_details *details, const struct ktrx_holder *row)
{
	for (uint32_t n = 0; n < KTRX_HELD; n++) {
		struct live_lock *lock =
			row->held[n].object ? live_details_lock(details, row->held[n].object) : NULL;

		if (!lock)
			continue;
		lock->holder = row->id;
		lock->taken = row->held[n].stamp;
	}
}

static void take_wait(struct live_details *details, const struct ktrx_holder *row, uint64_t now)
{
	struct live_lock *lock;

	if (row->wait != KTRX_WAIT_LOCK && row->wait != KTRX_WAIT_SPIN)
		return;
	lock = live_details_lock(details, row->object);
	if (!lock)
		return;
	lock->waiters++;
	if (row->object_name[0])
		memcpy(lock->name, row->object_name, sizeof(lock->name) - 1);
	if (row->wait_stamp && now > row->wait_stamp && now - row->wait_stamp > lock->longest)
		lock->longest = now - row->wait_stamp;
}

static void take_thread(struct live_details *details, uint32_t sorted, const struct ktrx_holder *row,
			uint64_t now)
{
	static const uint8_t states[] = { THREADS_UNKNOWN, THREADS_RUNNING, THREADS_RUNNABLE,
					  THREADS_SLEEPING };
	struct live_thread *thread = thread_of(details, sorted, row->id - 1);
	const uint64_t since =
		row->wait != KTRX_WAIT_NONE && row->wait_stamp ? row->wait_stamp : row->state_stamp;

	if (!thread)
		return;
	if (row->state && row->state < sizeof(states)) {
		thread->state = states[row->state];
		thread->ticks = since && now > since ? now - since : 0;
	}
	if (row->cpu != UINT16_MAX)
		thread->cpu = row->cpu;
	thread->held = row->held_count;
	thread->wait = row->wait;
	thread->object = row->wait != KTRX_WAIT_NONE ? row->object : 0;
	thread->owner = row->owner;
	memcpy(thread->name, row->object_name, sizeof(thread->name));
}

static int take_tables(struct live_details *details, const struct live_model *model)
{
	const uint32_t sorted = details->threads;
	struct ktrx_holder row[AT_ONCE];
	uint32_t first = 0;
	uint64_t now = 0;
	int rows = 0;

	for (uint32_t n = 0; n < model->cpus; n++)
		now = model->row[n].now > now ? model->row[n].now : now;
	while (first < ROWS_MOST &&
	       (rows = model->source->holders(model->source->context, first, row, AT_ONCE)) > 0) {
		for (int n = 0; n < rows; n++) {
			if (row[n].id == 0)
				continue;
			take_held(details, &row[n]);
			take_wait(details, &row[n], now);
			if (!(row[n].id & KTRX_HOLDER_CPU))
				take_thread(details, sorted, &row[n], now);
		}
		first += (uint32_t)rows;
	}
	qsort(details->thread, details->threads, sizeof(details->thread[0]), by_id);
	return rows < 0 ? rows : 0;
}

/* Computes the share of each thread from the samples. */
static void take_samples(struct live_details *details)
{
	const uint32_t sorted = details->threads;
	uint32_t n = 0;

	qsort(details->sample, details->samples, sizeof(details->sample[0]), by_number);
	while (n < details->samples) {
		const uint32_t id = details->sample[n], first = n;
		struct live_thread *thread = thread_of(details, sorted, id);

		while (n < details->samples && details->sample[n] == id)
			n++;
		if (thread && details->rounds)
			thread->share = (double)(n - first) / details->rounds;
	}
}

int live_details_threads(struct live_details *details, const struct live_model *model)
{
	int status = 0;

	details->threads = 0;
	if (!model->running)
		return 0;
	add_known(details, model);
	status = take_tables(details, model);
	take_samples(details);
	return status;
}
