/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/answers.h"

#include <inttypes.h>

#include "why/pulse.h"

#define USUAL_MS 10u /* time in ms: an IPI is normally answered within this time */

bool why_awaits_answer(const struct why_cpu *cpu)
{
	return cpu->has_row && cpu->row.ipi_cpu != 0;
}

/*
 * Returns whether an IPI to all CPUs also goes to this CPU. This is so if the CPU is online or has called
 * hooks.
 */
static bool is_one_of_all(const struct why_cpu *cpu)
{
	return why_is_there(cpu) || cpu->row.interrupts != KTRX_INTERRUPTS_UNKNOWN;
}

bool why_awaits_answer_of(const struct why_cpu *asker, const struct why_cpu *asked)
{
	if (!why_awaits_answer(asker) || asker == asked || !asked->has_row ||
	    asked->row.ipi_answered >= asker->row.ipi_stamp)
		return false;
	return asker->row.ipi_cpu == KTRX_ALL_CPUS ? is_one_of_all(asked)
						   : asker->row.ipi_cpu - 1 == asked->number;
}

const char *why_say_awaited_answer(const struct why_evidence *evidence, const struct why_cpu *asker,
				   char *buffer, size_t size)
{
	char whose[32] = "all other CPUs", since[WHY_WORDS], place[WHY_WORDS];

	if (asker->row.ipi_cpu != KTRX_ALL_CPUS)
		why_say(whose, sizeof(whose), "CPU %" PRIu32, asker->row.ipi_cpu - 1);
	return why_say(
		buffer, size, "CPU %" PRIu32 " has waited%s for %s to answer IPI request %" PRIu32 "%s",
		asker->number, why_say_since(evidence, " ", asker->row.ipi_stamp, since, sizeof(since)),
		whose, asker->row.ipi_what,
		why_say_called(evidence, ", at ", asker->row.ipi_pc, place, sizeof(place)));
}

const char *why_say_missing_answer(const struct why_evidence *evidence, const struct why_cpu *asked,
				   char *buffer, size_t size)
{
	const struct ktrx_cpu *row = &asked->row;
	char since[WHY_WORDS], place[WHY_WORDS];

	if (row->interrupts == KTRX_INTERRUPTS_OFF) {
		why_say_since(evidence, " about ", row->interrupts_stamp, since, sizeof(since));
		why_say_called(evidence, ", at ", row->interrupts_pc, place, sizeof(place));
		return why_say(
			buffer, size,
			"CPU %" PRIu32
			" has not answered: it disabled interrupts%s%s%s%s and has not enabled them since",
			asked->number, since, *since ? " ago" : "", place, *place ? "," : "");
	}
	if (row->nesting)
		return why_say(buffer, size,
			       "CPU %" PRIu32 " has not answered: it %s in the handler of interrupt %" PRIu32
			       "%s",
			       asked->number, row->irq_stamp ? "has been" : "is", row->irq,
			       why_say_since(evidence, " for ", row->irq_stamp, since, sizeof(since)));
	if (!why_is_there(asked))
		return why_say(buffer, size, "CPU %" PRIu32 " has not answered: it never started",
			       asked->number);
	return why_say(buffer, size, "CPU %" PRIu32 " has not answered, %s there; %s", asked->number,
		       row->interrupts == KTRX_INTERRUPTS_ON
			       ? "although interrupts are enabled"
			       : "and it is unknown whether interrupts are enabled",
		       why_say_beat(evidence, asked, since, sizeof(since)));
}

const char *why_say_unanswerable(const struct why_evidence *evidence, const struct why_cpu *asker,
				 char *buffer, size_t size)
{
	const uint32_t asked = asker->row.ipi_cpu - 1;
	bool others = false;

	if (!why_awaits_answer(asker))
		return why_say(buffer, size, "%s", "");
	if (asker->row.ipi_cpu == KTRX_ALL_CPUS) {
		for (uint32_t n = 0; n < evidence->cpus && !others; n++)
			others = n != asker->number && is_one_of_all(&evidence->cpu[n]);
		return why_say(buffer, size, "%s", others ? "" : "no other CPU has started");
	}
	if (asked >= evidence->cpus)
		return why_say(buffer, size, "there is no CPU %" PRIu32 " in this trace", asked);
	if (asked == asker->number && asker->row.ipi_answered < asker->row.ipi_stamp)
		return why_say(buffer, size, "the CPU waits for an answer from itself");
	return why_say(buffer, size, "%s", "");
}

void why_finding_awaited_answer(struct why_finding *finding, const struct why_evidence *evidence,
				const struct why_cpu *asked)
{
	char line[FINDING_LINE];

	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *asker = &evidence->cpu[n];

		if (!why_awaits_answer_of(asker, asked) ||
		    why_age(evidence, asker->row.ipi_stamp) < why_ms(evidence, USUAL_MS))
			continue;
		finding_evidence(&finding->base, "%s",
				 why_say_awaited_answer(evidence, asker, line, sizeof(line)));
		why_finding_actor(finding,
				  (struct why_actor){ .id = KTRX_HOLDER_CPU | asker->number,
						      .ticks = why_age(evidence, asker->row.ipi_stamp),
						      .pc = asker->row.ipi_pc });
	}
}
