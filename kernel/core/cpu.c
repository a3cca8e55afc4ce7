/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What each CPU says about itself: that it records, that it lives, what it does; and the names of threads. */
#include "state.h"

int ktrace_cpu_online(uint32_t cpu)
{
	struct ktrx_ring *ring;
	uint64_t *word;

	if (!ktrace_state.initialised)
		return KTRACE_ERROR_STATE;
	if (cpu >= ktrace_state.cpus)
		return KTRACE_ERROR_ARGUMENT;
	ring = ktrace_rings[cpu + 1];
	word = ktrace_arch_reserve_word();
	if (word != &ring->word) {
		ring->head = (uintptr_t)word;
		ring->head_address = (uintptr_t)word;
		ring->head_where = KTRX_WHERE_VIRTUAL;
	}
	ktrace_state.cpu[cpu].online = 1;
	ktrace_arch_store_barrier();
	*(volatile uint64_t *)word = (uint64_t)(cpu + 1) << KTRX_WORD_INDEX_BITS | ring->first;
	return KTRACE_OK;
}

/* This CPU's state, NULL while it has none. */
static volatile struct ktrx_cpu *this_cpu(void)
{
	uint32_t ring;

	if (!ktrace_state.initialised)
		return KTRACE_NULL;
	ring = KTRX_WORD_RING(ktrace_arch_reserve_read());
	return ring == 0 || ring > ktrace_state.cpus ? KTRACE_NULL : &ktrace_state.cpu[ring - 1];
}

void ktrace_heartbeat(uint64_t pc)
{
	volatile struct ktrx_cpu *cpu = this_cpu();

	if (!cpu)
		return;
	cpu->pc = pc;
	cpu->thread = KTRX_W1_THREAD(ktrace_arch_thread());
	cpu->heartbeat_stamp = ktrace_arch_clock();
	cpu->heartbeats++;
}

void ktrace_mode(uint8_t mode)
{
	volatile struct ktrx_cpu *cpu = this_cpu();

	if (!cpu)
		return;
	cpu->thread = KTRX_W1_THREAD(ktrace_arch_thread());
	cpu->mode = mode;
}

int ktrace_thread_name(uint32_t thread, const char *name)
{
	volatile struct ktrx_thread *row = KTRACE_NULL;

	if (thread > KTRX_THREAD_MAX)
		return KTRACE_ERROR_ARGUMENT;
	if (!ktrace_state.initialised)
		return KTRACE_ERROR_STATE;
	for (uint32_t i = 0; i < ktrace_state.threads && !row; i++)
		if (ktrace_state.thread[i].id == 0 || ktrace_state.thread[i].id == thread + 1)
			row = &ktrace_state.thread[i];
	if (!row)
		return KTRACE_ERROR_MEMORY;
	for (uint32_t i = 0; i < sizeof(row->name); i++)
		row->name[i] = 0;
	for (uint32_t i = 0; name[i] && i < sizeof(row->name) - 1; i++)
		row->name[i] = name[i];
	ktrace_arch_store_barrier();
	row->id = thread + 1;
	return KTRACE_OK;
}
