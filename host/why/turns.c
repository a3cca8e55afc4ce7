/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/untimed.h"

#include <inttypes.h>

#include "why/evidence_state.h"
#include "why/pulse.h"

#define LEAST	   20u /* minimum number of wakeups that show how often a thread is usually woken */
#define LEAST_MS   1000u
#define BRIEF_MS   400u /* minimum time in ms in which the wakeups came, used for a short series of them */
#define ALIKE_PART 8u /* minimum number of tenths of the wakeups that must come after about the usual time */
#define BRIEF_PART 9u /* used instead of ALIKE_PART for a short series of wakeups */

/*
 * Returns whether the counts in the thread's row of the kernel's table are consistent. The counts may be
 * inconsistent if the kernel changed the row while the row was copied.
 */
static bool is_consistent(const struct why_evidence *evidence, const struct why_untimed *untimed)
{
	const struct ktrx_holder *row = &untimed->thread->holder;

	return row->habit_first && row->habit_first < row->habit_last && row->habit_last <= evidence->alive &&
	       untimed->since <= evidence->end && row->habit_longest <= row->habit_last &&
	       row->habit_alike < row->habit_wakes;
}

/*
 * Returns the id, plus 1, of the thread that did the last wakeup; 0: an interrupt did it. An idle thread
 * wakes no thread: an interrupt came while it ran, and the port does not report the context.
 */
static uint32_t waker_of(const struct why_evidence *evidence, uint32_t waker)
{
	const struct why_thread *thread = waker ? why_thread_find(evidence, waker - 1) : NULL;

	return waker == 1 || (thread && thread->idle) ? 0 : waker;
}

bool why_habit_of(const struct why_evidence *evidence, const struct why_untimed *untimed,
		  struct why_habit *habit)
{
	const struct ktrx_holder *row = &untimed->thread->holder;
	bool brief;

	if (!untimed->by_table || row->habit_wakes < LEAST || row->habit_object != untimed->object ||
	    !is_consistent(evidence, untimed) || why_ms(evidence, BRIEF_MS) == 0 ||
	    row->habit_last - row->habit_first < why_ms(evidence, BRIEF_MS))
		return false;
	brief = row->habit_last - row->habit_first < why_ms(evidence, LEAST_MS);
	*habit = (struct why_habit){
		.wakes = row->habit_wakes,
		.usual = (row->habit_last - row->habit_first) / (row->habit_wakes - 1),
		.longest = row->habit_longest,
		.last = row->habit_last,
		.waker = waker_of(evidence, row->habit_waker),
		.regular = UINT64_C(10) * row->habit_alike >=
			   (brief ? BRIEF_PART : ALIKE_PART) * (row->habit_wakes - UINT64_C(1)),
		.brief = brief,
	};
	return true;
}

const char *why_say_habit(const struct why_evidence *evidence, const struct why_habit *habit, char *buffer,
			  size_t size)
{
	char longest[WHY_WORDS], last[WHY_WORDS], who[WHY_WORDS] = "an interrupt";

	if (habit->waker)
		why_say_actor(evidence, habit->waker, who, sizeof(who));
	return why_say(buffer, size,
		       "%" PRIu64
		       " such waits in a row ended, at most %s apart; %s ended the last one %s ago",
		       habit->wakes, why_say_ticks(evidence, habit->longest, longest, sizeof(longest)), who,
		       why_say_since(evidence, "", habit->last, last, sizeof(last)));
}

bool why_is_served(const struct why_evidence *evidence, const struct why_untimed *untimed)
{
	if (untimed->queue && untimed->queue->last_wake > untimed->since)
		return true;
	for (uint32_t n = 0; untimed->object && n < evidence->threads; n++) {
		const struct ktrx_holder *row = &evidence->thread[n].holder;

		if (&evidence->thread[n] != untimed->thread && row->habit_wakes &&
		    row->habit_object == untimed->object && row->habit_last > untimed->since)
			return true;
	}
	return false;
}

bool why_newest_wakes_are_lost(const struct why_evidence *evidence, const struct why_untimed *untimed)
{
	const struct ktrx_holder *row = &untimed->thread->holder;
	const uint64_t known = untimed->queue ? untimed->queue->last_wake : 0;

	return untimed->by_table && row->habit_wakes && row->habit_object == untimed->object &&
	       row->habit_last > known && !why_is_whole_since(evidence, known);
}

#define WAKERS 3u /* maximum number of wakers that are listed */

void why_finding_wakers(struct why_finding *finding, const struct why_evidence *evidence,
			const struct why_queue *queue)
{
	char who[WHY_WORDS], last[WHY_WORDS], last_own_event[WHY_WORDS];
	uint32_t shown = 0;

	for (uint32_t n = 0; n < queue->wakers && shown < WAKERS; n++) {
		const struct why_waker *waker = &queue->waker[n];
		const struct why_thread *thread = why_thread_find(evidence, waker->thread);

		if (waker->wakes == 0)
			continue;
		shown++;
		why_say_actor(evidence, waker->thread + 1, who, sizeof(who));
		why_say_since(evidence, "", waker->last, last, sizeof(last));
		if (!thread || why_is_gone(evidence, thread))
			finding_evidence(&finding->base,
					 "%s woke it %" PRIu64 " time%s, the last time %s ago, and has ended",
					 who, waker->wakes, finding_plural(waker->wakes), last);
		else
			finding_evidence(&finding->base,
					 "%s woke it %" PRIu64
					 " time%s, the last time %s ago; the waker's last event was %s ago",
					 who, waker->wakes, finding_plural(waker->wakes), last,
					 why_say_ticks(evidence, why_age(evidence, thread->last_own_event),
						       last_own_event, sizeof(last_own_event)));
		finding_refer(&finding->base, waker->last, waker->thread + 1, 0);
	}
}

void why_finding_irq_waker(struct why_finding *finding, const struct why_evidence *evidence,
			   const struct why_queue *queue, bool comes)
{
	const struct why_irq_waker *irq = &queue->irq;
	char which[WHY_WORDS] = "", last[WHY_WORDS];

	if (irq->wakes == 0)
		return;
	if (irq->known)
		why_say(which, sizeof(which), "interrupt %" PRIu32 " on CPU %" PRIu32, irq->number, irq->cpu);
	finding_evidence(&finding->base, "interrupts woke it %" PRIu64 " time%s, the last time %s ago%s%s%s",
			 irq->wakes, finding_plural(irq->wakes),
			 why_say_since(evidence, "", irq->last, last, sizeof(last)), *which ? ": " : "",
			 which,
			 !irq->known ? ""
			 : comes     ? ", which still comes"
				     : ", which has not come lately");
	if (irq->known)
		finding_refer(&finding->base, irq->last, KTRX_HOLDER_CPU | irq->cpu, 0);
}

#define STALE_MS 100u /* time in ms: maximum by which a timestamp in the tables is too early */
#define LATE_MS	 1000u
/*
 * first condition: the states in sched.switch count as wrong only if at least this many wakeups are of
 * threads that were already runnable
 */
#define ODD_WAKES 4u
/*
 * second condition: the states in sched.switch count as wrong only if more than 1/ODD_PART of all wakeups are
 * of threads that were already runnable
 */
#define ODD_PART 8u

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns whether the thread is certainly not an idle thread. This is certain if it was created, was woken or
 * went to sleep.
 */
static bool is_worker(const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;

	return thread->woken || thread->created || thread->last_sleep ||
	       (thread->has_holder && (row->wakes || row->priority || row->wait_stamp));
}

/*
 * Returns whether events reliably show whether a thread was still runnable when the CPU switched away from it
 * at `since`. This is so if the states in sched.switch are right, or if the kernel records an event before
 * each sleep and at the end of each thread.
 */
static bool states_are_reliable(const struct why_evidence *evidence, uint64_t since)
{
	if (evidence->odd_wakes >= ODD_WAKES && evidence->odd_wakes > evidence->wakes / ODD_PART)
		return false;
	return scheduling_states(evidence->scheduling) ||
	       (scheduling_covers(evidence->scheduling, WELLKNOWN_BLOCK, since, since) &&
		scheduling_covers(evidence->scheduling, WELLKNOWN_EXIT, since, since));
}

/* Returns whether events prove that the thread became runnable and has not run since then. */
static bool events_prove(const struct why_evidence *evidence, const struct why_thread *thread)
{
	if (thread->state != THREADS_RUNNABLE || !why_is_whole_since(evidence, thread->since))
		return false;
	if (!scheduling_covers(evidence->scheduling, WELLKNOWN_SWITCH, thread->since, evidence->end))
		return false;
	return thread->woken >= thread->since || states_are_reliable(evidence, thread->since);
}

/*
 * Returns whether the thread was preempted. If hooks record sleeps, a thread that no longer runs was either
 * preempted or has ended. The thread has not ended if hooks would have recorded its end, or if it still holds
 * a lock.
 */
static bool was_preempted(const struct why_evidence *evidence, const struct ktrx_holder *row)
{
	return row->cause == KTRX_CAUSE_SWITCH && evidence->blocks_recorded &&
	       (evidence->exits_recorded || row->held_count);
}

/*
 * Returns whether only the absence of other reports shows that the thread is runnable. If the kernel does not
 * report every end and every sleep, the thread may have ended, or may sleep.
 */
static bool is_known_by_absence(const struct why_evidence *evidence, const struct why_thread *thread)
{
	return thread->holder.cause != KTRX_CAUSE_WAKE && thread->holder.cause != KTRX_CAUSE_START &&
	       !events_prove(evidence, thread);
}

/* Returns whether a heartbeat shows that the thread has run on the CPU since it became runnable. */
static bool runs_on(const struct why_evidence *evidence, const struct why_cpu *cpu,
		    const struct why_thread *thread)
{
	return cpu && cpu->has_row && cpu->row.thread == thread->id && !why_idles(evidence, cpu) &&
	       cpu->row.heartbeat_stamp > thread->holder.state_stamp + why_ms(evidence, STALE_MS);
}

static bool row_proves(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;

	/* if the thread has recorded an event since it became runnable, it has run */
	if (thread->last_own_event > row->state_stamp + why_ms(evidence, STALE_MS))
		return false;
	return row->cause == KTRX_CAUSE_WAKE || row->cause == KTRX_CAUSE_START ||
	       was_preempted(evidence, row) || events_prove(evidence, thread);
}

static bool has_state(const struct why_thread *thread)
{
	return thread->has_holder && thread->holder.state != KTRX_THREAD_UNKNOWN;
}

/*
 * Returns whether the CPU has switched threads after `since`, a timestamp that may be up to STALE_MS too
 * early.
 */
static bool has_switched(const struct why_evidence *evidence, const struct why_cpu *cpu, uint64_t since)
{
	const uint64_t newest = later(cpu->switches.last, cpu->has_row ? cpu->row.switch_stamp : 0);

	return newest > since + why_ms(evidence, STALE_MS);
}

/* Returns the CPU on which the thread is expected to run next, NULL if unknown. */
static const struct why_cpu *cpu_of(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const uint32_t cpu = evidence->cpus == 1 ? 0 : why_cpu_of(thread);

	return cpu < evidence->cpus ? &evidence->cpu[cpu] : NULL;
}

bool why_turn_of(const struct why_evidence *evidence, const struct why_thread *thread, struct why_turn *turn)
{
	const struct ktrx_holder *row = &thread->holder;
	const bool by_table = has_state(thread);

	*turn = (struct why_turn){ .thread = thread, .since = thread->since, .by_table = by_table };
	if (thread->idle || evidence->cut || why_is_gone(evidence, thread))
		return false;
	if (by_table ? row->state != KTRX_THREAD_RUNNABLE : thread->state != THREADS_RUNNABLE)
		return false;
	if (by_table && row->state_stamp)
		turn->since = later(row->state_stamp, thread->last_own_event);
	turn->since = later(turn->since, thread->created);
	turn->cpu = cpu_of(evidence, thread);
	if (by_table && runs_on(evidence, turn->cpu, thread))
		return false;
	turn->proven = is_worker(thread) &&
		       (by_table ? row_proves(evidence, thread) : events_prove(evidence, thread));
	turn->weak = by_table && is_known_by_absence(evidence, thread);
	turn->others_ran = turn->cpu && has_switched(evidence, turn->cpu, turn->since);
	return true;
}

bool why_turn_is_explained(const struct why_evidence *evidence, const struct why_turn *turn,
			   const struct why_thread **runs)
{
	const struct why_thread *on = turn->cpu ? why_runs(evidence, turn->cpu) : NULL;

	*runs = on;
	if (!on || on->idle || on == turn->thread)
		return false;
	if (on->holder.priority && turn->thread->holder.priority > on->holder.priority)
		return !turn->others_ran && turn->cpu->row.preempt != 0;
	return !turn->others_ran ||
	       (turn->thread->holder.priority && on->holder.priority > turn->thread->holder.priority);
}

bool why_turn_is_late(const struct why_evidence *evidence, const struct why_turn *turn)
{
	const uint64_t least = why_ms(evidence, LATE_MS), silent = why_silent_ticks(evidence);
	const uint64_t waits = why_age(evidence, turn->since);

	return least && waits > silent && waits - silent >= least;
}

void why_turns_settle(struct why_evidence *evidence)
{
	struct why_turn turn;

	for (uint32_t n = 0; n < evidence->threads; n++) {
		struct why_thread *thread = &evidence->thread[n];

		if (thread->runnable == 0)
			continue;
		if (!why_turn_of(evidence, thread, &turn) ||
		    (!turn.proven && why_turn_is_late(evidence, &turn)))
			thread->runnable = 0;
		else
			thread->runnable = why_age(evidence, turn.since);
	}
}
