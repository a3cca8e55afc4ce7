/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/side.h"

#include "why/pulse.h"

#define IMAGE_REACH (UINT64_C(256) << 20) /* around the kernel's own root, where its file is not known */
#define LOOP_REACH  256u		  /* bytes: a CPU that stands so close to places is still there */

static bool is_high(uint64_t address)
{
	return address >> 63;
}

/*
 * Hooks note where in the kernel they were called: that is in the upper half, even if the root was last seen
 * in the lower.
 */
static bool runs_high(const struct why_evidence *evidence)
{
	if (is_high(evidence->info->self))
		return true;
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct ktrx_cpu *row = &evidence->cpu[n].row;

		if (is_high(row->interrupts_pc) || is_high(row->broken_pc) || is_high(row->ipi_pc) ||
		    is_high(evidence->cpu[n].holder.wait_pc))
			return true;
	}
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (is_high(evidence->thread[n].holder.wait_pc))
			return true;
	return false;
}

/* Has any CPU been in user mode, as far as is recorded? */
static bool has_users(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].row.user_exits || evidence->cpu[n].row.mode == KTRX_MODE_USER ||
		    evidence->cpu[n].side == PRIVILEGE_USER)
			return true;
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (evidence->thread[n].syscalls.count)
			return true;
	return false;
}

void why_side_settle(struct why_evidence *evidence)
{
	evidence->high = runs_high(evidence);
	evidence->users = has_users(evidence);
}

/* Of an address in the lower half, of a kernel that runs there, whose file is not known. */
static enum why_side side_by_distance(const struct why_evidence *evidence, uint64_t pc)
{
	const uint64_t self = evidence->info->self;

	if (self == 0)
		return WHY_SIDE_UNKNOWN;
	if ((pc > self ? pc - self : self - pc) < IMAGE_REACH)
		return evidence->users ? WHY_SIDE_UNKNOWN : WHY_SIDE_KERNEL;
	return evidence->users ? WHY_SIDE_USER : WHY_SIDE_UNKNOWN;
}

enum why_side why_side_of(const struct why_evidence *evidence, uint64_t pc)
{
	if (is_high(pc))
		return WHY_SIDE_KERNEL;
	if (evidence->high)
		return symbols_has(evidence->symbols, pc) ? WHY_SIDE_UNKNOWN : WHY_SIDE_USER;
	if (!evidence->symbols)
		return side_by_distance(evidence, pc);
	if (symbols_has(evidence->symbols, pc))
		return symbols_has_code(evidence->symbols, pc) ? WHY_SIDE_KERNEL : WHY_SIDE_UNKNOWN;
	return evidence->users ? WHY_SIDE_USER : WHY_SIDE_UNKNOWN;
}

static enum why_side side_of_privilege(const struct why_cpu *cpu)
{
	return cpu->side == PRIVILEGE_USER     ? WHY_SIDE_USER
	       : cpu->side == PRIVILEGE_KERNEL ? WHY_SIDE_KERNEL
					       : WHY_SIDE_UNKNOWN;
}

enum why_side why_side_of_cpu(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const enum why_side told = side_of_privilege(cpu);

	return told == WHY_SIDE_UNKNOWN ? why_side_of(evidence, cpu->pc) : told;
}

/* The mode that the kernel has set there, if it was set before and has not been changed since. */
static enum why_side side_of_mode(const struct why_cpu *cpu, uint64_t since)
{
	if (!cpu->has_row)
		return WHY_SIDE_UNKNOWN;
	if (cpu->row.mode == KTRX_MODE_USER)
		return WHY_SIDE_USER;
	return cpu->row.mode == KTRX_MODE_KERNEL && cpu->row.user_exits && cpu->row.mode_stamp <= since
		       ? WHY_SIDE_KERNEL
		       : WHY_SIDE_UNKNOWN;
}

enum why_side why_side_of_places(const struct why_evidence *evidence, const struct why_cpu *cpu,
				 const struct why_places *places, uint64_t since)
{
	const enum why_side by_address = why_side_of(evidence, places->newest);
	const enum why_side by_mode = side_of_mode(cpu, since), by_register = side_of_privilege(cpu);

	if (cpu->has_registers && by_register != WHY_SIDE_UNKNOWN && cpu->pc + LOOP_REACH >= places->lowest &&
	    cpu->pc <= places->highest + LOOP_REACH)
		return by_register;
	if (by_address != why_side_of(evidence, places->lowest) ||
	    by_address != why_side_of(evidence, places->highest))
		return WHY_SIDE_UNKNOWN;
	if (by_mode == WHY_SIDE_UNKNOWN || by_address == WHY_SIDE_UNKNOWN)
		return by_mode == WHY_SIDE_UNKNOWN ? by_address : by_mode;
	return by_mode == by_address ? by_mode : WHY_SIDE_UNKNOWN;
}

bool why_side_has_name(const struct why_evidence *evidence, uint64_t address)
{
	return is_high(address) || !evidence->high || !evidence->users;
}
