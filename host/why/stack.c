/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the stacks of CPUs show: handlers that have not returned, recursion, and stacks that were left. */
#include "why/pulse.h"

/* number of bytes: a stack pointer that is farther below the stack than this may be in another stack */
#define BELOW (UINT64_C(64) << 10)
/*
 * minimum number of nested page faults that prove a bug in the kernel: no handler nests so many faults by
 * design
 */
#define NEST 32u
/*
 * `DEEP`: minimum number of return addresses in a row that show a recursion without end; `PERIOD`: maximum
 * number of functions that call each other in turn
 */
#define DEEP   24u
#define PERIOD 4u

bool why_is_in_handler(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	struct symbol symbol;
	uint64_t handler;

	if (!cpu->vector || symbols_find(evidence->symbols, cpu->vector, &symbol) != 0)
		return false;
	handler = cpu->vector - symbol.offset;
	if (symbols_find(evidence->symbols, cpu->pc, &symbol) == 0 && cpu->pc - symbol.offset == handler)
		return true;
	for (uint32_t n = 0; n < cpu->frames; n++)
		if (symbols_find_call(evidence->symbols, cpu->frame[n], &symbol) == 0 &&
		    cpu->frame[n] - symbol.offset == handler)
			return true;
	return false;
}

bool why_nests_faults(const struct why_evidence *evidence, const struct why_thread *thread)
{
	return thread->fault_nest.count >= NEST && evidence->fault_exits &&
	       why_side_of(evidence, thread->fault_nest.ip) != WHY_SIDE_USER;
}

bool why_recurses(const struct why_cpu *cpu)
{
	uint32_t run;

	for (uint32_t period = 1; period <= PERIOD; period++) {
		run = 0;
		for (uint32_t n = period; n < cpu->frames && run < DEEP - PERIOD; n++)
			run = cpu->frame[n] == cpu->frame[n - period] ? run + 1 : 0;
		if (run >= DEEP - PERIOD)
			return true;
	}
	return false;
}

bool why_left_stack(const struct why_evidence *evidence, const struct why_cpu *cpu,
		    const struct why_thread *thread)
{
	return cpu && cpu->has_registers && cpu->side != PRIVILEGE_USER && cpu->sp && thread &&
	       thread->has_holder && thread->holder.stack_low && cpu->sp < thread->holder.stack_low &&
	       (thread->holder.stack_low - cpu->sp < BELOW || why_nests_faults(evidence, thread) ||
		why_recurses(cpu));
}
