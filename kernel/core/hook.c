/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Whether the state is followed, and the rules that are broken while it is. */
#include "hook.h"

#if KTRACE_STATE

KTRACE_SETTING_RANGE("debug.ktr.state", ktrace_state.state, 0, 1);

/* What was so is not known to be so any more: no hook counts as called. */
static void darken(volatile struct ktrx_cpu *cpu)
{
	cpu->hooks = 0;
	cpu->interrupts = KTRX_INTERRUPTS_UNKNOWN;
}

void ktrace_hooks_beat(volatile struct ktrx_cpu *cpu)
{
	if (!*(const volatile uint32_t *)&ktrace_state.hooking)
		darken(cpu);
}

void ktrace_hooks_update(void)
{
	volatile uint32_t *hooking = &ktrace_state.hooking;

	if (!ktrace_state.initialised || ktrace_state.state == *hooking)
		return;
	ktrace_state.state = 0; /* off from now on, or on again too late */
	*hooking = 0;
	for (uint32_t cpu = 0; cpu < ktrace_state.cpus; cpu++)
		darken(&ktrace_state.cpu[cpu]);
}

/* Entered before it is described: another one that comes between is not the first. */
void ktrace_hook_broken(volatile struct ktrx_cpu *cpu, uint32_t rule, uint64_t object, uint64_t pc)
{
	if (cpu->broken != KTRX_BROKEN_NOTHING)
		return;
	cpu->broken = rule;
	cpu->broken_thread = ktrace_hook_thread();
	cpu->broken_stamp = cpu->now;
	cpu->broken_pc = pc;
	cpu->broken_object = object;
}

#endif
