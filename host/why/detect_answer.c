/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A CPU waits for another CPU's answer to an interrupt, and none comes. Why the other one does not answer is
 * often what another detector finds: then this is what follows from it.
 */
#include <inttypes.h>

#include "why/answers.h"
#include "why/detectors.h"
#include "why/pulse.h"

#define LATE_MS	   1500u /* a host may make a virtual CPU wait for less */
#define STALLED_MS 250u	 /* the same where the host says that the machine stands */
#define SHOWN	   8u	 /* CPUs that have not answered */
#define MOST	   8u	 /* CPUs that wait, each a finding; all are listed with what else is known of them */

static bool is_late(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t late = why_ms(evidence, evidence->stalled ? STALLED_MS : LATE_MS);

	return why_asks(cpu) && late && why_age(evidence, cpu->row.ipi_stamp) >= late;
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct why_cpu *asker)
{
	struct why_finding *finding = why_finding_new(findings, WHY_OVERDUE, FINDING_LIKELY);
	char line[FINDING_LINE];
	uint32_t owing = 0;

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s", why_say_asks(evidence, asker, line, sizeof(line)));
	why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | asker->number,
						       .ticks = why_age(evidence, asker->row.ipi_stamp),
						       .pc = asker->row.ipi_pc });
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *asked = &evidence->cpu[n];

		if (!why_asks_for(asker, asked) || owing++ >= SHOWN)
			continue;
		finding_evidence(&finding->base, "%s", why_say_owes(evidence, asked, line, sizeof(line)));
		why_finding_actor(finding,
				  (struct why_actor){ .id = KTRX_HOLDER_CPU | n,
						      .pc = asked->has_registers ? asked->pc : asked->row.pc,
						      .exact = true });
	}
	if (owing > SHOWN)
		finding_evidence(&finding->base, "%" PRIu32 " more CPUs have not answered", owing - SHOWN);
	if (owing == 0) {
		finding->base.certain = FINDING_POSSIBLE;
		finding_evidence(&finding->base, "all that were asked have answered: ktrace_ipi_wait_end() "
						 "was not called, or the answers were lost");
	}
	return 0;
}

int why_detect_answer(const struct why_evidence *evidence, struct why_findings *findings)
{
	uint32_t late = 0;
	int error = 0;

	if (why_ended_well(evidence) || evidence->panic.stamp)
		return 0;
	for (uint32_t n = 0; n < evidence->cpus && late < MOST && !error; n++) {
		if (!is_late(evidence, &evidence->cpu[n]))
			continue;
		late++;
		error = found(evidence, findings, &evidence->cpu[n]);
	}
	return error;
}
