/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Triple fault: the machine has reset itself and the kernel had not said that it would. On x86 that is what
 * becomes of a fault that cannot be delivered. Which CPU it was is not told by anybody: those that did not
 * idle are named.
 */
#include <elf.h>
#include <inttypes.h>

#include "why/detectors.h"
#include "why/pulse.h"
#include "why/side.h"

static void say_cpu(const struct why_evidence *evidence, const struct why_cpu *cpu,
		    struct why_finding *finding)
{
	char thread[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS];
	const struct why_event *last = cpu->last.count ? &cpu->last.event[cpu->last.count - 1] : NULL;

	why_say_running(evidence, cpu, thread, sizeof(thread));
	if (last)
		finding_evidence(
			&finding->base, "CPU %" PRIu32 " ran %s; its last event, %s before the end: %.80s",
			cpu->number, thread,
			why_say_ticks(evidence, why_age(evidence, last->stamp), ticks, sizeof(ticks)),
			last->text);
	else
		finding_evidence(&finding->base, "CPU %" PRIu32 " ran %s", cpu->number, thread);
	if (cpu->has_registers && why_side_of_cpu(evidence, cpu) == WHY_SIDE_KERNEL)
		finding_evidence(&finding->base, "  it stood at %s",
				 why_say_place(evidence, cpu->pc, place, sizeof(place)));
	else if (cpu->has_row && cpu->row.heartbeats)
		finding_evidence(&finding->base, "  its last tick interrupted it at %s",
				 why_say_place(evidence, cpu->row.pc, place, sizeof(place)));
	why_finding_actor(finding,
			  (struct why_actor){ .id = cpu->running == UINT32_MAX ? KTRX_HOLDER_CPU | cpu->number
									       : cpu->running + 1,
					      .pc = cpu->has_registers ? cpu->pc : cpu->row.pc,
					      .exact = true });
}

static bool is_suspect(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return why_is_there(cpu) && !why_idles(evidence, cpu);
}

int why_detect_triple_fault(const struct why_evidence *evidence, struct why_findings *findings)
{
	const bool x86 = evidence->info->machine == EM_X86_64;
	struct why_finding *finding;
	uint32_t suspects = 0;

	if (!evidence->reset || !x86 || evidence->panic.stamp ||
	    evidence->info->outcome != KTRX_OUTCOME_RUNNING)
		return 0;
	finding = why_finding_new(findings, WHY_TRIPLE_FAULT, FINDING_LIKELY);
	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what,
		    "the machine reset itself without a word from the kernel: a triple fault");
	for (uint32_t n = 0; n < evidence->cpus; n++)
		suspects += is_suspect(evidence, &evidence->cpu[n]);
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (suspects ? is_suspect(evidence, &evidence->cpu[n]) : why_is_there(&evidence->cpu[n]))
			say_cpu(evidence, &evidence->cpu[n], finding);
	if (suspects != 1)
		finding_say(finding->base.advice,
			    "which CPU it was: qemu -d int,cpu_reset logs its last exceptions");
	return 0;
}
