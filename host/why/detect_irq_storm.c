/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Interrupt storm: one interrupt comes again as soon as its handler has returned, so that its CPU does
 * nothing else: what it interrupts stays where it is, or the heart does not beat any more.
 */
#include <inttypes.h>

#include "analyze/elapsed.h"
#include "why/detectors.h"
#include "why/pulse.h"

#define RUN	      64u  /* interrupts in a row … */
#define RUN_IDLE      512u /* … of a CPU that idles, where others may well ask for something often */
#define LEAST_A_MS    2u   /* fewer are no storm */
#define RECENT_MS     100u
#define FLOOD_MS      100u
#define EVENTS_OF_ONE 3u /* that tell of one interrupt: entered, ended, left */

struct storm {
	uint32_t number; /* of the interrupt */
	const char *name;
	uint64_t count, span; /* so many in so many ticks */
	bool dense;	      /* hardly ever there was time for anything between two of them */
};

static uint64_t at_least(const struct why_evidence *evidence, uint64_t span)
{
	return span / (why_ms(evidence, 1) + 1) * LEAST_A_MS;
}

static bool is_dense(const struct why_irq_kind *kind)
{
	return kind->close >= kind->entered - kind->entered / 4;
}

/* A small ring holds the last of them only; the CPU has counted all. */
static bool came_often(const struct why_evidence *evidence, const struct why_cpu *cpu,
		       const struct storm *storm, bool idle)
{
	if (storm->count >= (idle ? RUN_IDLE : RUN))
		return true;
	return cpu->lost > 0 && storm->dense && storm->count >= RUN && cpu->row.irqs >= RUN_IDLE &&
	       cpu->row.irqs >= at_least(evidence, why_silence(evidence, cpu));
}

/*
 * The last interrupts are all of one kind, with nothing between them. A CPU that idles stays where it is
 * anyway, and its heart may rest: there it is a storm only if it could not do anything else.
 */
static bool is_storm(const struct why_evidence *evidence, const struct why_cpu *cpu, struct storm *storm)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;
	const struct why_thread *thread = why_runs(evidence, cpu);
	const bool idle = !thread || (thread->idle && why_idles(evidence, cpu));
	const struct why_irq_kind *kind = why_newest_kind(interrupts);

	*storm = (struct storm){ interrupts->number, interrupts->name, interrupts->run,
				 elapsed(interrupts->run_first, interrupts->stamp), kind && is_dense(kind) };
	if (!came_often(evidence, cpu, storm, idle) || storm->count < at_least(evidence, storm->span))
		return false;
	if (!evidence->stalled && why_age(evidence, interrupts->stamp) > why_ms(evidence, RECENT_MS))
		return false;
	return idle ? storm->dense && why_has_stopped(evidence, cpu)
		    : why_has_stopped(evidence, cpu) || interrupts->run_stands;
}

/* Ticks come between, but hardly anything other than this interrupt is told of the CPU. */
static bool is_flood(const struct why_evidence *evidence, const struct why_cpu *cpu, struct storm *storm)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;

	for (uint32_t n = 0; n < interrupts->kinds; n++) {
		const struct why_irq_kind *kind = &interrupts->kind[n];

		*storm = (struct storm){ kind->number,
					 kind->number == interrupts->number ? interrupts->name : "",
					 kind->entered, elapsed(kind->first, kind->last), is_dense(kind) };
		if (storm->dense && storm->span >= why_ms(evidence, FLOOD_MS) &&
		    storm->count >= at_least(evidence, storm->span) && storm->count >= RUN &&
		    storm->count * EVENTS_OF_ONE >= interrupts->events / 10 * 9)
			return true;
	}
	return false;
}

static void say(const struct why_evidence *evidence, const struct why_cpu *cpu, const struct storm *storm,
		struct why_finding *finding)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;
	char irq[WHY_WORDS], place[WHY_WORDS], thread[WHY_WORDS], ticks[WHY_WORDS];

	why_say_irq(storm->number, storm->name, irq, sizeof(irq));
	finding_say(finding->base.what,
		    "%s comes again and again on CPU %" PRIu32 ", which does nothing else", irq, cpu->number);
	finding_evidence(&finding->base, "the last %" PRIu64 " of them came %s apart on average",
			 storm->count,
			 why_say_ticks(evidence, storm->span / storm->count, ticks, sizeof(ticks)));
	if (cpu->has_row && cpu->row.irqs)
		finding_evidence(&finding->base,
				 "CPU %" PRIu32 " has taken %" PRIu64
				 " interrupts in all, and beaten %" PRIu64 " times",
				 cpu->number, cpu->row.irqs, cpu->row.heartbeats);
	if (why_has_stopped(evidence, cpu))
		finding_evidence(&finding->base, "%s", why_say_beat(evidence, cpu, ticks, sizeof(ticks)));
	if (interrupts->pc)
		finding_evidence(&finding->base, "%s %s at %s",
				 why_say_running(evidence, cpu, thread, sizeof(thread)),
				 interrupts->run_stands ? "stands" : "was interrupted last",
				 why_say_place(evidence, interrupts->pc, place, sizeof(place)));
	if (cpu->has_registers)
		finding_evidence(
			&finding->base, "the CPU is at %s, called from %s",
			why_say_standing(evidence, cpu, place, sizeof(place)),
			why_say_call(evidence, cpu->frames ? cpu->frame[0] : 0, thread, sizeof(thread)));
	finding_evidence(&finding->base, "its handler leaves the cause as it is, or raises it again");
}

int why_detect_irq_storm(const struct why_evidence *evidence, struct why_findings *findings)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];
		struct why_finding *finding;
		struct storm storm;

		if (evidence->info->frequency == 0 ||
		    (!is_storm(evidence, cpu, &storm) && !is_flood(evidence, cpu, &storm)))
			continue;
		finding = why_finding_new(findings, WHY_IRQ_STORM,
					  why_has_stopped(evidence, cpu) ? FINDING_CERTAIN : FINDING_LIKELY);
		if (!finding)
			return KTREAD_E_MEMORY;
		say(evidence, cpu, &storm, finding);
		why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | n,
							       .ticks = why_silence(evidence, cpu),
							       .pc = cpu->interrupts.pc,
							       .exact = true });
	}
	return 0;
}
