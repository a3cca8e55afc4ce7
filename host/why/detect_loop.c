/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Loops without progress that enter the kernel: a thread repeats one page fault, or a system call that always
 * fails. detect_spin.c finds loops in user mode without system calls.
 */
#include <inttypes.h>

#include "analyze/keyed.h"
#include "why/finding.h"
#include "why/pulse.h"

#define FAULTS_LEAST 64u
#define CALLS_LEAST  64u
/*
 * minimum number of repeated calls for a finding. A short loop with as many calls is "possible", a long loop
 * is "certain".
 */
#define CALLS_SOME 256u
#define CALLS_MANY 2048u /* minimum number of repeated calls for which a short loop is "likely" */
/*
 * time in ms: a loop that has lasted this long is a long loop. A thread that polls would sleep earlier.
 */
#define LONG_MS	    250u
#define ERROR_LEAST (-4095)
#define QUIET_MS    250u
#define SILENT_MS   1500u
/*
 * minimum number of repetitions per second; a thread that repeats its call less often sleeps or waits between
 * the calls
 */
#define RATE_LEAST 1000u

/*
 * Returns whether the loop lasts until the end of the trace. `last` is the timestamp of its newest
 * repetition. It is compared with the newest event of the thread's CPU, because the host may have stopped
 * that CPU before the end.
 */
static bool lasts_until_end(const struct why_evidence *evidence, const struct why_thread *thread,
			    uint64_t last)
{
	const uint64_t newest =
		thread->cpu < evidence->cpus ? evidence->cpu[thread->cpu].last_stamp : evidence->end;

	return last && elapsed(last, newest) <= why_ms(evidence, QUIET_MS) &&
	       why_age(evidence, last) <= why_ms(evidence, SILENT_MS);
}

static uint64_t rate(const struct why_evidence *evidence, uint64_t count, uint64_t first, uint64_t last)
{
	return last > first
		       ? (uint64_t)((unsigned __int128)count * evidence->info->frequency / (last - first))
		       : 0;
}

static bool fault_loops(const struct why_evidence *evidence, const struct why_thread *thread)
{
	return thread->fault_repeats >= FAULTS_LEAST &&
	       lasts_until_end(evidence, thread, thread->faults.last);
}

/*
 * The finding is never certain: the handler of a signal may continue at another place, and a program may poll
 * a device register whose accesses the kernel emulates in its fault handler.
 */
static int report_faults(const struct why_evidence *evidence, struct why_findings *findings,
			 const struct why_thread *thread)
{
	struct why_finding *finding = why_finding_new(findings, WHY_FAULT_LOOP, FINDING_LIKELY);
	char who[WHY_WORDS], where[WHY_WORDS], since[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what,
		    "%s faults on address 0x%" PRIx64 " again and again, and makes no progress",
		    why_say_actor(evidence, thread->id + 1, who, sizeof(who)), thread->fault_address);
	finding_evidence(&finding->base, "%" PRIu64 " page faults in a row at that address within %s",
			 thread->fault_repeats,
			 why_say_ticks(evidence, elapsed(thread->fault_first, thread->faults.last), since,
				       sizeof(since)));
	finding_refer(&finding->base, thread->faults.last, thread->id + 1, 0);
	if (thread->fault_ip)
		finding_evidence(&finding->base, "all by the instruction at %s",
				 why_say_place(evidence, thread->fault_ip, where, sizeof(where)));
	else
		finding_say(finding->base.advice,
			    "record the field ip in mm.fault_enter, which distinguishes the instructions");
	if (thread->fault_how[0])
		finding_evidence(&finding->base, "the kernel reports how these faults end: %s%s",
				 why_say_name(thread->fault_how, "", 0, where, sizeof(where)),
				 thread->fault_signals ? "; a signal is delivered for them" : "");
	why_finding_actor(finding,
			  (struct why_actor){ .id = thread->id + 1, .pc = thread->fault_ip, .exact = true });
	return 0;
}

/*
 * Returns whether the result is an error such as -EAGAIN. A call that returns the same result without an
 * error may still make progress.
 */
static bool is_error(uint64_t result)
{
	return (int64_t)result < 0 && (int64_t)result >= ERROR_LEAST;
}

/*
 * Returns whether the thread runs or is runnable. A thread that sleeps between its system calls does not
 * spin.
 */
static bool is_awake(const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;

	if (thread->has_holder && row->state != KTRX_THREAD_UNKNOWN)
		return (row->state == KTRX_THREAD_RUNNING || row->state == KTRX_THREAD_RUNNABLE) &&
		       row->wait == KTRX_WAIT_NONE;
	return thread->state == THREADS_RUNNING || thread->state == THREADS_RUNNABLE ||
	       thread->state == THREADS_UNKNOWN;
}

static bool calls_loop(const struct why_evidence *evidence, const struct why_thread *thread)
{
	return thread->repeats >= CALLS_LEAST && is_error(thread->syscall_result) && is_awake(thread) &&
	       thread->last_sleep < thread->repeat_first &&
	       lasts_until_end(evidence, thread, thread->syscalls.last) &&
	       rate(evidence, thread->repeats, thread->repeat_first, thread->syscalls.last) >= RATE_LEAST;
}

/*
 * Returns whether the thread's row in the kernel's table shows that it has run for long. The ring alone does
 * not show it, because it holds only the newest calls.
 */
static bool has_run_long(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;

	return thread->repeats_cut && thread->has_holder && row->state == KTRX_THREAD_RUNNING &&
	       row->state_stamp && why_age(evidence, row->state_stamp) >= why_ms(evidence, LONG_MS);
}

/* Sets `*certain` to the certainty of the finding. Returns false if there are too few calls for a finding. */
static bool how_certain(const struct why_evidence *evidence, const struct why_thread *thread,
			enum finding_certainty *certain)
{
	const bool is_long =
		elapsed(thread->repeat_first, thread->syscalls.last) >= why_ms(evidence, LONG_MS);

	if (thread->repeats >= CALLS_SOME && (is_long || has_run_long(evidence, thread)))
		*certain = FINDING_CERTAIN;
	else if (is_long || has_run_long(evidence, thread) || thread->repeats >= CALLS_MANY)
		*certain = FINDING_LIKELY;
	else
		*certain = FINDING_POSSIBLE;
	return *certain > FINDING_POSSIBLE || thread->repeats >= CALLS_SOME;
}

static int report_calls(const struct why_evidence *evidence, struct why_findings *findings,
			const struct why_thread *thread, enum finding_certainty certain)
{
	struct why_finding *finding = why_finding_new(findings, WHY_SYSCALL_LOOP, certain);
	const char *name = ktread_syscall_name(evidence->trace, (uint32_t)thread->syscall);
	const char *error = ktread_error_name(evidence->trace, (uint32_t)(0 - thread->syscall_result));
	char who[WHY_WORDS], since[WHY_WORDS], call[WHY_WORDS], result[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	why_say_actor(evidence, thread->id + 1, who, sizeof(who));
	why_say_name(name, "system call", thread->syscall, call, sizeof(call));
	why_say_name(error, "error", 0 - thread->syscall_result, result, sizeof(result));
	finding_say(finding->base.what, "%s calls %s again and again, and gets %s every time", who, call,
		    result);
	finding_evidence(&finding->base,
			 "%" PRIu64 " times in a row with the same arguments within %s, %" PRIu64 " a second",
			 thread->repeats,
			 why_say_ticks(evidence, elapsed(thread->repeat_first, thread->syscalls.last), since,
				       sizeof(since)),
			 rate(evidence, thread->repeats, thread->repeat_first, thread->syscalls.last));
	why_finding_actor(finding, (struct why_actor){ .id = thread->id + 1 });
	if (has_run_long(evidence, thread))
		finding_evidence(&finding->base,
				 "it has run for %s without a sleep; its older calls are lost",
				 why_say_ticks(evidence, why_age(evidence, thread->holder.state_stamp), since,
					       sizeof(since)));
	finding->base.partial = certain < FINDING_CERTAIN && thread->repeats_cut;
	if (certain < FINDING_CERTAIN)
		finding_say(finding->base.advice,
			    "use rings with more slots, "
			    "because the thread may poll only for a moment and then sleep");
	return 0;
}

int why_detect_loop(const struct why_evidence *evidence, struct why_findings *findings)
{
	enum finding_certainty certain;
	int error = 0;

	if (why_ended_well(evidence))
		return 0;
	for (uint32_t n = 0; n < evidence->threads && !error; n++) {
		const struct why_thread *thread = &evidence->thread[n];

		if (fault_loops(evidence, thread))
			error = report_faults(evidence, findings, thread);
		else if (calls_loop(evidence, thread) && how_certain(evidence, thread, &certain))
			error = report_calls(evidence, findings, thread, certain);
	}
	return error;
}
