/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Waits that last far longer than earlier waits of the same kind. Examples: a thread whose periodic wakeups
 * have stopped, a thread that waits for a device that always answered soon, a thread that sleeps and holds a
 * lock for which other threads wait. It is never certain that the thread should have been woken. Irregular
 * wakeups, such as wakeups by input or network packets, may end for a good reason.
 */
#include <inttypes.h>

#include "why/finding.h"
#include "why/untimed.h"
#include "why/pulse.h"

#define MOST 8u /* maximum number of findings */
/*
 * minimum number of ended waits that show how long such a wait takes; used if other threads wait for the
 * thread
 */
#define KNOWN_WAITS 8u
/*
 * minimum number of ended waits that show how long such a wait takes; used if no thread waits for the thread
 */
#define MANY_WAITS 16u
/* minimum ratio of an overdue wait to the longest finished wait, if other threads wait for the thread */
#define TIMES_LONGER 8u
/* minimum ratio of an overdue wait to the longest finished wait, if no thread waits for the thread */
#define TIMES_MORE 64u
/*
 * minimum ratio of an overdue wait to the longest interval between wakeups, if wakeups are irregular and the
 * thread or interrupt that causes them is still active
 */
#define TIMES_UNEVEN 32u
/* minimum ratio of an overdue wait to the longest interval between wakeups, if wakeups are periodic */
#define TIMES_QUIET  16u
#define WAITERS_MS   1000u /* minimum time in ms for which other threads must have waited for the thread */
#define LONG_MS	     2000u
#define VERY_LONG_MS 5000u
/*
 * minimum time in ms of an overdue wait if the trace shows no finished wait of this thread for the object, or
 * if the wakeups in the thread's row are irregular
 */
#define UNKNOWN_MS 10000u
/*
 * minimum ratio of an overdue wait to the mean interval between all wakeups of the thread, if events show no
 * earlier wait
 */
#define TIMES_BLOCKS 16u
/* used with TIMES_BLOCKS: minimum time in ms for which other threads must have waited for the thread */
#define STUCK_MS 5000u
#define QUIET_MS 1000u
/*
 * time in ms: if interrupts come at shorter intervals than this, they belong to a data stream; if they stop,
 * the stream has ended, which is not a fault
 */
#define FLOW_MS 10u

enum reason { NONE, FREE, UNHELD, MISSED, BLOCKS, HOLDS, DEVICE, RHYTHM, HABIT };

struct overdue_wait {
	const struct why_untimed *untimed;
	enum reason reason;
	enum finding_certainty certain;
	/* length of the wait in ticks, up to the last sign of life or, if all CPUs idle, up to the end */
	uint64_t ticks;
	/* used for the reasons RHYTHM and HABIT: usual interval between two wakeups, in ticks */
	uint64_t usual;
	/* used for the reason HABIT: counts of earlier waits from the thread's row in the kernel's table */
	struct why_habit habit;
	bool irq_comes; /* true if the interrupt that last woke the thread is still recorded */
	/* earlier wakeups of the thread are known only from a count in the kernel's table, not from events */
	bool counted;
};

/* ---- Length of the wait -------------------------------------------------------------------------- */

static bool all_idle(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (why_is_there(&evidence->cpu[n]) && evidence->cpu[n].row.mode != KTRX_MODE_IDLE)
			return false;
	return true;
}

/*
 * Returns for how many ticks the thread has waited while the machine made progress. If all CPUs idle, their
 * ticks may be stopped, so progress cannot be seen. In this case, returns the whole length of the wait and
 * sets *doubtful, which limits the certainty to "possible".
 */
static uint64_t waited(const struct why_evidence *evidence, const struct why_untimed *untimed, bool *doubtful)
{
	const uint64_t seen = why_untimed_ticks(evidence, untimed);

	*doubtful = false;
	if (!untimed->since || evidence->alive == evidence->end || evidence->silence_is_longer ||
	    !all_idle(evidence))
		return seen;
	*doubtful = true;
	return why_age(evidence, untimed->since);
}

/* ---- Reasons why a wait counts as overdue -------------------------------------------------------- */

static uint64_t at_least(const struct why_evidence *evidence, uint64_t ms, uint64_t ticks, uint64_t times)
{
	const uint64_t least = why_ms(evidence, ms),
		       longer = ticks > UINT64_MAX / times ? UINT64_MAX : ticks * times;

	return least > longer ? least : longer;
}

/* Returns an upper limit for the number of ticks for which the thread existed before it began to wait. */
static uint64_t time_before_wait(const struct why_untimed *untimed)
{
	return untimed->since > untimed->thread->created ? untimed->since - untimed->thread->created : 0;
}

/*
 * Returns whether the count of wakeups in the thread's row of the kernel's table shows that the thread was
 * woken far more often in the past. Used if the rings contain no finished wait, because old events are
 * overwritten too soon.
 */
static bool used_to_be_woken_sooner(const struct why_evidence *evidence, const struct overdue_wait *one)
{
	const struct why_untimed *untimed = one->untimed;
	const uint32_t wakes = untimed->by_table ? untimed->thread->holder.wakes : 0;

	return wakes >= KNOWN_WAITS && untimed->waiters_ticks >= why_ms(evidence, STUCK_MS) &&
	       one->ticks >= at_least(evidence, UNKNOWN_MS, time_before_wait(untimed) / wakes, TIMES_BLOCKS);
}

/*
 * Judges the wait by the counts in the thread's row if events show no earlier wait of the thread for the
 * object.
 */
static void judge_blocks(const struct why_evidence *evidence, struct overdue_wait *one)
{
	const struct why_queue *queue = one->untimed->queue;
	uint64_t waits = queue ? queue->waits : 0, longest = queue ? queue->longest : 0;
	struct why_habit habit;

	if (!one->untimed->waiters || one->untimed->waiters_ticks < why_ms(evidence, WAITERS_MS))
		return;
	if (waits == 0 && why_habit_of(evidence, one->untimed, &habit) && !habit.brief) {
		waits = habit.wakes;
		longest = habit.longest;
	}
	if (waits >= KNOWN_WAITS && one->ticks >= at_least(evidence, LONG_MS, longest, TIMES_LONGER))
		one->certain = FINDING_LIKELY;
	else if (waits == 0 && used_to_be_woken_sooner(evidence, one)) {
		one->certain = FINDING_LIKELY;
		one->counted = true;
	} else if (waits >= KNOWN_WAITS ||
		   one->ticks < at_least(evidence, VERY_LONG_MS, longest, TIMES_LONGER))
		return;
	one->reason = BLOCKS;
	if (why_waiter_spins(evidence, one->untimed))
		one->certain = FINDING_LIKELY;
}

static void judge_device(const struct why_evidence *evidence, struct overdue_wait *one)
{
	const struct why_queue *queue = one->untimed->queue;
	const uint64_t waits = queue ? queue->waits : 0, longest = queue ? queue->longest : 0;

	if (one->untimed->kind != KTRX_WAIT_DEVICE)
		return;
	if (one->untimed->lock &&
	    one->ticks >= at_least(evidence, waits ? VERY_LONG_MS : UNKNOWN_MS, longest, TIMES_LONGER))
		one->reason = HOLDS;
	else if (waits >= MANY_WAITS && one->ticks >= at_least(evidence, VERY_LONG_MS, longest, TIMES_MORE))
		one->reason = DEVICE;
}

/* Returns whether the interrupt that last woke sleepers of the queue still comes to the same CPU as then. */
static bool irq_comes(const struct why_evidence *evidence, const struct why_queue *queue, uint64_t quiet)
{
	const struct why_interrupts *interrupts;

	if (!queue->irq.known || queue->irq.cpu >= evidence->cpus)
		return false;
	interrupts = &evidence->cpu[queue->irq.cpu].interrupts;
	for (uint32_t n = 0; n < interrupts->kinds; n++)
		if (interrupts->kind[n].number == queue->irq.number)
			return interrupts->kind[n].last < evidence->alive &&
			       evidence->alive - interrupts->kind[n].last < quiet / 4;
	return false;
}

/*
 * Returns whether the thread exists and still runs from time to time. This is not so if it waits without a
 * timeout, and has waited for at least a quarter of `quiet`, the number of ticks since it last woke the
 * sleeper.
 */
static bool still_runs(const struct why_evidence *evidence, const struct why_untimed_list *list, uint32_t id,
		       uint64_t quiet)
{
	const struct why_thread *thread = why_thread_find(evidence, id);
	uint32_t at;

	if (!thread || thread->idle || why_is_gone(evidence, thread))
		return false;
	at = list->of[thread - evidence->thread];
	return at == 0 || list->untimed[at - 1].deadline ||
	       why_untimed_ticks(evidence, &list->untimed[at - 1]) < quiet / 4;
}

/* Returns whether a thread that has woken sleepers of the queue before may do so again. */
static bool has_waker(const struct why_evidence *evidence, const struct why_untimed_list *list,
		      const struct why_queue *queue, uint64_t quiet)
{
	for (uint32_t n = 0; n < queue->wakers && !queue->by_others; n++)
		if (queue->waker[n].wakes && still_runs(evidence, list, queue->waker[n].thread, quiet))
			return true;
	return false;
}

static void judge_rhythm(const struct why_evidence *evidence, const struct why_untimed_list *list,
			 struct overdue_wait *one)
{
	const struct why_queue *queue = one->untimed->queue;
	uint64_t quiet, longest;
	bool by_irq;

	if (!queue || !why_is_regular(evidence, queue, &one->usual))
		return;
	quiet = queue->rhythm.last < evidence->alive ? evidence->alive - queue->rhythm.last : 0;
	if (quiet > one->ticks)
		quiet = one->ticks;
	longest = queue->longest > queue->rhythm.longest ? queue->longest : queue->rhythm.longest;
	by_irq = 2 * queue->irq.wakes >= queue->wakes;
	one->irq_comes = by_irq && irq_comes(evidence, queue, quiet);
	if (quiet < at_least(evidence, one->irq_comes ? QUIET_MS : LONG_MS, longest, TIMES_QUIET))
		return;
	if (by_irq && !one->irq_comes && one->usual < why_ms(evidence, FLOW_MS))
		return;
	if (!by_irq && !has_waker(evidence, list, queue, quiet))
		return;
	one->reason = RHYTHM;
	if (one->irq_comes && one->untimed->by_table)
		one->certain = FINDING_LIKELY;
}

/*
 * Finds a thread that its wakers cannot find: long after the thread began to sleep on the queue, a wakeup of
 * this queue found no thread asleep, so the kernel's queue has lost the thread. This does not apply if such a
 * wakeup came during an earlier wait, too, which ended later: it was meant for other threads.
 */
static void judge_missed(const struct why_evidence *evidence, struct overdue_wait *one)
{
	const struct why_untimed *untimed = one->untimed;
	const struct why_queue *queue = untimed->queue;

	if (!untimed->by_table || !queue || !untimed->object || queue->address != untimed->object ||
	    queue->nobody == 0 || queue->spares || queue->last_wake > untimed->since ||
	    why_is_served(evidence, untimed) ||
	    queue->nobody_stamp < untimed->since + why_ms(evidence, WHY_QUEUED_MS) ||
	    one->ticks < why_ms(evidence, LONG_MS))
		return;
	one->reason = MISSED;
	one->certain = FINDING_LIKELY;
}

/*
 * Returns whether a device no longer answers: a thread waits for its answer, and the device used to answer
 * regularly. A thread waits for an answer only after a request, so the answer should come.
 */
static bool is_lost_answer(const struct why_evidence *evidence, const struct overdue_wait *one)
{
	return one->untimed->kind == KTRX_WAIT_DEVICE && one->habit.regular && !one->habit.brief &&
	       one->habit.usual >= why_ms(evidence, FLOW_MS) &&
	       one->ticks >= at_least(evidence, UNKNOWN_MS, one->habit.longest, TIMES_MORE);
}

/*
 * Finds overdue wakeups from the counts in the thread's row of the kernel's table. If irregular wakeups by
 * interrupts stop, this proves nothing, because their cause may have been input. If wakeups by a thread stop,
 * this counts only if that thread still runs.
 */
static void judge_habit(const struct why_evidence *evidence, const struct why_untimed_list *list,
			struct overdue_wait *one)
{
	struct why_habit *habit = &one->habit;

	if (!why_habit_of(evidence, one->untimed, habit) || why_is_served(evidence, one->untimed))
		return;
	if (habit->waker ? !still_runs(evidence, list, habit->waker - 1, one->ticks)
			 : !habit->regular || habit->usual < why_ms(evidence, FLOW_MS))
		return;
	if (habit->brief &&
	    (!habit->regular || one->ticks < at_least(evidence, UNKNOWN_MS, habit->longest, TIMES_MORE)))
		return;
	if (one->ticks < at_least(evidence, habit->regular ? LONG_MS : UNKNOWN_MS, habit->longest,
				  habit->regular ? TIMES_QUIET : TIMES_UNEVEN))
		return;
	one->usual = habit->usual;
	one->reason = HABIT;
	if (is_lost_answer(evidence, one))
		one->certain = FINDING_LIKELY;
}

/*
 * Finds a thread that sleeps for a lock that is free now: the lock was released, but this thread was not
 * woken, or the thread that held the lock has ended.
 */
static void judge_free(const struct why_evidence *evidence, struct overdue_wait *one)
{
	const enum why_free is_free = why_lock_is_free(evidence, one->untimed, one->ticks);

	if (is_free != WHY_FREE_UNKNOWN)
		one->reason = is_free == WHY_FREE_RELEASED ? FREE : UNHELD;
}

/*
 * Returns whether the wait certainly has no timeout. If the kernel never recorded a timed sleep, a wait for
 * an event may have a timeout.
 */
static bool has_no_timeout(const struct why_evidence *evidence, const struct why_untimed *untimed)
{
	return evidence->timeouts_recorded || untimed->kind == KTRX_WAIT_DEVICE;
}

static struct overdue_wait judge(const struct why_evidence *evidence, const struct why_untimed_list *list,
				 const struct why_untimed *untimed)
{
	struct overdue_wait one = { .untimed = untimed, .certain = FINDING_POSSIBLE };
	bool doubtful;

	if (untimed->kind != KTRX_WAIT_EVENT && untimed->kind != KTRX_WAIT_DEVICE &&
	    untimed->kind != KTRX_WAIT_LOCK)
		return one;
	one.ticks = waited(evidence, untimed, &doubtful);
	if (untimed->kind == KTRX_WAIT_LOCK) {
		judge_free(evidence, &one);
		return one;
	}
	judge_blocks(evidence, &one);
	if (one.reason == NONE)
		judge_missed(evidence, &one);
	if (one.reason == NONE)
		judge_rhythm(evidence, list, &one);
	if (one.reason == NONE)
		judge_habit(evidence, list, &one);
	if (one.reason == NONE)
		judge_device(evidence, &one);
	if (untimed->queue)
		one.irq_comes = irq_comes(evidence, untimed->queue, one.ticks);
	if (!(one.reason == BLOCKS && why_waiter_spins(evidence, untimed)) &&
	    (doubtful || !untimed->by_table || !has_no_timeout(evidence, untimed)))
		one.certain = FINDING_POSSIBLE;
	return one;
}

/* ---- Text of the finding ------------------------------------------------------------------------- */

static void say_head(const struct why_evidence *evidence, struct why_finding *finding,
		     const struct overdue_wait *one)
{
	char untimed[FINDING_LINE], lock[WHY_WORDS], usual[WHY_WORDS];

	why_say_untimed(evidence, one->untimed, untimed, sizeof(untimed));
	switch (one->reason) {
	case BLOCKS:
		finding_say(finding->base.what, "%s, and holds lock %s, for which %" PRIu32 " other thread%s",
			    untimed, why_say_object(evidence, one->untimed->lock, lock, sizeof(lock)),
			    one->untimed->waiters, one->untimed->waiters == 1 ? " waits" : "s wait");
		return;
	case FREE:
		finding_say(finding->base.what, "%s; the lock is no longer held", untimed);
		return;
	case UNHELD:
		finding_say(finding->base.what, "%s; no holder of the lock is recorded", untimed);
		return;
	case MISSED:
		finding_say(finding->base.what, "%s; a wakeup of this queue found no thread asleep", untimed);
		return;
	case HOLDS:
		finding_say(finding->base.what, "%s, and holds lock %s", untimed,
			    why_say_object(evidence, one->untimed->lock, lock, sizeof(lock)));
		return;
	case RHYTHM:
	case HABIT:
		finding_say(finding->base.what, "%s; it used to be woken every %s", untimed,
			    why_say_ticks(evidence, one->usual, usual, sizeof(usual)));
		return;
	default:
		finding_say(finding->base.what, "%s, far longer than ever before", untimed);
		return;
	}
}

static void say_missed(const struct why_evidence *evidence, struct why_finding *finding,
		       const struct why_untimed *untimed)
{
	const struct why_queue *queue = untimed->queue;
	char who[WHY_WORDS], ago[WHY_WORDS], place[WHY_WORDS];

	finding_evidence(&finding->base,
			 "%s woke this queue %s ago, during the wait, and found no thread asleep%s",
			 why_say_actor(evidence, queue->nobody_thread + 1, who, sizeof(who)),
			 why_say_since(evidence, "", queue->nobody_stamp, ago, sizeof(ago)),
			 why_say_called(evidence, ", at ", queue->nobody_ip, place, sizeof(place)));
	finding_refer(&finding->base, queue->nobody_stamp, queue->nobody_thread + 1, queue->address);
}

static void say_rhythm(const struct why_evidence *evidence, struct why_finding *finding,
		       const struct overdue_wait *one)
{
	const struct why_rhythm *rhythm = &one->untimed->queue->rhythm;
	char usual[WHY_WORDS], longest[WHY_WORDS];

	finding_evidence(&finding->base,
			 "the %" PRIu64 " intervals between wakeups were about %s long, and at most %s",
			 rhythm->intervals, why_say_ticks(evidence, one->usual, usual, sizeof(usual)),
			 why_say_ticks(evidence, rhythm->longest, longest, sizeof(longest)));
}

static void say_counted(const struct why_evidence *evidence, struct why_finding *finding,
			const struct why_untimed *untimed)
{
	char ticks[WHY_WORDS];

	finding_evidence(&finding->base, "it was woken %" PRIu32 " times in the %s before this wait",
			 untimed->thread->holder.wakes,
			 why_say_ticks(evidence, time_before_wait(untimed), ticks, sizeof(ticks)));
}

static void say_waiter(const struct why_evidence *evidence, struct why_finding *finding,
		       const struct why_untimed *untimed)
{
	char who[WHY_WORDS], lock[WHY_WORDS], ticks[WHY_WORDS];

	finding_evidence(&finding->base,
			 untimed->tries			       ? "%s has tried for %s to take lock %s"
			 : why_waiter_spins(evidence, untimed) ? "%s has spun %s for lock %s"
							       : "%s has waited %s for lock %s",
			 why_say_actor(evidence, untimed->first_waiter->id + 1, who, sizeof(who)),
			 why_say_ticks(evidence, untimed->waiters_ticks, ticks, sizeof(ticks)),
			 why_say_object(evidence, untimed->lock, lock, sizeof(lock)));
}

static void say_deadline(const struct why_evidence *evidence, struct why_finding *finding,
			 const struct why_untimed *untimed)
{
	char ticks[WHY_WORDS];

	if (untimed->deadline > evidence->end)
		finding_evidence(
			&finding->base, "the wait has a timeout, which ends in %s",
			why_say_ticks(evidence, untimed->deadline - evidence->end, ticks, sizeof(ticks)));
}

static void say_missing(const struct why_evidence *evidence, struct why_finding *finding,
			const struct overdue_wait *one)
{
	if (!one->untimed->by_table) {
		finding->base.partial = true;
		finding_say(finding->base.advice,
			    "call ktrace_block(), which records whether a sleep has a timeout");
	} else if (one->reason == UNHELD) {
		finding_say(
			finding->base.advice,
			"check whether the kernel calls ktrace_acquire() for this lock: if it does, the lock "
			"was released without waking this thread, or its holder has ended");
	} else if (!has_no_timeout(evidence, one->untimed)) {
		finding_say(finding->base.advice, "record timed sleeps, "
						  "because ktrace_block() has recorded none (KTRX_WAIT_TIME, "
						  "or a deadline)");
	} else if (one->untimed->kind == KTRX_WAIT_EVENT && !why_records_wake_nobody(evidence)) {
		finding_say(finding->base.advice,
			    "record sched.wake_nobody, "
			    "which distinguishes a wakeup that came too early from a missing one");
	} else if (why_came_early(one->untimed)) {
		finding_say(finding->base.advice,
			    "check whether that wakeup was meant for this thread, which then missed it");
	} else if (finding->base.certain == FINDING_POSSIBLE) {
		finding_say(finding->base.advice,
			    "check what should wake it, because there may be no reason to wake it");
	}
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct overdue_wait *one)
{
	struct why_finding *finding = why_finding_new(findings, WHY_OVERDUE, one->certain);
	const struct why_untimed *untimed = one->untimed;
	char words[FINDING_LINE];

	if (!finding)
		return KTREAD_E_MEMORY;
	say_head(evidence, finding, one);
	if (one->reason == RHYTHM)
		say_rhythm(evidence, finding, one);
	else if (one->reason == HABIT)
		finding_evidence(&finding->base, "%s",
				 why_say_habit(evidence, &one->habit, words, sizeof(words)));
	else if (one->counted)
		say_counted(evidence, finding, untimed);
	else
		finding_evidence(&finding->base, "%s",
				 why_say_waits_before(evidence, untimed, words, sizeof(words)));
	say_deadline(evidence, finding, untimed);
	if (one->reason == MISSED)
		say_missed(evidence, finding, untimed);
	why_finding_early(finding, evidence, untimed);
	if (untimed->queue && !why_newest_wakes_are_lost(evidence, untimed)) {
		why_finding_irq_waker(finding, evidence, untimed->queue, one->irq_comes);
		why_finding_wakers(finding, evidence, untimed->queue);
	}
	why_finding_actor(finding, (struct why_actor){ .id = untimed->thread->id + 1,
						       .holds = untimed->lock,
						       .waits = untimed->object,
						       .ticks = one->ticks,
						       .pc = untimed->pc });
	if (untimed->waiters) {
		say_waiter(evidence, finding, untimed);
		why_finding_actor(finding, (struct why_actor){ .id = untimed->first_waiter->id + 1,
							       .waits = untimed->lock,
							       .ticks = untimed->waiters_ticks });
	}
	say_missing(evidence, finding, one);
	return 0;
}

/* ---- All overdue waits --------------------------------------------------------------------------- */

/*
 * Returns whether the thread has slept longest of all threads on its queue. Only this thread of the queue is
 * reported.
 */
static bool is_first_on_queue(const struct why_untimed_list *list, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (list->untimed[k].queue == list->untimed[n].queue)
			return false;
	return true;
}

static int find_all(const struct why_evidence *evidence, struct why_findings *findings,
		    const struct why_untimed_list *list, const struct why_sleepers *sleepers)
{
	uint32_t count = 0;
	int error = 0;

	for (uint32_t n = 0; n < list->count && count < MOST && !error; n++) {
		struct overdue_wait one = judge(evidence, list, &list->untimed[n]);

		if (one.reason == NONE || why_sleepers_have(sleepers, one.untimed->thread) ||
		    (one.reason == RHYTHM && !is_first_on_queue(list, n)))
			continue;
		count++;
		error = found(evidence, findings, &one);
	}
	return error;
}

int why_detect_overdue(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct why_sleepers sleepers = { NULL, 0 };
	struct why_untimed_list list;
	int error;

	if (why_waits_mean_nothing(evidence))
		return 0;
	error = why_untimed_find_late(&list, evidence);
	if (!error)
		error = why_sleepers_find(&sleepers, evidence);
	if (!error)
		error = find_all(evidence, findings, &list, &sleepers);
	why_sleepers_free(&sleepers);
	why_untimed_free(&list);
	return error;
}
