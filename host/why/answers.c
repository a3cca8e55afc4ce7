/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/answers.h"

#include <inttypes.h>

#include "why/pulse.h"

#define USUAL_MS 10u /* that an answer takes now and then */

bool why_asks(const struct why_cpu *cpu)
{
	return cpu->has_row && cpu->row.ipi_cpu != 0;
}

/* One that is not there is not among all others. */
static bool is_one_of_all(const struct why_cpu *cpu)
{
	return why_is_there(cpu) || cpu->row.interrupts != KTRX_INTERRUPTS_UNKNOWN;
}

bool why_asks_for(const struct why_cpu *asker, const struct why_cpu *asked)
{
	if (!why_asks(asker) || asker == asked || !asked->has_row ||
	    asked->row.ipi_answered >= asker->row.ipi_stamp)
		return false;
	return asker->row.ipi_cpu == KTRX_ALL_CPUS ? is_one_of_all(asked)
						   : asker->row.ipi_cpu - 1 == asked->number;
}

const char *why_say_asks(const struct why_evidence *evidence, const struct why_cpu *asker, char *buffer,
			 size_t size)
{
	char whose[32] = "all other CPUs", since[WHY_WORDS], place[WHY_WORDS];

	if (asker->row.ipi_cpu != KTRX_ALL_CPUS)
		why_say(whose, sizeof(whose), "CPU %" PRIu32, asker->row.ipi_cpu - 1);
	return why_say(
		buffer, size, "CPU %" PRIu32 " has waited%s for an answer of %s to its request %" PRIu32 "%s",
		asker->number, why_say_since(evidence, " ", asker->row.ipi_stamp, since, sizeof(since)),
		whose, asker->row.ipi_what,
		why_say_called(evidence, ", in ", asker->row.ipi_pc, place, sizeof(place)));
}

const char *why_say_owes(const struct why_evidence *evidence, const struct why_cpu *asked, char *buffer,
			 size_t size)
{
	const struct ktrx_cpu *row = &asked->row;
	char since[WHY_WORDS], place[WHY_WORDS];

	if (row->interrupts == KTRX_INTERRUPTS_OFF)
		return why_say(
			buffer, size, "CPU %" PRIu32 " has not answered: interrupts are off there%s%s",
			asked->number,
			why_say_since(evidence, " for about ", row->interrupts_stamp, since, sizeof(since)),
			why_say_called(evidence, ", turned off in ", row->interrupts_pc, place,
				       sizeof(place)));
	if (row->nesting)
		return why_say(buffer, size,
			       "CPU %" PRIu32 " has not answered: it is in the handler of interrupt %" PRIu32
			       "%s",
			       asked->number, row->irq,
			       why_say_since(evidence, " for ", row->irq_stamp, since, sizeof(since)));
	return why_say(buffer, size, "CPU %" PRIu32 " has not answered, %s; %s", asked->number,
		       row->interrupts == KTRX_INTERRUPTS_ON
			       ? "although interrupts are on there"
			       : "and whether interrupts are on there is not known",
		       why_say_beat(evidence, asked, since, sizeof(since)));
}

void why_finding_askers(struct why_finding *finding, const struct why_evidence *evidence,
			const struct why_cpu *asked)
{
	char line[FINDING_LINE];

	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *asker = &evidence->cpu[n];

		if (!why_asks_for(asker, asked) ||
		    why_age(evidence, asker->row.ipi_stamp) < why_ms(evidence, USUAL_MS))
			continue;
		finding_evidence(&finding->base, "%s", why_say_asks(evidence, asker, line, sizeof(line)));
		why_finding_actor(finding,
				  (struct why_actor){ .id = KTRX_HOLDER_CPU | asker->number,
						      .ticks = why_age(evidence, asker->row.ipi_stamp),
						      .pc = asker->row.ipi_pc });
	}
}
