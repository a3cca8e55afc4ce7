/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Rings in lent memory. Each block begins with a head by which the host finds it; behind that, tables first, then
 * the slots of each ring in one piece, in whichever block has room.
 */
#include "state.h"

struct arena {
	const struct ktrace_memory *memory;
	uint32_t blocks;
	uint64_t used[KTRACE_MAX_BLOCKS]; /* bytes of each block, from its aligned start */
};

#define BLOCK_ALIGN 64u

static uintptr_t block_start(const struct ktrace_memory *block)
{
	return ((uintptr_t)block->base + BLOCK_ALIGN - 1) & ~(uintptr_t)(BLOCK_ALIGN - 1);
}

static uint64_t block_size(const struct ktrace_memory *block)
{
	uint64_t skipped = block_start(block) - (uintptr_t)block->base;

	return block->size > skipped ? (block->size - skipped) & ~(uint64_t)(BLOCK_ALIGN - 1) : 0;
}

static void arena_open(struct arena *arena, const struct ktrace_config *config)
{
	arena->memory = config->memory;
	arena->blocks = config->blocks;
	for (uint32_t i = 0; i < config->blocks; i++)
		arena->used[i] = sizeof(struct ktrx_block);
}

/* Zeroes nothing: a trial run only counts. NULL: no block has that much left. */
static void *arena_take(struct arena *arena, uint64_t size)
{
	uint64_t rounded = (size + BLOCK_ALIGN - 1) & ~(uint64_t)(BLOCK_ALIGN - 1);

	for (uint32_t i = 0; i < arena->blocks; i++) {
		uint64_t whole = block_size(&arena->memory[i]);

		if (arena->used[i] <= whole && whole - arena->used[i] >= rounded) {
			uintptr_t at = block_start(&arena->memory[i]) + arena->used[i];

			arena->used[i] += rounded;
			return (void *)at;
		}
	}
	return KTRACE_NULL;
}

struct layout {
	struct ktrx_ring *ring; /* of CPU 0 */
	struct ktrx_cpu *cpu;
	struct ktrx_thread *thread;
	uint64_t *counters;
	uint32_t cpus;
	uint32_t slots;
};

static uint64_t counters_size(const struct ktrace_config *config, uint32_t cpus)
{
	return config->counters ? (uint64_t)(cpus + 1) * (ktrace_state.events + 1) * sizeof(uint64_t) : 0;
}

/* Takes tables and rings of `slots` slots each from the arena; 0 if they do not fit. */
static int layout_take(struct layout *layout, struct arena *arena, const struct ktrace_config *config)
{
	uint32_t cpus = layout->cpus;

	arena_open(arena, config);
	layout->ring = arena_take(arena, (uint64_t)cpus * sizeof(struct ktrx_ring));
	layout->cpu = arena_take(arena, (uint64_t)cpus * sizeof(struct ktrx_cpu));
	layout->thread = arena_take(arena, (uint64_t)config->threads * sizeof(struct ktrx_thread));
	layout->counters = arena_take(arena, counters_size(config, cpus));
	if (!layout->ring || !layout->cpu || !layout->thread || !layout->counters)
		return 0;
	for (uint32_t cpu = 0; cpu < cpus; cpu++)
		if (!arena_take(arena, (uint64_t)layout->slots << KTRX_SLOT_SHIFT))
			return 0;
	return 1;
}

static int layout_find(struct layout *layout, struct arena *arena, const struct ktrace_config *config)
{
	layout->slots = config->slots ? config->slots : UINT32_C(1) << 30;
	for (; layout->slots >= 512; layout->slots /= 2) {
		if (layout_take(layout, arena, config))
			return KTRACE_OK;
		if (config->slots)
			break;
	}
	return KTRACE_ERROR_MEMORY;
}

static void ring_make(struct ktrx_ring *ring, uint32_t cpu, uint32_t slots, void *base, uint32_t policy)
{
	ktrace_zero(ring, sizeof(*ring));
	ring->base = (uintptr_t)base;
	ring->mask = slots - 1;
	ring->shift = (uint32_t)__builtin_ctz(slots);
	ring->address = (uintptr_t)base;
	ring->length = (uint64_t)slots << KTRX_SLOT_SHIFT;
	ring->extents = 1;
	ring->where = KTRX_WHERE_VIRTUAL;
	ring->kind = KTRX_RING_PER_CPU;
	ring->cpu = cpu;
	ring->policy = policy;
	ring->first = (ktrace_root.nonce & 0xff) << ring->shift;
	ring->head = (uintptr_t)&ring->word;
}

/* Second run over the same arena: everything fits, so the same calls give the same places. */
static void layout_fill(struct layout *layout, struct arena *arena, const struct ktrace_config *config)
{
	uint32_t cpus = layout->cpus;

	arena_open(arena, config);
	for (uint32_t i = 0; i < config->blocks; i++) {
		struct ktrx_block *head = (struct ktrx_block *)block_start(&config->memory[i]);

		if (block_size(&config->memory[i]) < sizeof(*head))
			continue;
		ktrace_zero(head, sizeof(*head));
		ktrace_copy(head->magic, KTRX_BLOCK_MAGIC, sizeof(head->magic));
		head->nonce = ktrace_root.nonce;
		head->self = (uintptr_t)head;
		head->length = block_size(&config->memory[i]);
	}
	arena_take(arena, (uint64_t)cpus * sizeof(struct ktrx_ring));
	arena_take(arena, (uint64_t)cpus * sizeof(struct ktrx_cpu));
	arena_take(arena, (uint64_t)config->threads * sizeof(struct ktrx_thread));
	arena_take(arena, counters_size(config, cpus));
	ktrace_zero(layout->cpu, (size_t)cpus * sizeof(struct ktrx_cpu));
	ktrace_zero(layout->thread, (size_t)config->threads * sizeof(struct ktrx_thread));
	ktrace_zero(layout->counters, (size_t)counters_size(config, cpus));
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		void *slots = arena_take(arena, (uint64_t)layout->slots << KTRX_SLOT_SHIFT);

		ktrace_zero(slots, (size_t)layout->slots << KTRX_SLOT_SHIFT);
		ring_make(&layout->ring[cpu], cpu, layout->slots, slots, config->policy);
	}
}

static KTRACE_IN_DATA struct ktrx_extent ring_extents[2] = { { 0, 0 }, { 0, 0 } };

static void root_fill(const struct layout *layout, const struct ktrace_config *config)
{
	ktrace_root_open();
	ktrace_root.cpus = layout->cpus;
	if (layout->slots > ktrace_root.slots)
		ktrace_root.slots = layout->slots;
	if (config->frequency)
		ktrace_root.frequency = config->frequency;
	ktrace_root.wall_ns = config->wall_ns;
	ktrace_root.wall_stamp = ktrace_arch_clock();
	for (uint32_t i = 0; config->kernel && config->kernel[i] && i < sizeof(ktrace_root.kernel) - 1; i++)
		*(volatile char *)&ktrace_root.kernel[i] = config->kernel[i];
	ring_extents[0].address = (uintptr_t)&ktrace_boot_ring;
	ring_extents[0].length = sizeof(ktrace_boot_ring);
	ring_extents[1].address = (uintptr_t)layout->ring;
	ring_extents[1].length = (uint64_t)layout->cpus * sizeof(struct ktrx_ring);
	ktrace_section_set(0, KTRX_SECTION_RINGS, sizeof(struct ktrx_ring), ring_extents,
			   ring_extents[0].length + ring_extents[1].length);
	ktrace_root.section[0].extents = 2;
	ktrace_section_set(2, KTRX_SECTION_CPUS, sizeof(struct ktrx_cpu), layout->cpu,
			   (uint64_t)layout->cpus * sizeof(struct ktrx_cpu));
	ktrace_section_set(3, KTRX_SECTION_THREADS, sizeof(struct ktrx_thread), layout->thread,
			   (uint64_t)config->threads * sizeof(struct ktrx_thread));
	ktrace_section_set(4, KTRX_SECTION_COUNTERS, sizeof(uint64_t), layout->counters,
			   counters_size(config, layout->cpus));
	ktrace_section_set(5, KTRX_SECTION_BUILD_ID, 0, config->build_id, config->build_id_size);
	ktrace_root_close();
}

static void state_fill(const struct layout *layout, const struct ktrace_config *config)
{
	ktrace_rings[0] = &ktrace_boot_ring;
	for (uint32_t n = 1; n <= KTRACE_MAX_CPUS; n++)
		ktrace_rings[n] = n <= layout->cpus ? &layout->ring[n - 1] : &ktrace_no_ring;
	ktrace_state.cpus = layout->cpus;
	ktrace_state.cpu = layout->cpu;
	ktrace_state.threads = config->threads;
	ktrace_state.thread = layout->thread;
	ktrace_state.counters = config->counters ? layout->counters : KTRACE_NULL;
	ktrace_state.policy = config->policy;
	ktrace_arch_store_barrier();
	*(volatile uint32_t *)&ktrace_state.initialised = 1;
}

static int config_check(const struct ktrace_config *config)
{
	if (config->size != sizeof(*config) || config->cpus > KTRACE_MAX_CPUS || config->policy > KTRX_POLICY_STOP)
		return KTRACE_ERROR_ARGUMENT;
	if (config->blocks == 0 || config->blocks > KTRACE_MAX_BLOCKS || !config->memory)
		return KTRACE_ERROR_ARGUMENT;
	if (config->slots & (config->slots - 1) || config->slots > UINT32_C(1) << 30)
		return KTRACE_ERROR_ARGUMENT;
	return config->slots && config->slots < 512 ? KTRACE_ERROR_ARGUMENT : KTRACE_OK;
}

int ktrace_init(const struct ktrace_config *config)
{
	struct layout layout = { .cpus = config->cpus ? config->cpus : 1 };
	struct arena arena;
	int error = config_check(config);

	if (error)
		return error;
	if (ktrace_state.initialised || !ktrace_attach())
		return KTRACE_ERROR_STATE;
	error = layout_find(&layout, &arena, config);
	if (error)
		return error;
	layout_fill(&layout, &arena, config);
	root_fill(&layout, config);
	state_fill(&layout, config);
	ktrace_states_update();
	return KTRACE_OK;
}
