/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/numbers.h"

#include <inttypes.h>

#include "why/finding.h"

static bool any_online(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].has_row && evidence->cpu[n].row.online)
			return true;
	return false;
}

bool why_is_overwritten(const struct why_evidence *evidence)
{
	const struct ktread_info *info = evidence->info;
	const bool memory = info->form == KTREAD_FORM_V2 || info->form == KTREAD_FORM_RAM ||
			    info->form == KTREAD_FORM_CORE;

	return info->unusable || (memory && info->version == 2 && info->rings == 0);
}

const struct why_cpu *why_misnumbered(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus && any_online(evidence); n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (cpu->has_row && !cpu->row.online && cpu->last_stamp == 0 &&
		    (cpu->row.misnumbered || cpu->named))
			return cpu;
	}
	return NULL;
}

const char *why_say_misnumbered(const struct why_cpu *cpu, char *buffer, size_t size)
{
	if (cpu->row.misnumbered)
		return why_say(buffer, size,
			       "ktrace_cpu_online(%" PRIu32 ") failed, because ktrace_arch_cpu() returned "
			       "the number of another CPU there",
			       cpu->number);
	return why_say(buffer, size, "CPU %" PRIu32 " has held a lock, but has no event and is not online",
		       cpu->number);
}

bool why_is_stateless(const struct why_evidence *evidence, uint32_t *number)
{
	if (!any_online(evidence))
		return false;
	for (*number = 0; *number < evidence->cpus; (*number)++) {
		const struct why_cpu *cpu = &evidence->cpu[*number];

		if (!(cpu->has_row && cpu->row.online) && cpu->switches.last)
			return true;
	}
	*number = evidence->outside;
	return evidence->outside != 0;
}

bool why_lacks_cpus(const struct why_evidence *evidence)
{
	return evidence->events > 0 && evidence->cpus > 0 && evidence->cpu[0].has_row &&
	       !any_online(evidence);
}

bool why_lacks_init(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].has_row)
			return false;
	/* the trace of an earlier boot has rings of CPUs, but no table of CPUs */
	for (uint32_t n = 0; n < evidence->info->rings; n++)
		if (ktread_ring(evidence->trace, n)->cpu != KTRX_NO_CPU)
			return false;
	return evidence->events > 0 && evidence->info->version == 2 &&
	       evidence->info->form != KTREAD_FORM_PROCESSES;
}
