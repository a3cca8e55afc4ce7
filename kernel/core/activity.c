/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a CPU does: interrupts, what it asks of other CPUs, what it keeps off. Before that: whether the state
 * is followed, and the rules that are broken while it is.
 */
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

/* ---- activity of a CPU ------------------------------------------------------------------------ */

/* An interrupt that nests counts, too: one step against it. */
static void add_one(volatile uint64_t *word)
{
	ktrace_arch_fetch_add((uint64_t *)(uintptr_t)word, 1);
}

void ktrace_state_irq_enter(uint32_t irq, uint64_t now)
{
	struct ktrace_hook hook;

	if (!ktrace_hook_enter(&hook, KTRX_HOOK_IRQ))
		return;
	hook.cpu->nesting = hook.cpu->nesting + 1;
	add_one(&hook.cpu->irqs);
	hook.cpu->irq = irq;
	hook.cpu->irq_stamp = ktrace_hook_at(&hook, now);
}

void ktrace_irq_enter(uint32_t irq)
{
	ktrace_state_irq_enter(irq, 0);
}

/* One that began before ktrace_init() is not counted. */
void ktrace_irq_exit(uint32_t irq)
{
	struct ktrace_hook hook;

	(void)irq;
	if (ktrace_hook_enter(&hook, KTRX_HOOK_IRQ) && hook.cpu->nesting != 0)
		hook.cpu->nesting = hook.cpu->nesting - 1;
}

void ktrace_irq_eoi(uint32_t irq)
{
	struct ktrace_hook hook;

	if (!ktrace_hook_enter(&hook, KTRX_HOOK_EOI))
		return;
	hook.cpu->eoi = irq;
	add_one(&hook.cpu->eois);
}

void ktrace_ipi_wait_at(uint32_t cpu, uint32_t what, uintptr_t pc)
{
	struct ktrace_hook hook;

	if (!ktrace_hook_enter(&hook, KTRX_HOOK_IPI))
		return;
	hook.cpu->ipi_stamp = ktrace_hook_now(&hook);
	hook.cpu->ipi_pc = pc;
	hook.cpu->ipi_what = what;
	ktrace_arch_store_barrier();
	hook.cpu->ipi_cpu = cpu == KTRX_ALL_CPUS ? cpu : cpu + 1;
}

void ktrace_ipi_wait(uint32_t cpu, uint32_t what)
{
	ktrace_ipi_wait_at(cpu, what, KTRACE_RETURN_ADDRESS);
}

void ktrace_ipi_wait_end(void)
{
	struct ktrace_hook hook;

	if (ktrace_hook_enter(&hook, KTRX_HOOK_IPI))
		hook.cpu->ipi_cpu = 0;
}

void ktrace_ipi_answer(void)
{
	struct ktrace_hook hook;

	if (ktrace_hook_enter(&hook, KTRX_HOOK_IPI))
		hook.cpu->ipi_answered = ktrace_hook_now(&hook);
}

/* Whoever turns them off again changes nothing. */
void ktrace_interrupts_at(int on, uintptr_t pc)
{
	struct ktrace_hook hook;

	if (!ktrace_hook_enter(&hook, 0))
		return;
	if (on) {
		hook.cpu->interrupts = KTRX_INTERRUPTS_ON;
	} else if (hook.cpu->interrupts != KTRX_INTERRUPTS_OFF) {
		hook.cpu->interrupts_stamp = hook.cpu->now;
		hook.cpu->interrupts_pc = pc;
		hook.cpu->interrupts = KTRX_INTERRUPTS_OFF;
	}
}

void ktrace_interrupts(int on)
{
	ktrace_interrupts_at(on, KTRACE_RETURN_ADDRESS);
}

void ktrace_preempt(uint32_t depth)
{
	struct ktrace_hook hook;

	if (ktrace_hook_enter(&hook, KTRX_HOOK_PREEMPT))
		hook.cpu->preempt = depth;
}

void ktrace_space(uint64_t id)
{
	struct ktrace_hook hook;

	if (ktrace_hook_enter(&hook, KTRX_HOOK_SPACE))
		hook.cpu->space = id;
}

#endif
