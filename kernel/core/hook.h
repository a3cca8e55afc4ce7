/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Shared by the hooks of ktrace/hooks.h: access to this CPU's entry in the table of CPUs, and to the entries
 * of holders.
 *
 * Hooks take no lock, and an interrupt may call hooks while another hook runs. When an interrupt ends, its
 * hooks have undone all their changes: the locks that they added to lists are removed, and nesting counts
 * have their previous values. So a hook that adds a place to a list counts the place before it fills it in:
 * an interrupt that comes between the two steps uses the next place.
 */
#ifndef KTRACE_CORE_HOOK_H
#define KTRACE_CORE_HOOK_H

#include "state.h"

#include "ktrace/hooks.h"

struct ktrace_hook {
	volatile struct ktrx_cpu *cpu;
	uint32_t number; /* number of the CPU that runs the hook */
};

/*
 * Begins a hook. `lights`: the KTRX_HOOK_* bits to set in the CPU's `hooks`, because this call shows that the
 * kernel calls these hooks.
 * Returns 0 if the hook has nothing to do.
 */
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

/*
 * Reads the clock, stores the value as the CPU's `now` and returns it. Hooks that do not read the clock use
 * the last `now` instead.
 */
KTRACE_INLINE uint64_t ktrace_hook_now(const struct ktrace_hook *hook)
{
	uint64_t now = ktrace_arch_clock();

	hook->cpu->now = now;
	return now;
}

/*
 * Stores a value of this CPU's clock as the CPU's `now` and returns it. The argument `now` is the value if
 * the caller has already read the clock, otherwise 0: then this function reads it. If an interrupt has stored
 * a later `now` since then, reads the clock again, so that the CPU's `now` never decreases.
 */
KTRACE_INLINE uint64_t ktrace_hook_at(const struct ktrace_hook *hook, uint64_t now)
{
	if (now <= hook->cpu->now)
		return ktrace_hook_now(hook);
	hook->cpu->now = now;
	return now;
}

/*
 * Returns the running thread and its context. The thread is pinned for this moment: the port may find the
 * thread through the number of the CPU, and would find another thread if this thread moved to another CPU
 * between these two steps.
 */
KTRACE_INLINE uint32_t ktrace_hook_context(void)
{
	unsigned long pinned = ktrace_arch_pin();
	uint32_t thread = ktrace_arch_thread();

	ktrace_arch_unpin(pinned);
	return thread;
}

/* Returns the running thread; 0 before ktrace_init(), because the port may not know the thread yet. */
KTRACE_INLINE uint32_t ktrace_hook_thread(void)
{
	return ktrace_state.initialised ? KTRX_W1_THREAD(ktrace_hook_context()) : 0;
}

/*
 * Update the state tables, for calls of ktrace/facts.h during which a thread cannot migrate.
 * `now`: the timestamp of the event's record; 0 if the event was not recorded.
 */
#if KTRACE_STATE
KTRACE_HIDDEN void ktrace_state_switch(uint32_t previous, uint32_t next, uint32_t state, uintptr_t pc,
				       uint64_t now);
KTRACE_HIDDEN void ktrace_state_irq_enter(uint32_t irq, uint64_t now);
#else
#define ktrace_state_switch(previous, next, state, pc, now) \
	((void)(previous), (void)(next), (void)(state), (void)(pc), (void)(now))
#define ktrace_state_irq_enter(irq, now) ((void)(irq), (void)(now))
#endif

/* Begins or ends maintaining the state tables, as the setting debug.ktr.state demands. */
KTRACE_HIDDEN void ktrace_hooks_update(void);

/*
 * Clears this CPU's state again if hooks are off: a hook that was already running when hooks were turned off
 * may have changed the state after the first clearing. Called from this CPU's heartbeat.
 */
KTRACE_HIDDEN void ktrace_hooks_beat(volatile struct ktrx_cpu *cpu);

/* Records that a rule was broken, unless a broken rule is recorded for this CPU already. */
KTRACE_HIDDEN void ktrace_hook_broken(volatile struct ktrx_cpu *cpu, uint32_t thread, uint32_t rule,
				      uint64_t object, uint64_t pc);

/* Returns the CPU's entry in the table of holders; NULL if there is no such table. */
KTRACE_INLINE volatile struct ktrx_holder *ktrace_holder_cpu(const struct ktrace_hook *hook)
{
	return ktrace_state.holder ? &ktrace_state.holder[hook->number] : KTRACE_NULL;
}

/*
 * ktrace_holder_find() returns the thread's entry in the table of holders; NULL if it has none.
 * ktrace_holder_claim() also reserves a free entry if the thread has none. If it finds no free entry, it
 * returns NULL and counts the hook in `refused` of the hook's CPU.
 */
KTRACE_HIDDEN volatile struct ktrx_holder *ktrace_holder_find(uint32_t thread);
KTRACE_HIDDEN volatile struct ktrx_holder *ktrace_holder_claim(const struct ktrace_hook *hook,
							       uint32_t thread);
KTRACE_HIDDEN void ktrace_holder_free(uint32_t thread);

/* Stores what the holder waits for. `kind` is stored last, so that readers see a complete entry. */
KTRACE_HIDDEN void ktrace_holder_wait(volatile struct ktrx_holder *row, uint64_t object, uint32_t kind,
				      uint64_t now, uint64_t pc, uint32_t owner, const char *name);

#endif
