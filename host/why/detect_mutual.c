/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds two threads that sleep and used to wake each other. For example, a wakeup was lost so long ago that
 * the rings no longer contain it. The counts in the kernel's table show which thread last woke each of the
 * two threads. A third thread or an interrupt may wake one of the two threads later, so the certainty is at
 * most "possible".
 */
#include <inttypes.h>

#include "why/finding.h"
#include "why/pulse.h"
#include "why/untimed.h"

#define MOST	8u     /* maximum number of findings */
#define LONG_MS 10000u /* minimum time in ms for which both threads must have waited */
/* both waits must take at least this many times as long as the longest interval between wakeups */
#define TIMES 32u

/*
 * Returns whether the thread has waited for an event far longer than ever before. Sets *habit to the counts
 * of its earlier waits.
 */
static bool is_long(const struct why_evidence *evidence, const struct why_untimed *untimed,
		    struct why_habit *habit)
{
	const uint64_t ticks = why_untimed_ticks(evidence, untimed), least = why_ms(evidence, LONG_MS);

	return untimed->kind == KTRX_WAIT_EVENT && untimed->by_table && untimed->deadline == 0 && least &&
	       ticks >= least && why_habit_of(evidence, untimed, habit) && !habit->brief && habit->waker &&
	       ticks / TIMES >= habit->longest && !why_is_served(evidence, untimed);
}

/* Returns the wait of the thread that last woke this thread; NULL if that thread does not wait. */
static const struct why_untimed *waker_of(const struct why_evidence *evidence,
					  const struct why_untimed_list *list, const struct why_habit *habit)
{
	const struct why_thread *thread = why_thread_find(evidence, habit->waker - 1);
	const uint32_t at = thread ? list->of[thread - evidence->thread] : 0;

	return at ? &list->untimed[at - 1] : NULL;
}

/*
 * Returns whether events show that an interrupt, or a thread that still runs, has woken threads that
 * slept on the same object as this thread.
 */
static bool has_other_waker(const struct why_evidence *evidence, const struct why_untimed_list *list,
			    const struct why_untimed *untimed)
{
	const struct why_queue *queue = untimed->queue;

	if (!queue || queue->address != untimed->object)
		return false;
	for (uint32_t n = 0; n < queue->wakers; n++) {
		const struct why_thread *thread = why_thread_find(evidence, queue->waker[n].thread);

		if (queue->waker[n].wakes && thread && !why_is_gone(evidence, thread) &&
		    list->of[thread - evidence->thread] == 0)
			return true;
	}
	return queue->by_interrupt || queue->by_others;
}

static void say_habit(const struct why_evidence *evidence, struct why_finding *finding,
		      const struct why_untimed *untimed, const struct why_habit *habit)
{
	char who[WHY_WORDS], words[FINDING_LINE];

	finding_evidence(&finding->base, "%s: %s",
			 why_say_actor(evidence, untimed->thread->id + 1, who, sizeof(who)),
			 why_say_habit(evidence, habit, words, sizeof(words)));
	why_finding_actor(finding, (struct why_actor){ .id = untimed->thread->id + 1,
						       .waits = untimed->object,
						       .ticks = why_untimed_ticks(evidence, untimed),
						       .pc = untimed->pc });
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct why_untimed *one, const struct why_habit *habit,
		 const struct why_untimed *other, const struct why_habit *other_habit)
{
	struct why_finding *finding = why_finding_new(findings, WHY_OVERDUE, FINDING_POSSIBLE);
	char first[FINDING_LINE], second[FINDING_LINE];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s; %s; these two used to wake each other",
		    why_say_untimed(evidence, one, first, sizeof(first)),
		    why_say_untimed(evidence, other, second, sizeof(second)));
	say_habit(evidence, finding, one, habit);
	say_habit(evidence, finding, other, other_habit);
	finding_say(finding->base.advice,
		    "check what else may wake them; use rings with more slots, because the events of these "
		    "wakeups are lost");
	return 0;
}

static int find_all(const struct why_evidence *evidence, struct why_findings *findings,
		    const struct why_untimed_list *list, const struct why_sleepers *sleepers)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < list->count && count < MOST; n++) {
		const struct why_untimed *one = &list->untimed[n], *other;
		struct why_habit habit, other_habit;

		if (!is_long(evidence, one, &habit))
			continue;
		other = waker_of(evidence, list, &habit);
		/* report each pair once, not once for each of its threads */
		if (!other || other <= one || !is_long(evidence, other, &other_habit) ||
		    other_habit.waker != one->thread->id + 1 || has_other_waker(evidence, list, one) ||
		    has_other_waker(evidence, list, other) || why_sleepers_have(sleepers, one->thread) ||
		    why_sleepers_have(sleepers, other->thread))
			continue;
		count++;
		if (found(evidence, findings, one, &habit, other, &other_habit) != 0)
			return KTREAD_E_MEMORY;
	}
	return 0;
}

int why_detect_mutual(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct why_sleepers sleepers = { NULL, 0 };
	struct why_untimed_list list;
	int error;

	if (why_waits_mean_nothing(evidence))
		return 0;
	error = why_untimed_find(&list, evidence);
	if (!error)
		error = why_sleepers_find(&sleepers, evidence);
	if (!error)
		error = find_all(evidence, findings, &list, &sleepers);
	why_sleepers_free(&sleepers);
	why_untimed_free(&list);
	return error;
}
