/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Interrupt storm: one interrupt comes again as soon as its handler has returned, so that its CPU does nothing else:
 * what it interrupts stays where it is, or the heart does not beat any more.
 */
#include <inttypes.h>

#include "why/detectors.h"
#include "why/pulse.h"

#define RUN	  64u  /* interrupts in a row … */
#define RUN_IDLE  512u /* … of a CPU that idles, where others may well ask for something often */
#define MOST_A_MS 2u   /* fewer are no storm */
#define RECENT_MS 100u

static bool is_idle(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_thread *thread = why_runs(evidence, cpu);

	return !thread || thread->idle;
}

static bool is_storm(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;
	const bool stopped = why_has_stopped(evidence, cpu), idle = is_idle(evidence, cpu);
	const uint64_t span = interrupts->stamp - interrupts->run_first;

	if (interrupts->run < (idle ? RUN_IDLE : RUN) || evidence->info->frequency == 0 ||
	    interrupts->run < span / (why_ms(evidence, 1) + 1) * MOST_A_MS)
		return false;
	if (!evidence->stalled && evidence->end - interrupts->stamp > why_ms(evidence, RECENT_MS))
		return false;
	return stopped || (interrupts->run_stands && !idle);
}

static void say(const struct why_evidence *evidence, const struct why_cpu *cpu, struct why_finding *finding)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;
	const uint64_t span = interrupts->stamp - interrupts->run_first;
	char irq[WHY_WORDS], place[WHY_WORDS], thread[WHY_WORDS], ticks[WHY_WORDS];

	why_say_irq(interrupts->number, interrupts->name, irq, sizeof(irq));
	why_finding_head(finding, "%s comes again and again on CPU %" PRIu32 ", which does nothing else", irq,
			 cpu->number);
	why_finding_line(finding,
			 "the last %" PRIu64
			 " events of its kind there are %s apart on average, with nothing between them",
			 interrupts->run,
			 why_say_ticks(evidence, span / (interrupts->run - 1), ticks, sizeof(ticks)));
	if (cpu->has_row && cpu->row.irqs)
		why_finding_line(finding,
				 "CPU %" PRIu32 " has taken %" PRIu64
				 " interrupts in all, and beaten %" PRIu64 " times",
				 cpu->number, cpu->row.irqs, cpu->row.heartbeats);
	if (why_has_stopped(evidence, cpu))
		why_finding_line(finding, "%s", why_say_beat(evidence, cpu, ticks, sizeof(ticks)));
	if (interrupts->pc)
		why_finding_line(finding, "%s %s at %s",
				 why_say_running(evidence, cpu, thread, sizeof(thread)),
				 interrupts->run_stands ? "stands" : "was interrupted last",
				 why_say_place(evidence, interrupts->pc, place, sizeof(place)));
	if (cpu->has_registers)
		why_finding_line(
			finding, "the CPU is at %s, called from %s",
			why_say_place(evidence, cpu->pc, place, sizeof(place)),
			why_say_call(evidence, cpu->frames ? cpu->frame[0] : 0, thread, sizeof(thread)));
	why_finding_line(finding, "its handler leaves the cause as it is, or raises it again");
}

int why_detect_irq_storm(const struct why_evidence *evidence, struct why_findings *findings)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];
		struct why_finding *finding;

		if (!is_storm(evidence, cpu))
			continue;
		finding = why_finding_new(findings, WHY_IRQ_STORM,
					  why_has_stopped(evidence, cpu) ? WHY_CERTAIN : WHY_LIKELY);
		if (!finding)
			return KTREAD_E_MEMORY;
		say(evidence, cpu, finding);
		why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | n,
							       .ticks = why_silence(evidence, cpu),
							       .pc = cpu->interrupts.pc });
	}
	return 0;
}
