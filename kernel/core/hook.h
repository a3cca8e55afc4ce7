/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the hooks of ktrace/hooks.h share: the way to this CPU's row, and the rows of holders.
 *
 * No hook locks, and an interrupt may call hooks in the middle of any other. What an interrupt's hooks do is
 * undone by its end (locks given up, nesting counted down), so a place is counted first and filled then:
 * whoever comes between takes the next one.
 */
#ifndef KTRACE_CORE_HOOK_H
#define KTRACE_CORE_HOOK_H

#include "state.h"

#include "ktrace/hooks.h"

struct ktrace_hook {
	volatile struct ktrx_cpu *cpu;
	uint32_t number; /* of the CPU */
};

/* 0: nothing is to be done. `lights`: the KTRX_HOOK_* that this call shows to be there. */
KTRACE_INLINE int ktrace_hook_enter(struct ktrace_hook *hook, uint8_t lights)
{
	uint32_t ring;

	if (!*(const volatile uint32_t *)&ktrace_state.hooking)
		return 0;
	ring = KTRX_WORD_RING(ktrace_arch_reserve_read());
	if (KTRACE_UNLIKELY(ring == 0))
		return 0;
	hook->number = ring - 1;
	hook->cpu = &ktrace_state.cpu[ring - 1];
	if (KTRACE_UNLIKELY((hook->cpu->hooks & lights) != lights))
		hook->cpu->hooks = hook->cpu->hooks | lights;
	return 1;
}

/* The clock, for hooks that may read it; the others go by what was read last. */
KTRACE_INLINE uint64_t ktrace_hook_now(const struct ktrace_hook *hook)
{
	uint64_t now = ktrace_arch_clock();

	hook->cpu->now = now;
	return now;
}

/*
 * The same where the caller has read the clock of this CPU already, if `now` is not 0. The clock is read
 * again if an interrupt has read it since, so that the CPU's `now` never goes back.
 */
KTRACE_INLINE uint64_t ktrace_hook_at(const struct ktrace_hook *hook, uint64_t now)
{
	if (now <= hook->cpu->now)
		return ktrace_hook_now(hook);
	hook->cpu->now = now;
	return now;
}

KTRACE_INLINE uint32_t ktrace_hook_thread(void)
{
	return KTRX_W1_THREAD(ktrace_arch_thread());
}

/*
 * The state behind calls of ktrace/facts.h at which a thread stays on its CPU. `now`: the timestamp of the
 * event, which has read the clock already; 0 if it was not recorded.
 */
#if KTRACE_STATE
KTRACE_HIDDEN void ktrace_state_switch(uint32_t previous, uint32_t next, uintptr_t pc, uint64_t now);
KTRACE_HIDDEN void ktrace_state_irq_enter(uint32_t irq, uint64_t now);
#else
#define ktrace_state_switch(previous, next, pc, now) ((void)(previous), (void)(next), (void)(pc), (void)(now))
#define ktrace_state_irq_enter(irq, now)	     ((void)(irq), (void)(now))
#endif

/* Starts to follow the state or ends it, as debug.ktr.state asks. */
KTRACE_HIDDEN void ktrace_hooks_update(void);

/*
 * From this CPU's heartbeat: a hook that was on its way here when they were turned off may have come after
 * that.
 */
KTRACE_HIDDEN void ktrace_hooks_beat(volatile struct ktrx_cpu *cpu);

/* Notes the first rule that this CPU broke. */
KTRACE_HIDDEN void ktrace_hook_broken(volatile struct ktrx_cpu *cpu, uint32_t rule, uint64_t object,
				      uint64_t pc);

/* A CPU's row; NULL if there are none. */
KTRACE_INLINE volatile struct ktrx_holder *ktrace_holder_cpu(const struct ktrace_hook *hook)
{
	return ktrace_state.holder ? &ktrace_state.holder[hook->number] : KTRACE_NULL;
}

/* A thread's row: the one it has, NULL if none; or one that is claimed for it if any is free. */
KTRACE_HIDDEN volatile struct ktrx_holder *ktrace_holder_find(uint32_t thread);
KTRACE_HIDDEN volatile struct ktrx_holder *ktrace_holder_claim(uint32_t thread);
KTRACE_HIDDEN void ktrace_holder_free(uint32_t thread);

/* Enters what is waited for; `kind` is seen last. */
KTRACE_HIDDEN void ktrace_holder_wait(volatile struct ktrx_holder *row, uint64_t object, uint32_t kind,
				      uint64_t now, uint64_t pc, uint32_t owner, const char *name);

#endif
