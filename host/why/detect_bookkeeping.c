/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Bookkeeping: the recorded state of a thread or CPU is contradictory, or has several explanations. Example:
 * a thread has been runnable for long, but its CPU idles, or runs other threads for an unknown reason. In
 * this case, either the scheduler lost the thread, or a hook is missing and the thread has in fact ended or
 * gone to sleep. Another example: a CPU runs a thread but is still in idle mode, because the kernel did not
 * call ktrace_mode().
 */
#include <inttypes.h>
#include <stdlib.h>

#include "why/finding.h"
#include "why/pulse.h"
#include "why/untimed.h"

#define SHOWN 12u /* maximum number of threads that a finding lists */

enum doubt {
	NO_DOUBT,
	UNPROVEN,    /* the thread may have ended or may sleep */
	PASSED_OVER, /* the thread's CPU runs other threads, and no reason for this is known */
	ON_IDLE,     /* the thread's CPU idles */
	ON_ABSENT,   /* the thread's CPU is offline */
};

struct doubtful {
	struct why_turn turn;
	enum doubt doubt;
};

static bool any_cpu_idles(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (why_is_there(&evidence->cpu[n]) && why_idles(evidence, &evidence->cpu[n]))
			return true;
	return false;
}

/*
 * Returns whether the CPU has run other threads instead of this one. If the CPU is between two threads, the
 * other threads are unknown, and their priorities may be higher.
 */
static bool passes_over(const struct why_evidence *evidence, const struct why_turn *turn)
{
	return why_runs_work(evidence, turn->cpu) || (why_is_between_threads(evidence, turn->cpu) &&
						      turn->others_ran && !turn->thread->holder.priority);
}

static enum doubt doubt_of(const struct why_evidence *evidence, const struct why_turn *turn)
{
	const struct why_cpu *cpu = turn->cpu;
	const struct why_thread *runs;

	if (!why_turn_is_late(evidence, turn) ||
	    (cpu && !why_idles(evidence, cpu) && why_is_there(cpu) && why_has_stopped(evidence, cpu)))
		return NO_DOUBT;
	if (!turn->proven)
		return UNPROVEN;
	if (!cpu)
		return any_cpu_idles(evidence) ? ON_IDLE : NO_DOUBT;
	if (!why_is_there(cpu))
		return ON_ABSENT;
	if (why_idles(evidence, cpu))
		return ON_IDLE;
	return passes_over(evidence, turn) && !why_turn_is_explained(evidence, turn, &runs) ? PASSED_OVER
											    : NO_DOUBT;
}

/*
 * Compares two threads for sorting. The thread whose state is most doubtful comes first. Among equally
 * doubtful threads, the thread that has waited longest comes first.
 */
static int by_doubt(const void *a, const void *b)
{
	const struct doubtful *left = a, *right = b;

	if (left->doubt != right->doubt)
		return (int)right->doubt - (int)left->doubt;
	return left->turn.since < right->turn.since ? -1 : left->turn.since > right->turn.since;
}

static const char *say_doubt(const struct why_evidence *evidence, const struct doubtful *one, char *buffer,
			     size_t size)
{
	const struct why_turn *turn = &one->turn;
	char who[WHY_WORDS], ticks[WHY_WORDS], cpu[WHY_WORDS] = "a CPU";

	why_say_actor(evidence, turn->thread->id + 1, who, sizeof(who));
	why_say_ticks(evidence, why_age(evidence, turn->since), ticks, sizeof(ticks));
	if (turn->cpu)
		why_say(cpu, sizeof(cpu), "CPU %" PRIu32, turn->cpu->number);
	if (one->doubt == UNPROVEN)
		return why_say(
			buffer, size,
			"%s has not run for %s: it is unknown whether it is runnable, sleeps or has ended",
			who, ticks);
	if (one->doubt == PASSED_OVER)
		return why_say(buffer, size, "%s has been runnable for %s, while %s ran other threads", who,
			       ticks, cpu);
	return why_say(buffer, size,
		       one->doubt == ON_IDLE ? "%s has been runnable for %s, while %s idles"
					     : "%s has been runnable for %s, but %s is offline",
		       who, ticks, cpu);
}

/*
 * Adds a line if the running thread has a lower priority than the thread that waits. The kernel may use
 * smaller numbers for more urgent threads, although ktrace_thread_priority() requires the opposite.
 */
static void explain_priority(const struct why_evidence *evidence, const struct why_turn *turn,
			     struct why_finding *finding)
{
	const struct why_thread *runs = why_runs(evidence, turn->cpu);
	char who[WHY_WORDS], waits[WHY_WORDS];

	if (!runs || runs->idle || !runs->holder.priority ||
	    runs->holder.priority >= turn->thread->holder.priority)
		return;
	finding_evidence(
		&finding->base,
		"or a smaller number is more urgent in this kernel, and ktrace_thread_priority() must "
		"get the opposite: %s, which runs, has priority %u, and %s has %u",
		why_say_actor(evidence, runs->id + 1, who, sizeof(who)), runs->holder.priority,
		why_say_actor(evidence, turn->thread->id + 1, waits, sizeof(waits)),
		turn->thread->holder.priority);
}

static void explain(const struct why_evidence *evidence, const struct doubtful *one,
		    struct why_finding *finding)
{
	const struct why_turn *turn = &one->turn;
	char hook[WHY_WORDS] = "";

	if (one->doubt == UNPROVEN) {
		finding_say(finding->base.advice,
			    "call ktrace_thread_end() in each thread that ends, before its last switch, "
			    "and ktrace_block() before each sleep; or record states in sched.switch, "
			    "in rings that reach back that far");
		return;
	}
	if (one->doubt == PASSED_OVER && !turn->thread->holder.priority)
		why_say(hook, sizeof(hook),
			", or its priority is lower (call ktrace_thread_priority() to record it)");
	finding_evidence(&finding->base,
			 "it is missing from the run queue, or a hook is missing where the thread runs, "
			 "sleeps or ends%s",
			 hook);
	if (one->doubt == PASSED_OVER)
		explain_priority(evidence, turn, finding);
}

/*
 * Returns whether the thread's CPU, which looks idle, may run a handler that has not called
 * ktrace_interrupt_enter(): it may run with interrupts disabled, and shows no activity.
 */
static bool may_handle(const struct why_evidence *evidence, const struct doubtful *one)
{
	return one->doubt == ON_IDLE && one->turn.cpu && why_has_stopped(evidence, one->turn.cpu) &&
	       why_may_run_masked(evidence, one->turn.cpu);
}

/*
 * Returns the CPU for which a thread may wait that has not run yet: no hook reports that a thread may run on
 * only one CPU. Another thread, of the same or a higher priority, has run there all the time. NULL: there is
 * none.
 */
static const struct why_cpu *may_wait_for(const struct why_evidence *evidence, const struct doubtful *one)
{
	const struct why_thread *runs;

	for (uint32_t n = 0; n < evidence->cpus && one->doubt == ON_IDLE && !one->turn.cpu; n++) {
		runs = why_runs(evidence, &evidence->cpu[n]);
		if (runs && why_runs_work(evidence, &evidence->cpu[n]) &&
		    evidence->cpu[n].row.switch_stamp <= one->turn.since &&
		    runs->holder.priority >= one->turn.thread->holder.priority)
			return &evidence->cpu[n];
	}
	return NULL;
}

static int report_threads(const struct why_evidence *evidence, struct why_findings *findings,
			  const struct doubtful *found, uint32_t count)
{
	const bool handles = may_handle(evidence, found);
	const struct why_cpu *bound = may_wait_for(evidence, found);
	struct why_finding *finding = why_finding_new(
		findings, WHY_BOOKKEEPING,
		found->doubt == UNPROVEN || handles || bound ? FINDING_POSSIBLE : FINDING_LIKELY);
	char text[FINDING_LINE];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s", say_doubt(evidence, found, text, sizeof(text)));
	explain(evidence, found, finding);
	if (bound)
		finding_evidence(&finding->base,
				 "or it may run only on CPU %" PRIu32
				 ", on which another thread has run all the time",
				 bound->number);
	if (handles)
		finding_evidence(&finding->base,
				 "or CPU %" PRIu32
				 " does not idle, but runs an interrupt handler that has not "
				 "called ktrace_interrupt_enter()",
				 found->turn.cpu->number);
	for (uint32_t n = 0; n < count; n++) {
		if (n > 0 && n < SHOWN)
			finding_evidence(&finding->base, "%s",
					 say_doubt(evidence, &found[n], text, sizeof(text)));
		why_finding_actor(finding,
				  (struct why_actor){ .id = found[n].turn.thread->id + 1,
						      .ticks = why_age(evidence, found[n].turn.since) });
	}
	if (count > SHOWN)
		finding_evidence(&finding->base, "and %" PRIu32 " more", count - SHOWN);
	return 0;
}

static int look_at_threads(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct doubtful *found = calloc((size_t)evidence->threads + 1, sizeof(*found));
	uint32_t count = 0;
	int error = 0;

	if (!found)
		return KTREAD_E_MEMORY;
	for (uint32_t n = 0; n < evidence->threads; n++) {
		struct doubtful *one = &found[count];

		if (!why_turn_of(evidence, &evidence->thread[n], &one->turn))
			continue;
		one->doubt = doubt_of(evidence, &one->turn);
		count += one->doubt != NO_DOUBT;
	}
	if (count) {
		qsort(found, count, sizeof(*found), by_doubt);
		error = report_threads(evidence, findings, found, count);
	}
	free(found);
	return error;
}

static int look_at_cpu(const struct why_evidence *evidence, struct why_findings *findings,
		       const struct why_cpu *cpu)
{
	struct why_finding *finding;
	char who[WHY_WORDS];

	if (!why_idle_is_stale(evidence, cpu))
		return 0;
	finding = why_finding_new(findings, WHY_BOOKKEEPING, FINDING_POSSIBLE);
	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "CPU %" PRIu32 " is in idle mode, but runs %s", cpu->number,
		    why_say_running(evidence, cpu, who, sizeof(who)));
	finding_evidence(&finding->base,
			 "ktrace_mode(KTRX_MODE_KERNEL) is not called where a CPU leaves its idle loop");
	why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | cpu->number });
	return 0;
}

int why_detect_bookkeeping(const struct why_evidence *evidence, struct why_findings *findings)
{
	int error = 0;

	if (why_ended_well(evidence) || evidence->panic.stamp || evidence->reset)
		return 0;
	for (uint32_t n = 0; n < evidence->cpus && !error; n++)
		error = look_at_cpu(evidence, findings, &evidence->cpu[n]);
	return error ? error : look_at_threads(evidence, findings);
}
