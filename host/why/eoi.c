/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds out whether a CPU gets no more interrupts because the end of one was not signalled. */
#include <elf.h>

#include "why/pulse.h"

/*
 * number of interrupts of one CPU and one number that may lack an EOI although they need it: the oldest,
 * whose EOI may be overwritten, and the newest, which may be in progress
 */
#define UNENDED 2u

/* if this many interrupts of one CPU and one number had an EOI, the counts of other CPUs do not matter */
#define ENDED 8u

/* Returns whether the CPU took more interrupts with this number although earlier ones had no EOI. */
static bool recurs_without_eoi(const struct why_interrupts *interrupts, uint32_t number)
{
	for (uint32_t n = 0; n < interrupts->kinds; n++)
		if (interrupts->kind[n].number == number)
			return interrupts->kind[n].entered > interrupts->kind[n].ended + UNENDED;
	return false;
}

/*
 * Returns whether interrupts like the newest one of the CPU need no EOI, or the kernel does not record every
 * EOI. Spurious interrupts, for example, need none. The counts of the CPU itself show this or, if it has had
 * few of these interrupts, the counts of another CPU.
 */
static bool need_no_eoi(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_irq_kind *newest = why_newest_kind(&cpu->interrupts);

	if (newest && newest->ended >= ENDED)
		return recurs_without_eoi(&cpu->interrupts, newest->number);
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (recurs_without_eoi(&evidence->cpu[n].interrupts, cpu->interrupts.number))
			return true;
	return false;
}

/* Returns whether an interrupt with this number had an EOI on any CPU, as far as is known. */
static bool has_had_eoi(const struct why_evidence *evidence, uint32_t number)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (cpu->row.eois && cpu->row.eoi == number)
			return true;
		for (uint32_t k = 0; k < cpu->interrupts.kinds; k++)
			if (cpu->interrupts.kind[k].number == number && cpu->interrupts.kind[k].ended)
				return true;
	}
	return false;
}

/*
 * Returns whether the kernel's tables show a CPU that took interrupts although earlier ones had no EOI. The
 * interrupts that are in progress may have none yet.
 */
static bool some_need_no_eoi(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct ktrx_cpu *row = &evidence->cpu[n].row;

		if (evidence->cpu[n].has_row && row->irqs > row->eois + row->nesting + UNENDED)
			return true;
	}
	return false;
}

/* Returns the number of the CPU's newest interrupt. */
static uint32_t newest_number(const struct why_cpu *cpu)
{
	return cpu->interrupts.entered ? cpu->interrupts.number : cpu->row.irq;
}

bool why_has_had_eoi(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return has_had_eoi(evidence, newest_number(cpu));
}

bool why_lacks_eoi(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;

	/* on RISC-V, timers and IPIs are not connected to the interrupt controller, and have no EOI */
	if (evidence->info->machine == EM_RISCV && !why_has_had_eoi(evidence, cpu))
		return false;
	if (interrupts->entered)
		return interrupts->ended > 0 && interrupts->left && !interrupts->over &&
		       !need_no_eoi(evidence, cpu);
	return cpu->has_row && cpu->row.hooks & KTRX_HOOK_EOI && cpu->row.nesting == 0 &&
	       cpu->row.irqs == cpu->row.eois + 1 && cpu->row.irq != cpu->row.eoi &&
	       !some_need_no_eoi(evidence);
}
