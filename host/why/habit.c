/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/habit.h"

#include "why/pulse.h"

#define LEAST	   20u /* wakeups */
#define LEAST_MS   1000u
#define ALIKE_PART 8u /* in tenths */

/* A row that changed while it was copied may hold anything: what cannot be is none. */
static bool is_possible(const struct why_evidence *evidence, const struct why_rest *rest)
{
	const struct ktrx_holder *row = &rest->thread->holder;

	return row->habit_first && row->habit_first < row->habit_last && row->habit_last <= evidence->alive &&
	       rest->since <= evidence->end && row->habit_longest <= row->habit_last &&
	       row->habit_alike < row->habit_wakes;
}

bool why_habit_of(const struct why_evidence *evidence, const struct why_rest *rest, struct why_habit *habit)
{
	const struct ktrx_holder *row = &rest->thread->holder;

	if (!rest->told || row->habit_wakes < LEAST || row->habit_object != rest->object ||
	    !is_possible(evidence, rest) || why_ms(evidence, LEAST_MS) == 0 ||
	    row->habit_last - row->habit_first < why_ms(evidence, LEAST_MS))
		return false;
	*habit = (struct why_habit){
		.wakes = row->habit_wakes,
		.usual = (row->habit_last - row->habit_first) / (row->habit_wakes - 1),
		.longest = row->habit_longest,
		.last = row->habit_last,
		.waker = row->habit_waker,
		.regular = UINT64_C(10) * row->habit_alike >= ALIKE_PART * (row->habit_wakes - UINT64_C(1)),
	};
	return true;
}

bool why_is_served(const struct why_evidence *evidence, const struct why_rest *rest)
{
	if (rest->queue && rest->queue->last_wake > rest->since)
		return true;
	for (uint32_t n = 0; rest->object && n < evidence->threads; n++) {
		const struct ktrx_holder *row = &evidence->thread[n].holder;

		if (&evidence->thread[n] != rest->thread && row->habit_wakes &&
		    row->habit_object == rest->object && row->habit_last > rest->since)
			return true;
	}
	return false;
}
