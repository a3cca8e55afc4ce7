/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds out whether a CPU gets no more interrupts because the end of one was not signalled. */
#include <elf.h>

#include "why/pulse.h"

/*
 * number of interrupts of one CPU and one number that may lack an EOI although they need it: the oldest,
 * whose EOI may be overwritten, and the newest, which may be in progress
 */
#define UNENDED 2u

/*
 * Returns whether a CPU took more interrupts with this number although earlier ones had no EOI. Then these
 * interrupts need no EOI, as spurious interrupts do not, or the kernel does not record every EOI.
 */
static bool need_no_eoi(const struct why_evidence *evidence, uint32_t number)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_interrupts *interrupts = &evidence->cpu[n].interrupts;

		for (uint32_t k = 0; k < interrupts->kinds; k++)
			if (interrupts->kind[k].number == number &&
			    interrupts->kind[k].entered > interrupts->kind[k].ended + UNENDED)
				return true;
	}
	return false;
}

/* Returns whether an interrupt with this number had an EOI on any CPU. */
static bool has_had_eoi(const struct why_evidence *evidence, uint32_t number)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		for (uint32_t k = 0; k < evidence->cpu[n].interrupts.kinds; k++)
			if (evidence->cpu[n].interrupts.kind[k].number == number &&
			    evidence->cpu[n].interrupts.kind[k].ended)
				return true;
	return false;
}

/* Returns whether the kernel's tables show a CPU that took interrupts although earlier ones had no EOI. */
static bool some_need_no_eoi(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].has_row &&
		    evidence->cpu[n].row.irqs > evidence->cpu[n].row.eois + UNENDED)
			return true;
	return false;
}

bool why_lacks_eoi(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;
	const uint64_t stamp = interrupts->entered ? interrupts->stamp : cpu->row.irq_stamp;

	/* on RISC-V, the timer is not connected to the interrupt controller */
	if (evidence->info->machine == EM_RISCV && cpu->row.heartbeat_stamp &&
	    cpu->row.heartbeat_stamp >= stamp && !has_had_eoi(evidence, interrupts->number))
		return false;
	if (interrupts->entered)
		return interrupts->ended > 0 && interrupts->left && !interrupts->over &&
		       !need_no_eoi(evidence, interrupts->number);
	return cpu->has_row && cpu->row.hooks & KTRX_HOOK_EOI && cpu->row.nesting == 0 &&
	       cpu->row.irqs == cpu->row.eois + 1 && cpu->row.irq != cpu->row.eoi &&
	       !some_need_no_eoi(evidence);
}
