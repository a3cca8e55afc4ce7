/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What a CPU does: interrupts, what it asks of other CPUs, what it keeps off. */
#include "hook.h"

#if KTRACE_STATE

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
