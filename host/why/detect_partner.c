/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds a thread that waits for a partner that has ended. For example, a producer waits until a queue has
 * room again, and the only consumer has ended. The trace shows three facts: the thread used to wake the
 * sleepers of this queue, it did not sleep on the queue before, and all other threads that slept on the queue
 * have ended. A new partner may start later, so the certainty is at most "possible".
 */
#include <inttypes.h>

#include "why/finding.h"
#include "why/pulse.h"
#include "why/untimed.h"

#define MOST	8u /* maximum number of findings */
#define LONG_MS 5000u
#define WAKES	16u /* minimum number of times that the thread must have woken sleepers of the queue */
#define SHOWN	3u  /* maximum number of partners that are listed */

/* Returns whether an event, or the missing row in a complete table, shows that the thread has ended. */
static bool has_ended(const struct why_evidence *evidence, uint32_t id)
{
	const struct why_thread *thread = why_thread_find(evidence, id);

	return thread &&
	       (thread->state == THREADS_DEAD || (evidence->exits_recorded && why_is_gone(evidence, thread)));
}

/*
 * Returns whether all other threads that slept on the queue have ended. The thread itself must have slept
 * there only in the present wait.
 */
static bool has_only_ended_partners(const struct why_evidence *evidence, const struct why_queue *queue,
				    uint32_t thread)
{
	uint32_t partners = 0;

	for (uint32_t n = 0; n < queue->sleepers; n++)
		if (queue->sleeper[n].thread == thread) {
			if (queue->sleeper[n].sleeps > 1)
				return false;
		} else if (!has_ended(evidence, queue->sleeper[n].thread)) {
			return false;
		} else {
			partners++;
		}
	return partners > 0 && !queue->more_sleepers;
}

/*
 * Returns how often the thread has woken sleepers of the queue. Returns 0 if other threads or interrupts have
 * woken them, too.
 */
static uint64_t wakes_by(const struct why_queue *queue, uint32_t thread)
{
	uint64_t wakes = 0;

	for (uint32_t n = 0; n < queue->wakers; n++)
		if (queue->waker[n].thread == thread)
			wakes = queue->waker[n].wakes;
		else
			return 0;
	return queue->by_interrupt || queue->by_others ? 0 : wakes;
}

static bool is_left(const struct why_evidence *evidence, const struct why_untimed *untimed)
{
	const struct why_queue *queue = untimed->queue;

	return untimed->kind == KTRX_WAIT_EVENT && untimed->by_table && untimed->deadline == 0 && queue &&
	       queue->address && queue->address == untimed->object && queue->last_wake < untimed->since &&
	       /* lost slots may contain sleeps of other threads on this queue, or wakeups */
	       why_is_whole_since(evidence, queue->first) && why_ms(evidence, LONG_MS) &&
	       why_untimed_ticks(evidence, untimed) >= why_ms(evidence, LONG_MS) &&
	       wakes_by(queue, untimed->thread->id) >= WAKES &&
	       has_only_ended_partners(evidence, queue, untimed->thread->id);
}

static void say_partners(const struct why_evidence *evidence, struct why_finding *finding,
			 const struct why_untimed *untimed)
{
	const struct why_queue *queue = untimed->queue;
	char who[WHY_WORDS];
	uint32_t shown = 0;

	for (uint32_t n = 0; n < queue->sleepers && shown < SHOWN; n++) {
		if (queue->sleeper[n].thread == untimed->thread->id)
			continue;
		shown++;
		finding_evidence(&finding->base, "%s, which slept there %" PRIu64 " time%s before, has ended",
				 why_say_actor(evidence, queue->sleeper[n].thread + 1, who, sizeof(who)),
				 queue->sleeper[n].sleeps, finding_plural(queue->sleeper[n].sleeps));
	}
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct why_untimed *untimed)
{
	struct why_finding *finding = why_finding_new(findings, WHY_OVERDUE, FINDING_POSSIBLE);
	const uint64_t wakes = wakes_by(untimed->queue, untimed->thread->id);
	char text[FINDING_LINE], last[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s; all other threads that slept there in this trace have ended",
		    why_say_untimed(evidence, untimed, text, sizeof(text)));
	say_partners(evidence, finding, untimed);
	why_say_actor(evidence, untimed->thread->id + 1, text, sizeof(text));
	finding_evidence(&finding->base,
			 "%s used to wake sleepers there: it did so %" PRIu64 " times, the last time %s ago",
			 text, wakes,
			 why_say_since(evidence, "", untimed->queue->last_wake, last, sizeof(last)));
	finding_refer(&finding->base, untimed->queue->last_wake, untimed->thread->id + 1, untimed->object);
	why_finding_actor(finding, (struct why_actor){ .id = untimed->thread->id + 1,
						       .waits = untimed->object,
						       .ticks = why_untimed_ticks(evidence, untimed),
						       .pc = untimed->pc });
	finding_say(finding->base.advice, "check what should wake it, because a new partner may come later");
	return 0;
}

int why_detect_partner(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct why_untimed_list list;
	uint32_t count = 0;
	int error;

	if (why_waits_mean_nothing(evidence))
		return 0;
	error = why_untimed_find(&list, evidence);
	if (error)
		return error;
	for (uint32_t n = 0; n < list.count && count < MOST && !error; n++) {
		if (!is_left(evidence, &list.untimed[n]))
			continue;
		count++;
		error = found(evidence, findings, &list.untimed[n]);
	}
	why_untimed_free(&list);
	return error;
}
