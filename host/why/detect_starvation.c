/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Starvation: a thread that could run and does not, on a CPU that is well: its timer ticks, and it has had time for
 * others. What keeps a CPU from choosing a thread at all is other detectors' business.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "why/detectors.h"
#include "why/pulse.h"

/* So many ticks of the CPU's timer without a turn, and at least so long: others' turns are over many times by then. */
#define BEATS_LEAST   20u
#define BEATS_EACH    4u /* for each that could run there */
#define WAIT_LEAST_MS 250u
#define WAIT_UNTOLD   4u /* times as long, where interrupts are not told of */

struct starved {
	const struct why_thread *thread;
	const struct why_cpu *cpu;
	uint64_t since;
	bool told; /* by the kernel's table */
};

/* Could it run, and since when? */
static bool is_runnable(const struct why_evidence *evidence, const struct why_thread *thread,
			struct starved *starved)
{
	const struct ktrx_holder *row = &thread->holder;
	uint32_t cpu = thread->cpu;

	*starved = (struct starved){ .thread = thread, .since = thread->since };
	if (thread->idle || why_is_gone(evidence, thread))
		return false;
	if (thread->has_holder && row->state != KTRX_THREAD_UNKNOWN) {
		if (row->state != KTRX_THREAD_RUNNABLE || !row->state_stamp)
			return false;
		cpu = row->cpu;
		starved->since = row->state_stamp;
		starved->told = true;
	} else if (thread->state != THREADS_RUNNABLE) {
		return false;
	}
	if (cpu >= evidence->cpus)
		return false;
	starved->cpu = &evidence->cpu[cpu];
	return true;
}

/* How many could run on each CPU; NULL without memory. */
static uint32_t *count_runnable(const struct why_evidence *evidence)
{
	uint32_t *count = calloc((size_t)evidence->cpus + 1, sizeof(*count));
	struct starved one;

	for (uint32_t n = 0; count && n < evidence->threads; n++)
		if (is_runnable(evidence, &evidence->thread[n], &one))
			count[one.cpu->number]++;
	return count;
}

/*
 * The CPU's timer beats still, and has beaten so often that everybody would have had a turn, and more. A virtual CPU that
 * had no time itself has not.
 */
static bool is_starved(const struct why_evidence *evidence, const struct starved *starved, uint32_t runnable)
{
	const uint64_t least = why_ms(evidence, WAIT_LEAST_MS);
	uint64_t waits = why_age(evidence, starved->since);

	if (!starved->told && !why_is_whole_since(evidence, starved->since)) /* it may have run meanwhile */
		return false;
	if (least == 0 || waits < least || !starved->cpu->has_row || !starved->cpu->row.heartbeats ||
	    why_silence(evidence, starved->cpu) > waits / 2)
		return false;
	if (starved->cpu->irqs.count == 0) /* they are not told of */
		return waits >= WAIT_UNTOLD * least;
	return starved->thread->interrupts >= BEATS_LEAST &&
	       starved->thread->interrupts >= (uint64_t)BEATS_EACH * runnable;
}

static void tell_priorities(const struct why_evidence *evidence, struct why_finding *finding,
			    const struct why_thread *runs, const struct why_thread *starved)
{
	char who[WHY_WORDS];

	why_say_actor(evidence, runs->id + 1, who, sizeof(who));
	if (runs->holder.priority && starved->holder.priority)
		why_finding_line(finding, "%s runs there, with priority %u against %u", who,
				 runs->holder.priority, starved->holder.priority);
	else
		why_finding_line(finding, "%s runs there", who);
}

static int tell(const struct why_evidence *evidence, struct why_findings *findings,
		const struct starved *starved)
{
	const struct why_thread *on = why_runs(evidence, starved->cpu), *runs = on && !on->idle ? on : NULL;
	struct why_finding *finding =
		why_finding_new(findings, WHY_STARVATION, starved->told && runs ? WHY_CERTAIN : WHY_LIKELY);
	char who[WHY_WORDS], waits[WHY_WORDS], ago[WHY_WORDS], where[WHY_WORDS];
	const uint64_t ticks = why_age(evidence, starved->since);

	if (!finding)
		return KTREAD_E_MEMORY;
	why_finding_head(finding, "%s could run on CPU %" PRIu32 " and has not for %s",
			 why_say_actor(evidence, starved->thread->id + 1, who, sizeof(who)),
			 starved->cpu->number, why_say_ticks(evidence, ticks, waits, sizeof(waits)));
	why_finding_actor(finding, (struct why_actor){ .id = starved->thread->id + 1, .ticks = ticks });
	if (runs) {
		tell_priorities(evidence, finding, runs, starved->thread);
		why_finding_actor(finding,
				  (struct why_actor){ .id = runs->id + 1, .pc = starved->cpu->row.pc });
	}
	why_finding_line(finding, "CPU %" PRIu32 " is well: its timer beat %s ago, and interrupted %s",
			 starved->cpu->number,
			 why_say_ticks(evidence, why_age(evidence, starved->cpu->row.heartbeat_stamp), ago,
				       sizeof(ago)),
			 why_say_place(evidence, starved->cpu->row.pc, where, sizeof(where)));
	if (!starved->told) {
		finding->partial = true;
		if (evidence->missing_hooks & KTRX_HOOK_THREAD)
			why_finding_missing(finding,
					    "the hooks ktrace_thread_switch() and ktrace_thread_wake(), "
					    "which say who can run");
	}
	return 0;
}

int why_detect_starvation(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct starved starved;
	uint32_t *runnable;
	int error;

	if (why_ended_well(evidence))
		return 0;
	runnable = count_runnable(evidence);
	error = runnable ? 0 : KTREAD_E_MEMORY;
	for (uint32_t n = 0; n < evidence->threads && !error; n++)
		if (is_runnable(evidence, &evidence->thread[n], &starved) &&
		    is_starved(evidence, &starved, runnable[starved.cpu->number]))
			error = tell(evidence, findings, &starved);
	free(runnable);
	return error;
}
