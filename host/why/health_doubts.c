/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reasons why the verdicts "idle" and "busy" are only possible: the machine, or a CPU, may have stopped. */
#include <inttypes.h>

#include "analyze/note.h"
#include "why/finding.h"
#include "why/pulse.h"

/* minimum time in s for which a machine is watched before its silence counts */
#define WATCHED_S 1.0
#define SHOWN	  4u /* maximum number of CPUs that are listed */

/*
 * Returns whether the machine recorded nothing while it was watched, and the clock's frequency is unknown. If
 * so, it is unknown whether the timer ticked regularly before the silence.
 */
static bool is_silent_without_clock(const struct why_evidence *evidence)
{
	bool more;

	return evidence->info->frequency == 0 && why_may_have_stopped(evidence) &&
	       note_silence(evidence->info->note, &more) >= WATCHED_S;
}

void why_doubt_times(const struct why_evidence *evidence, uint32_t open, struct why_finding *finding)
{
	const struct why_cpu *cpu = why_stopped_ticking(evidence);
	const bool needless = cpu && why_ticks_without_reason(cpu),
		   silent = is_silent_without_clock(evidence);

	if (!cpu && !silent && (open == 0 || evidence->info->frequency))
		return;
	finding->base.certain = FINDING_POSSIBLE;
	finding->open = true;
	if (cpu)
		finding_evidence(&finding->base,
				 "the timer of CPU %" PRIu32 " ticked also when %s, but not while the "
				 "machine was watched: it may have stopped%s",
				 cpu->number, needless ? "no thread was to be woken" : "the CPU idled",
				 needless ? "" : "; wakeups are not recorded");
	else if (silent)
		finding_evidence(&finding->base,
				 "the machine recorded nothing while it was watched, and it is unknown how "
				 "often its timer used to tick: it may have stopped");
}

/* Adds a line about a CPU, and advice if there is none yet. */
static void say_idle_cpu(const struct why_evidence *evidence, const struct why_cpu *cpu,
			 struct why_finding *finding)
{
	const bool file = evidence->symbols && !symbols_doubtful(evidence->symbols);
	char place[WHY_WORDS];

	why_say_place(evidence, cpu->pc, place, sizeof(place));
	finding_evidence(&finding->base,
			 "CPU %" PRIu32 " may run code in idle mode, at %s: its registers show disabled "
			 "interrupts, and nothing shows that it waits for one",
			 cpu->number, place);
	if (finding->base.advice[0])
		return;
	if (file)
		finding_say(finding->base.advice, "check what CPU %" PRIu32 " does at %s", cpu->number,
			    place);
	else
		finding_say(finding->base.advice,
			    "pass the kernel's file (--elf): it shows whether this code waits");
}

uint32_t why_doubt_idle_cpus(const struct why_evidence *evidence, struct why_finding *finding)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (!why_is_there(cpu) || !why_idles(evidence, cpu) || !why_may_stay_awake(evidence, cpu))
			continue;
		finding->base.certain = FINDING_POSSIBLE;
		finding->open = true;
		if (count++ < SHOWN)
			say_idle_cpu(evidence, cpu, finding);
	}
	if (count > SHOWN)
		finding_evidence(&finding->base, "so may %" PRIu32 " more CPU%s", count - SHOWN,
				 finding_plural(count - SHOWN));
	return count;
}
