/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the earliest difference that no other difference causes. Possible causes of a difference are earlier
 * steps of the same thread, and the wakeup that ended a wait of the thread. A cause never comes after its
 * effect, so no other difference causes the difference with the lowest timestamp in the first trace. If a
 * thread lacks steps only because it sleeps, the first difference is the wakeup that the thread did not get.
 */
#include <stdlib.h>

#include "diff/pairs.h"

#define CHAIN_MOST 64u /* maximum length of a chain of wakeups that is followed back */
/* a wait counts as endless if it is at least this many times longer than all other waits */
#define LONGER	    10u
#define WAITS_LEAST 3u

static int by_stamp(const void *a, const void *b)
{
	const struct diff_item *first = a, *second = b;

	if (first->at != second->at)
		return first->at < second->at ? -1 : 1;
	return first->what < second->what ? -1 : first->what > second->what;
}

/* ---- Threads that sleep until the end of their trace ---- */

/* Returns the longest duration of the thread's waits that ended. Sets *ended to the number of these waits. */
static uint64_t longest_wait(const struct diff_trace *trace, const struct diff_thread *thread,
			     uint32_t *ended)
{
	uint64_t longest = 0;

	*ended = 0;
	for (uint32_t n = thread->first_wait; n != DIFF_NONE; n = trace->wait[n].next) {
		const struct diff_wait *wait = &trace->wait[n];

		/* If the clock went backwards during the wait, its duration is unknown. */
		if (wait->end == UINT64_MAX || wait->end < wait->stamp)
			continue;
		++*ended;
		longest = wait->end - wait->stamp > longest ? wait->end - wait->stamp : longest;
	}
	return longest;
}

static uint64_t sleeps_for(const struct diff_trace *trace, const struct diff_thread *thread)
{
	return thread->wait != DIFF_NONE ? trace->end - trace->wait[thread->wait].stamp : 0;
}

/*
 * Returns whether a thread sleeps until the end of trace `which`, for much longer than in any other wait of
 * both traces.
 */
static bool sleeps_on(const struct pairs *pairs, int which, uint32_t first, uint32_t second)
{
	const struct diff_trace *trace[2] = { pairs->trace[which], pairs->trace[!which] };
	const struct diff_thread *thread[2] = { &trace[0]->thread[which ? second : first],
						&trace[1]->thread[which ? first : second] };
	const uint64_t slept = sleeps_for(trace[0], thread[0]);
	uint32_t ended[2];
	const uint64_t longest[2] = { longest_wait(trace[0], thread[0], &ended[0]),
				      longest_wait(trace[1], thread[1], &ended[1]) };
	const uint64_t most = longest[0] > longest[1] ? longest[0] : longest[1];

	return slept / LONGER > most && ended[1] >= WAITS_LEAST &&
	       sleeps_for(trace[1], thread[1]) < slept / 2 &&
	       !diff_trace_gap_between(trace[0], trace[0]->wait[thread[0]->wait].stamp, trace[0]->end);
}

void pairs_sleepers(struct pairs *pairs)
{
	for (uint32_t n = 0; n < pairs->trace[0]->threads; n++) {
		const uint32_t peer = pairs->trace[0]->thread[n].peer;

		for (int which = 0; which < 2 && peer != DIFF_NONE; which++) {
			const struct diff_trace *trace = pairs->trace[which];
			const struct diff_wait *wait;
			struct diff_item *item;

			if (!sleeps_on(pairs, which, n, peer))
				continue;
			wait = &trace->wait[trace->thread[which ? peer : n].wait];
			item = pairs_item(pairs->result, DIFF_WAKEUP,
					  which == 0 ? wait->stamp : pairs->trace[0]->end);
			if (!item)
				return;
			item->asleep = (uint8_t)which;
			item->thread[0] = n;
			item->thread[1] = peer;
			item->event[which] = (struct diff_event){ true, wait->ring, wait->slot };
		}
	}
}

/* ---- The wakeup that is missing ---- */

/*
 * Returns the last wakeup that ended a wait of the thread between `from` and `stamp`; DIFF_NONE if there is
 * none.
 */
static uint32_t last_wake_of(const struct diff_trace *trace, const struct diff_thread *thread, uint64_t from,
			     uint64_t stamp)
{
	uint32_t found = DIFF_NONE;

	for (uint32_t n = thread->first_wait; n != DIFF_NONE; n = trace->wait[n].next)
		if (trace->wait[n].wake != DIFF_NONE && trace->wait[n].end >= from &&
		    trace->wait[n].end <= stamp)
			found = trace->wait[n].wake;
	return found;
}

/*
 * Returns the last wakeup that came too early: it was for the same object, but before the wait began, while
 * no thread slept on that object. Returns DIFF_NONE if there is none.
 */
static uint32_t vain_wake(const struct diff_trace *trace, const struct diff_wait *wait)
{
	uint32_t found = DIFF_NONE;

	for (uint32_t n = 0; n < trace->wakes && trace->wake[n].stamp <= wait->stamp; n++)
		if (trace->wake[n].target == DIFF_NONE && wait->object &&
		    trace->wake[n].object == wait->object)
			found = n;
	return found;
}

/*
 * A missing wakeup: in one trace, thread `thread` sleeps in the wait `wait`; in the other trace, the wakeup
 * `wake` ended that sleep.
 */
struct missing {
	uint32_t thread, wait, wake;
};

/*
 * Finds why a thread sleeps in the trace `asleep`. Starts with the wakeup that woke the thread in the other
 * trace. If the thread that made this wakeup sleeps as well, continues with the wakeup that this waker did
 * not get, and so on.
 */
static bool find_missing(const struct pairs *pairs, int asleep, uint32_t thread, uint64_t from,
			 uint64_t until, struct missing *missing)
{
	const struct diff_trace *trace = pairs->trace[asleep], *other = pairs->trace[!asleep];
	bool found = false;

	for (uint32_t tried = 0; tried < CHAIN_MOST; tried++) {
		const struct diff_thread *is = &trace->thread[thread];
		uint32_t wake, waker;

		if (is->wait == DIFF_NONE || is->peer == DIFF_NONE)
			break;
		wake = last_wake_of(other, &other->thread[is->peer], from, until);
		if (wake == DIFF_NONE)
			break;
		*missing = (struct missing){ thread, is->wait, wake };
		found = true;
		waker = other->wake[wake].thread;
		waker = waker != DIFF_NONE ? other->thread[waker].peer : DIFF_NONE;
		/*
		 * If the waker fell asleep later than the thread that it should wake, the waker's sleep is
		 * not the reason.
		 */
		if (waker == DIFF_NONE || trace->thread[waker].wait == DIFF_NONE ||
		    trace->wait[trace->thread[waker].wait].stamp >= trace->wait[is->wait].stamp)
			break;
		until = other->wake[wake].stamp;
		from = 0;
		thread = waker;
	}
	return found;
}

static struct diff_event event_of_wake(const struct diff_wake *wake)
{
	return (struct diff_event){ .known = true, .ring = wake->ring, .slot = wake->slot };
}

/* Makes the missing wakeup the first difference. */
static void set_wakeup(struct pairs *pairs, int asleep, const struct missing *missing)
{
	struct diff_result *result = pairs->result;
	const struct diff_trace *trace = pairs->trace[asleep];
	const struct diff_wait *wait = &trace->wait[missing->wait];
	const struct diff_wake *wake =
		missing->wake != DIFF_NONE ? &pairs->trace[!asleep]->wake[missing->wake] : NULL;
	const uint32_t vain = vain_wake(trace, wait);
	struct diff_item *first = &result->first;

	first->what = DIFF_WAKEUP;
	first->asleep = (uint8_t)asleep;
	first->event[0] = first->event[1] = (struct diff_event){ 0 };
	first->step[0] = first->step[1] = DIFF_NONE;
	first->thread[0] = first->thread[1] = DIFF_NONE;
	result->sleep = (struct diff_event){ true, wait->ring, wait->slot };
	result->sleeper = missing->thread;
	if (wake) {
		first->event[!asleep] = event_of_wake(wake);
		first->thread[!asleep] = wake->thread;
		if (wake->thread != DIFF_NONE)
			first->thread[asleep] = pairs->trace[!asleep]->thread[wake->thread].peer;
	}
	if (vain != DIFF_NONE) {
		first->event[asleep] = event_of_wake(&trace->wake[vain]);
		first->thread[asleep] = trace->wake[vain].thread;
	}
}

/*
 * Returns the last step with a counterpart that the thread of step `n` made before step `n`, and sets *other
 * to that counterpart. Returns DIFF_NONE if there is none.
 */
static uint32_t counterpart_before(const struct pairs *pairs, int which, uint32_t n, uint32_t *other)
{
	const struct diff_trace *trace = pairs->trace[which];
	const struct diff_thread *thread = &trace->thread[trace->step[n].thread];
	uint32_t best = DIFF_NONE;

	for (uint32_t place = 0; place < thread->steps && which == 0; place++) {
		const uint32_t step = trace->order[thread->first + place];

		if (step < n && pairs->match[step] != DIFF_NONE) {
			best = step;
			*other = pairs->match[step];
		}
	}
	for (uint32_t step = 0; step < pairs->trace[0]->steps && which == 1; step++)
		if (pairs->match[step] != DIFF_NONE && pairs->match[step] < n &&
		    trace->step[pairs->match[step]].thread == trace->step[n].thread &&
		    (best == DIFF_NONE || pairs->match[step] > best)) {
			best = pairs->match[step];
			*other = step;
		}
	return best;
}

/* In the trace that lacks the event, finds the last event of the thread that both traces have. */
static void find_last(struct pairs *pairs)
{
	struct diff_result *result = pairs->result;

	for (int which = 0; which < 2; which++) {
		const uint32_t n = result->first.step[which];
		const struct diff_step *step;
		uint32_t other;

		if (n == DIFF_NONE || result->first.step[!which] != DIFF_NONE ||
		    counterpart_before(pairs, which, n, &other) == DIFF_NONE)
			continue;
		step = &pairs->trace[!which]->step[other];
		result->last[!which] = (struct diff_event){ true, step->ring, step->slot };
	}
}

/* If steps are missing in a trace because their thread sleeps there, finds the missing wakeup. */
static void explain_missing(struct pairs *pairs)
{
	struct diff_item *first = &pairs->result->first;
	const int asleep = first->what == DIFF_MISSING ? 1 : 0;
	const uint32_t thread = first->thread[asleep], step = first->step[!asleep];
	const struct diff_trace *other = pairs->trace[!asleep];
	uint32_t before, counterpart;
	struct missing missing;

	if (thread == DIFF_NONE || step == DIFF_NONE)
		return;
	before = counterpart_before(pairs, !asleep, step, &counterpart);
	if (find_missing(pairs, asleep, thread, before != DIFF_NONE ? other->step[before].stamp : 0,
			 other->step[step].stamp, &missing))
		set_wakeup(pairs, asleep, &missing);
}

static void explain_sleeper(struct pairs *pairs)
{
	struct diff_item *first = &pairs->result->first;
	const int asleep = first->asleep;
	const uint32_t thread = first->thread[asleep];
	struct missing missing = { thread, pairs->trace[asleep]->thread[thread].wait, DIFF_NONE };

	set_wakeup(pairs, asleep, &missing);
}

void pairs_first(struct pairs *pairs)
{
	struct diff_result *result = pairs->result;

	if (result->items == 0)
		return;
	qsort(result->item, result->items, sizeof(*result->item), by_stamp);
	result->first = result->item[0];
	if (result->first.what == DIFF_WAKEUP)
		explain_sleeper(pairs);
	else if (result->first.what == DIFF_MISSING || result->first.what == DIFF_EXTRA)
		explain_missing(pairs);
	find_last(pairs);
}
