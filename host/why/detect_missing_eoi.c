/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Missing EOI: the last interrupt that a CPU took was handled but never ended at the controller, while others
 * are; so none of its rank or a lower one comes there any more. That the heart has stopped although
 * interrupts are on shows it.
 */
#include <inttypes.h>

#include "why/detectors.h"
#include "why/pulse.h"

/* How often that interrupt came before, and of these, how often the controller was told. */
static struct why_irq_kind before(const struct why_interrupts *interrupts)
{
	const struct why_irq_kind *newest = why_newest_kind(interrupts);
	struct why_irq_kind kind = newest ? *newest : (struct why_irq_kind){ 0 };

	kind.entered -= kind.entered > 0;
	return kind;
}

static void say(const struct why_evidence *evidence, const struct why_cpu *cpu, struct why_finding *finding)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;
	const bool by_events = interrupts->entered > 0;
	const uint64_t stamp = by_events ? interrupts->stamp : cpu->row.irq_stamp;
	char irq[WHY_WORDS], place[WHY_WORDS], thread[WHY_WORDS], ticks[WHY_WORDS];
	struct why_irq_kind earlier = before(interrupts);

	why_say_irq(by_events ? interrupts->number : cpu->row.irq, by_events ? interrupts->name : "", irq,
		    sizeof(irq));
	finding_say(finding->base.what,
		    "CPU %" PRIu32 " gets no interrupts any more: %s was not ended at the controller",
		    cpu->number, irq);
	finding_evidence(&finding->base,
			 "%s came %s before the end; its handler returned, and no irq.eoi records its end",
			 irq, why_say_ticks(evidence, why_age(evidence, stamp), ticks, sizeof(ticks)));
	if (interrupts->pc)
		finding_evidence(&finding->base, "it interrupted %s at %s",
				 why_say_running(evidence, cpu, thread, sizeof(thread)),
				 why_say_place(evidence, interrupts->pc, place, sizeof(place)));
	if (earlier.ended)
		finding_evidence(&finding->base,
				 "before that it came %" PRIu64 " times there and was ended %" PRIu64
				 " times",
				 earlier.entered, earlier.ended);
	finding_evidence(&finding->base, "since then no interrupt came on CPU %" PRIu32 "; %s", cpu->number,
			 why_say_beat(evidence, cpu, thread, sizeof(thread)));
	if (cpu->row.interrupts == KTRX_INTERRUPTS_ON)
		finding_evidence(&finding->base, "interrupts are on there");
	else
		finding_say(finding->base.advice, "whether interrupts are on there: ktrace_interrupts()");
}

static int look_at(const struct why_evidence *evidence, struct why_findings *findings,
		   const struct why_cpu *cpu)
{
	struct why_irq_kind earlier = before(&cpu->interrupts);
	enum finding_certainty certain =
		cpu->row.interrupts == KTRX_INTERRUPTS_ON ? FINDING_CERTAIN : FINDING_LIKELY;
	struct why_finding *finding;

	if (!why_has_stopped(evidence, cpu) || !why_owes_end(cpu) ||
	    cpu->row.interrupts == KTRX_INTERRUPTS_OFF)
		return 0;
	/*
	 * One that need not be ended, as a spurious one; or the beginning of the trace has cut off an
	 * irq.eoi.
	 */
	if (earlier.entered > earlier.ended + 1)
		return 0;
	finding = why_finding_new(findings, WHY_MISSING_EOI, certain);
	if (!finding)
		return KTREAD_E_MEMORY;
	finding->base.partial = cpu->lost > 0;
	say(evidence, cpu, finding);
	why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | cpu->number,
						       .ticks = why_silence(evidence, cpu),
						       .pc = cpu->interrupts.pc,
						       .exact = true });
	return 0;
}

int why_detect_missing_eoi(const struct why_evidence *evidence, struct why_findings *findings)
{
	int error = 0;

	for (uint32_t n = 0; n < evidence->cpus && !error; n++)
		error = look_at(evidence, findings, &evidence->cpu[n]);
	return error;
}
