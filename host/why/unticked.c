/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * CPUs that have no heartbeat for long, but make progress: some kernels do not preempt threads, and program
 * their timer only while a CPU idles.
 */
#include <inttypes.h>

#include "why/finding.h"
#include "why/pulse.h"

/*
 * time in ms: a busy CPU without a heartbeat for this long is not healthy; a host may delay a heartbeat, but
 * not this long
 */
#define QUIET_MS  1500u
#define MOMENT_MS 100u /* time in ms: a switch is recent, and a sleep is not yet late, within this time */
/* minimum time in ms for which a CPU that seems to idle has had interrupts disabled */
#define STAYS_MS 1000u
#define LATE_MS	 1000u /* time in ms: a thread that is runnable for longer should have run */

bool why_is_silent(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return evidence->info->frequency && why_silence(evidence, cpu) > why_ms(evidence, QUIET_MS);
}

/* Returns whether the thread still sleeps after its deadline, or is runnable but does not get its turn. */
static bool is_late(const struct why_evidence *evidence, const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;

	return thread->runnable > why_ms(evidence, LATE_MS) ||
	       (row->state == KTRX_THREAD_WAITING && row->deadline &&
		why_age(evidence, row->deadline) > why_ms(evidence, MOMENT_MS));
}

bool why_works_without_ticks(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	bool ended = false;

	if (cpu->row.heartbeats == 0 || cpu->switches.last == 0 ||
	    why_age(evidence, cpu->switches.last) > why_ms(evidence, MOMENT_MS))
		return false;
	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];

		if (!thread->has_holder || thread->holder.cpu != cpu->number)
			continue;
		if (is_late(evidence, thread))
			return false;
		ended |= thread->usual_sleep && thread->holder.deadline &&
			 thread->slept_until > cpu->row.heartbeat_stamp + why_ms(evidence, QUIET_MS);
	}
	return ended;
}

void why_finding_without_ticks(struct why_finding *finding, const struct why_evidence *evidence)
{
	char beat[WHY_WORDS];

	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (why_is_there(cpu) && !why_idles(evidence, cpu) && why_is_silent(evidence, cpu) &&
		    why_works_without_ticks(evidence, cpu))
			finding_evidence(&finding->base,
					 "%s, but it switches threads, and timed sleeps end there",
					 why_say_beat(evidence, cpu, beat, sizeof(beat)));
	}
}

/* Returns whether the CPU has interrupts disabled, and has been silent for long. */
static bool is_masked_and_silent(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->mask == INTERRUPTS_MASKED && why_has_stopped(evidence, cpu) &&
	       why_silence(evidence, cpu) >= why_ms(evidence, STAYS_MS) &&
	       why_age(evidence, cpu->last_stamp) >= why_ms(evidence, WHY_STOPPED_MS);
}

bool why_stays_awake(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return is_masked_and_silent(evidence, cpu) && why_is_awake(evidence, cpu);
}

bool why_stays_in_handler(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return is_masked_and_silent(evidence, cpu) &&
	       ((cpu->irq_pending && why_is_in_handler(evidence, cpu)) || why_left_halt(evidence, cpu));
}
