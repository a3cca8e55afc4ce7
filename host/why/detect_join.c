/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds a thread that waits for the end of a thread that has ended long ago. Its wakeup was lost, or the
 * thread began to wait too late. Some kernels may pass another number than that of a thread, such as that of
 * a process, so the certainty is at most "possible".
 */
#include "why/finding.h"
#include "why/pulse.h"
#include "why/untimed.h"

#define MOST	8u /* maximum number of findings */
#define LONG_MS 5000u

/* Returns the thread for whose end this thread waits, if it has ended long ago; otherwise NULL. */
static const struct why_thread *ended_long_ago(const struct why_evidence *evidence,
					       const struct why_untimed *untimed)
{
	const uint64_t least = why_ms(evidence, LONG_MS);
	const struct why_thread *thread;

	if (untimed->kind != KTRX_WAIT_THREAD || !untimed->by_table || untimed->object == 0 ||
	    untimed->object > KTRX_THREAD_MAX || least == 0 || why_untimed_ticks(evidence, untimed) < least)
		return NULL;
	thread = why_thread_find(evidence, (uint32_t)untimed->object);
	if (!thread || thread->idle || thread->has_holder)
		return NULL;
	if (thread->state == THREADS_DEAD)
		return why_age(evidence, thread->since) >= least ? thread : NULL;
	/* the end is in lost slots; a thread that has not ended would have a row */
	return evidence->exits_recorded && why_is_gone(evidence, thread) &&
			       !why_is_whole_since(evidence, thread->since)
		       ? thread
		       : NULL;
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct why_untimed *untimed, const struct why_thread *ended)
{
	struct why_finding *finding = why_finding_new(findings, WHY_LOST_WAKEUP, FINDING_POSSIBLE);
	char text[FINDING_LINE], since[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s; but that thread has ended",
		    why_say_untimed(evidence, untimed, text, sizeof(text)));
	why_say_actor(evidence, ended->id + 1, text, sizeof(text));
	if (ended->state == THREADS_DEAD)
		finding_evidence(&finding->base, "%s ended %s ago", text,
				 why_say_since(evidence, "", ended->since, since, sizeof(since)));
	else
		finding_evidence(&finding->base, "the kernel's tables have no row for %s, so it has ended",
				 text);
	if (ended->state == THREADS_DEAD)
		finding_refer(&finding->base, ended->since, ended->id + 1, 0);
	why_finding_actor(finding, (struct why_actor){ .id = untimed->thread->id + 1,
						       .waits = untimed->object,
						       .ticks = why_untimed_ticks(evidence, untimed),
						       .pc = untimed->pc });
	finding_say(finding->base.advice,
		    "check whether the end of a thread wakes the threads that wait for it, and whether the "
		    "kernel passes the number of a thread to ktrace_block()");
	return 0;
}

int why_detect_join(const struct why_evidence *evidence, struct why_findings *findings)
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
		const struct why_thread *ended = ended_long_ago(evidence, &list.untimed[n]);

		if (!ended)
			continue;
		count++;
		error = found(evidence, findings, &list.untimed[n], ended);
	}
	why_untimed_free(&list);
	return error;
}
