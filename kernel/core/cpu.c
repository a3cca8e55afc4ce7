/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Maintains the state of each CPU: whether it records, and whether it makes progress. While state tables are
 * maintained, the state also contains which interrupts the CPU handles, what it requests from other CPUs, and
 * whether it has disabled interrupts or preemption. This file also handles the names of threads, and the
 * rules that CPUs have broken.
 */
#include "core.h"
#include "hook.h"

/*
 * Stores the location of the CPU's reserve word in the ring's entry. Does nothing if the reserve word is the
 * member `word` of the same entry.
 */
static void head_place(struct ktrx_ring *ring, uint64_t *word)
{
	if (word == &ring->word)
		return;
	ring->head = (uintptr_t)word;
	ring->head_address = ktrace_state.physical ? ktrace_state.physical(word) : (uintptr_t)word;
	ktrace_arch_store_barrier();
	*(volatile uint16_t *)&ring->head_where =
		ktrace_state.physical ? KTRX_WHERE_PHYSICAL : KTRX_WHERE_VIRTUAL;
}

/*
 * Returns nonzero if no CPU uses the reserve word and the word is not in the entry of another CPU's ring.
 */
static int word_is_free(const uint64_t *word, uint32_t cpu)
{
	uintptr_t at = (uintptr_t)word, rings = (uintptr_t)ktrace_ring;

	if (KTRX_WORD_RING(*(const volatile uint64_t *)word) != 0)
		return 0;
	return word == &ktrace_ring[cpu + 1].word || at < rings ||
	       at >= rings + KTRACE_RING_ROWS * sizeof(struct ktrx_ring);
}

int ktrace_cpu_online(uint32_t cpu)
{
	uint64_t *word;

	if (!ktrace_state.initialised)
		return KTRACE_ERROR_STATE;
	if (cpu >= ktrace_state.cpus)
		return KTRACE_ERROR_ARGUMENT;
	if (ktrace_state.cpu[cpu].online)
		return KTRACE_ERROR_STATE;
	word = ktrace_arch_reserve_word();
	if (!word_is_free(word, cpu)) {
		ktrace_state.cpu[cpu].misnumbered++;
		return KTRACE_ERROR_ARGUMENT;
	}
	head_place(&ktrace_ring[cpu + 1], word);
	ktrace_arch_online(cpu + 1);
	*(volatile uint64_t *)word = (uint64_t)(cpu + 1) << KTRX_WORD_INDEX_BITS | ktrace_ring[cpu + 1].first;
	*(volatile uint8_t *)&ktrace_state.cpu[cpu].online = 1;
	ktrace_keep_beat(cpu);
	return KTRACE_OK;
}

/* Returns this CPU's entry in the table of CPUs; NULL if it has none yet. */
static volatile struct ktrx_cpu *this_cpu(void)
{
	uint32_t ring;

	if (!ktrace_state.initialised)
		return KTRACE_NULL;
	ring = KTRX_WORD_RING(ktrace_arch_reserve_read());
	return ring == 0 ? KTRACE_NULL : &ktrace_state.cpu[ring - 1];
}

void ktrace_heartbeat(uint64_t pc)
{
	volatile struct ktrx_cpu *cpu = this_cpu();

	if (!cpu)
		return;
	cpu->pc = pc;
	cpu->thread = KTRX_W1_THREAD(ktrace_arch_thread());
	cpu->now = ktrace_arch_clock();
	cpu->heartbeat_stamp = cpu->now;
	cpu->sample[cpu->heartbeats % KTRX_SAMPLES] = pc;
	cpu->heartbeats = cpu->heartbeats + 1;
	if (KTRACE_STATE)
		ktrace_hooks_beat(cpu);
	ktrace_clock_beat((uint32_t)(cpu - ktrace_state.cpu), cpu->heartbeats);
	ktrace_keep_beat((uint32_t)(cpu - ktrace_state.cpu));
	ktrace_mailbox_look();
}

void ktrace_mode(uint8_t mode)
{
	volatile struct ktrx_cpu *cpu = this_cpu();

	if (!cpu)
		return;
	cpu->thread = KTRX_W1_THREAD(ktrace_arch_thread());
	if (cpu->mode == mode)
		return;
	cpu->user_enters = cpu->user_enters + (cpu->mode == KTRX_MODE_USER);
	cpu->user_exits = cpu->user_exits + (mode == KTRX_MODE_USER);
	cpu->mode_stamp = cpu->now;
	cpu->mode = mode;
}

/* The names of threads are in a table in ktrace's memory, which is searched by thread id. */

static int is_followed(uint32_t thread)
{
#if KTRACE_STATE
	return ktrace_holder_find(thread) != KTRACE_NULL;
#else
	(void)thread;
	return 0;
#endif
}

/*
 * Returns the entry for a thread's name. If the table is full, a new name replaces the oldest name. While
 * state tables are maintained, the name of an existing thread is replaced only if all names in the table are
 * those of existing threads.
 */
static volatile struct ktrx_thread *row_of(uint32_t thread)
{
	volatile struct ktrx_thread *row;

	for (uint32_t i = 0; i < ktrace_state.threads; i++)
		if (ktrace_state.thread[i].id == thread + 1)
			return &ktrace_state.thread[i];
	for (uint32_t i = 0; i < ktrace_state.threads; i++) {
		row = &ktrace_state.thread[ktrace_arch_fetch_add(&ktrace_state.threads_named, 1) %
					   ktrace_state.threads];
		if (row->id == 0 || !is_followed(row->id - 1))
			return row;
	}
	return &ktrace_state
			.thread[ktrace_arch_fetch_add(&ktrace_state.threads_named, 1) % ktrace_state.threads];
}

int ktrace_thread_name(uint32_t thread, const char *name)
{
	volatile struct ktrx_thread *row;

	if (thread > KTRX_THREAD_MAX || !name)
		return KTRACE_ERROR_ARGUMENT;
	if (!ktrace_state.initialised)
		return KTRACE_ERROR_STATE;
	if (ktrace_state.threads == 0)
		return KTRACE_ERROR_MEMORY;
	row = row_of(thread);
	row->id = 0;
	ktrace_arch_store_barrier();
	ktrace_copy_text((char *)row->name, name, sizeof(row->name));
	ktrace_arch_store_barrier();
	row->id = thread + 1;
	return KTRACE_OK;
}

/* ---- State tables ----------------------------------------------------------------------------- */

#if KTRACE_STATE

KTRACE_SETTING_RANGE("debug.ktr.state", ktrace_state.state, 0, 1);

/* Marks all state that hooks report as unknown. */
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
	ktrace_state.state = 0; /* turning the state on again has no effect before the next boot */
	*hooking = 0;
	for (uint32_t cpu = 0; cpu < ktrace_state.cpus; cpu++)
		darken(&ktrace_state.cpu[cpu]);
}

/*
 * Stores the rule before the details: if a nested interrupt breaks another rule before the details are
 * stored, the other rule does not replace this rule.
 */
void ktrace_hook_broken(volatile struct ktrx_cpu *cpu, uint32_t thread, uint32_t rule, uint64_t object,
			uint64_t pc)
{
	if (cpu->broken != KTRX_BROKEN_NOTHING)
		return;
	cpu->broken = rule;
	cpu->broken_thread = KTRX_W1_THREAD(thread);
	cpu->broken_stamp = cpu->now;
	cpu->broken_pc = pc;
	cpu->broken_object = object;
}

/* ---- activity of a CPU ------------------------------------------------------------------------ */

/* Adds with one atomic instruction, because a nested interrupt may count in the same word. */
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

/* An interrupt that began before ktrace_init() is not counted. */
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

/* If interrupts are already off, another call with `on` 0 changes nothing. */
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
