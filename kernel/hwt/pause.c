/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Where threads of the target wait for the owner: for room in the queue, and for their release after exec and
 * mmap. Both end with the pause's timeout, for an owner may not listen, and with the context.
 */
#include "hwt.h"

#define KTRACE_TIMEOUT_MS 1000u

/* Waits for any change; 0: the time is over, or the thread must not wait. */
static int wait_until(struct ktrace_hwt_context *context, uint32_t seen, uint64_t deadline)
{
	uint64_t now = ktrace_hwt_kernel()->now_ns();

	return now < deadline && ktrace_hwt_kernel()->sleep(&context->changes, seen, deadline - now) == 0;
}

static uint64_t deadline_of(const struct ktrace_hwt_context *context)
{
	uint32_t ms = context->pausing.timeout_ms ? context->pausing.timeout_ms : KTRACE_TIMEOUT_MS;

	return ktrace_hwt_kernel()->now_ns() + ms * UINT64_C(1000000);
}

/* ---- For room ---------------------------------------------------------------------------------- */

/* The thread pauses from the moment on in which its record can be read. Short lock held. */
static void start_waiting(struct ktrace_hwt_context *context, struct ktrace_hwt_waiter *waiter)
{
	waiter->record = context->queue.produced;
	waiter->released = 0;
	waiter->next = context->waiters;
	context->waiters = waiter;
}

enum attempt { PUT, PAUSED, LOST, OVER, NO_ROOM };

/* Once; `last`: what does not fit is lost. Of *seen it is NO_ROOM. */
static enum attempt attempt(struct ktrace_hwt_context *context, const struct ktrace_proc_draft *draft,
			    uint32_t pause, struct ktrace_hwt_waiter *waiter, int last, uint32_t *seen)
{
	unsigned long saved = ktrace_hwt_lock();
	enum attempt result = PUT;

	*seen = context->changes;
	if (context->ended) {
		result = OVER;
	} else if (!ktrace_hwt_append(context, draft)) {
		result = last || context->queue.unheard ? LOST : NO_ROOM;
	} else if (context->pausing.pauses & pause) {
		start_waiting(context, waiter);
		result = PAUSED;
	}
	if (result == LOST) {
		context->queue.lost += context->queue.lost != UINT32_MAX;
		context->queue.unheard = 1;
	}
	ktrace_hwt_unlock(saved);
	return result;
}

/* ---- For release ------------------------------------------------------------------------------- */

/* Nonzero: there is nothing more to wait for. */
static int is_over(struct ktrace_hwt_context *context, const struct ktrace_hwt_waiter *waiter, uint32_t *seen)
{
	unsigned long saved = ktrace_hwt_lock();
	int over = waiter->released || context->ended;

	*seen = context->changes;
	ktrace_hwt_unlock(saved);
	return over;
}

static void stop_waiting(struct ktrace_hwt_context *context, const struct ktrace_hwt_waiter *waiter)
{
	unsigned long saved = ktrace_hwt_lock();
	struct ktrace_hwt_waiter **link = &context->waiters;

	while (*link != waiter)
		link = &(*link)->next;
	*link = waiter->next;
	ktrace_hwt_unlock(saved);
}

void ktrace_hwt_record(struct ktrace_hwt_context *context, const struct ktrace_proc_draft *draft,
		       uint32_t pause)
{
	uint64_t deadline = deadline_of(context);
	struct ktrace_hwt_waiter waiter;
	enum attempt result;
	uint32_t seen;
	int last = 0;

	while ((result = attempt(context, draft, pause, &waiter, last, &seen)) == NO_ROOM)
		last = !wait_until(context, seen, deadline);
	ktrace_hwt_wake(context);
	if (result != PAUSED)
		return;
	deadline = deadline_of(context);
	while (!is_over(context, &waiter, &seen) && wait_until(context, seen, deadline))
		continue;
	stop_waiting(context, &waiter);
}

int ktrace_hwt_wakeup(struct ktrace_hwt_context *context)
{
	unsigned long saved = ktrace_hwt_lock();
	int error = KTRACE_ERROR_STATE;

	for (struct ktrace_hwt_waiter *waiter = context->waiters; waiter; waiter = waiter->next) {
		if (waiter->released || waiter->record > context->queue.consumed)
			continue;
		waiter->released = 1;
		error = KTRACE_OK;
	}
	ktrace_hwt_changed(context);
	ktrace_hwt_unlock(saved);
	ktrace_hwt_wake(context);
	return error;
}
