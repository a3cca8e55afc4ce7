/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Dead timer: a CPU gets no ticks although interrupts are on there, and somebody misses them: a thread that
 * sleeps there is past its time. Without such a thread the ticks may rest, because the CPU idles.
 */
#include <inttypes.h>

#include "why/detectors.h"
#include "why/pulse.h"

#define LATE_MS 100u
#define HOST_MS \
	1500u /* that a host may let a virtual CPU wait: so long it proves nothing that there are no ticks */
#define SHOWN 4u /* sleepers */

static bool is_late(const struct why_evidence *evidence, const struct why_cpu *cpu,
		    const struct why_thread *thread)
{
	const struct ktrx_holder *holder = &thread->holder;

	return thread->has_holder && holder->cpu == cpu->number && holder->state == KTRX_THREAD_WAITING &&
	       holder->deadline && why_age(evidence, holder->deadline) > why_ms(evidence, LATE_MS);
}

static uint32_t late_sleepers(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	uint32_t late = 0;

	for (uint32_t n = 0; n < evidence->threads; n++)
		late += is_late(evidence, cpu, &evidence->thread[n]);
	return late;
}

/* What it has done since its heart last beat, up to the newest stamp. */
static uint64_t lived_on(const struct why_cpu *cpu)
{
	uint64_t last = cpu->last_stamp;

	if (cpu->row.irq_stamp > last)
		last = cpu->row.irq_stamp;
	if (cpu->row.switch_stamp > last)
		last = cpu->row.switch_stamp;
	return last > cpu->row.heartbeat_stamp ? last - cpu->row.heartbeat_stamp : 0;
}

/* The CPU has run without ticks, as far as is told, or it has had time enough. */
static bool had_time(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return lived_on(cpu) > why_ms(evidence, LATE_MS) ||
	       why_silence(evidence, cpu) >= why_ms(evidence, HOST_MS);
}

static void say_sleepers(const struct why_evidence *evidence, const struct why_cpu *cpu,
			 struct why_finding *finding)
{
	char actor[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS];
	uint32_t shown = 0;

	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];

		if (!is_late(evidence, cpu, thread))
			continue;
		why_finding_actor(finding,
				  (struct why_actor){ .id = thread->id + 1,
						      .waits = thread->holder.object,
						      .ticks = why_age(evidence, thread->holder.deadline),
						      .pc = thread->holder.wait_pc });
		if (shown++ == SHOWN)
			break;
		finding_evidence(&finding->base, "%s, asleep there in %s, should have been woken %s ago",
				 why_say_actor(evidence, thread->id + 1, actor, sizeof(actor)),
				 why_say_call(evidence, thread->holder.wait_pc, place, sizeof(place)),
				 why_say_ticks(evidence, why_age(evidence, thread->holder.deadline), ticks,
					       sizeof(ticks)));
	}
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct why_cpu *cpu)
{
	const bool alive = lived_on(cpu) > why_ms(evidence, LATE_MS);
	struct why_finding *finding = why_finding_new(
		findings, WHY_DEAD_TIMER,
		alive && cpu->row.interrupts == KTRX_INTERRUPTS_ON ? FINDING_CERTAIN : FINDING_LIKELY);
	char ticks[WHY_WORDS], place[WHY_WORDS], thread[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "the timer of CPU %" PRIu32 " has stopped", cpu->number);
	why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | cpu->number,
						       .ticks = why_silence(evidence, cpu) });
	finding_evidence(&finding->base, "its last tick came %s before the end, when %s was at %s",
			 why_say_ticks(evidence, why_silence(evidence, cpu), ticks, sizeof(ticks)),
			 why_say_actor(evidence, cpu->row.thread + 1, thread, sizeof(thread)),
			 why_say_place(evidence, cpu->row.pc, place, sizeof(place)));
	if (alive)
		finding_evidence(&finding->base,
				 "it lived on for %s at least: other interrupts came, or threads ran",
				 why_say_ticks(evidence, lived_on(cpu), ticks, sizeof(ticks)));
	say_sleepers(evidence, cpu, finding);
	if (cpu->row.interrupts == KTRX_INTERRUPTS_ON)
		finding_evidence(&finding->base, "interrupts are on there");
	return 0;
}

static bool is_old(const struct why_evidence *evidence, uint64_t since)
{
	return since == 0 || why_age(evidence, since) > why_ms(evidence, LATE_MS);
}

/*
 * Is it for something else that no ticks come: interrupts that are off, a lock, an answer? Not where that has
 * only just begun: whoever takes a lock has interrupts off for a moment.
 */
static bool has_another_reason(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return (cpu->row.interrupts == KTRX_INTERRUPTS_OFF && is_old(evidence, cpu->row.interrupts_stamp)) ||
	       (cpu->has_holder && cpu->holder.wait != KTRX_WAIT_NONE &&
		is_old(evidence, cpu->holder.wait_stamp)) ||
	       (cpu->row.ipi_cpu != 0 && is_old(evidence, cpu->row.ipi_stamp));
}

int why_detect_dead_timer(const struct why_evidence *evidence, struct why_findings *findings)
{
	int error = 0;

	for (uint32_t n = 0; n < evidence->cpus && !error; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (why_has_stopped(evidence, cpu) && !why_owes_end(cpu) &&
		    !has_another_reason(evidence, cpu) && had_time(evidence, cpu) &&
		    late_sleepers(evidence, cpu) > 0)
			error = found(evidence, findings, cpu);
	}
	return error;
}
