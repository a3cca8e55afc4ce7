/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace_init(): tables and rings in lent memory. A trial run over the arena finds what fits, a second one
 * takes it for good; the sites are let loose on it last.
 */
#include "clock.h"
#include "fold.h"
#include "keep.h"
#include "memory.h"
#include "place.h"

#define KTRACE_SHIFT_LEAST 9u
#define KTRACE_SHIFT_MOST  30u

struct layout {
	uint32_t cpus;
	uint32_t shift;	     /* log2 of the slots of each CPU's ring */
	uint32_t rare_shift; /* … and of those of the ring of rare events, 0: none */
	struct ktrx_cpu *cpu;
	struct ktrx_thread *thread;
	struct ktrx_holder *holder;
	uint64_t holders_size;
	uint64_t *counters;
	uint64_t counters_size;
	struct ktrace_clock_rows clocks;
	uint64_t clocks_size, offsets_size, lines_size;
	struct ktrx_fold *fold;
	uint64_t folds_size;
	void *kept;
	uint64_t kept_size;
	void *rare;
};

static uint32_t rings(const struct layout *layout)
{
	return layout->cpus + (layout->rare_shift ? 2 : 1);
}

static uint64_t ring_size(uint32_t shift)
{
	return shift ? UINT64_C(1) << (shift + KTRX_SLOT_SHIFT) : 0;
}

static int tables_take(struct layout *layout, struct ktrace_arena *arena, const struct ktrace_config *config)
{
	layout->kept = ktrace_arena_take(arena, layout->kept_size);
	layout->cpu = ktrace_arena_take(arena, (uint64_t)layout->cpus * sizeof(struct ktrx_cpu));
	layout->thread = ktrace_arena_take(arena, (uint64_t)config->threads * sizeof(struct ktrx_thread));
	layout->holder = ktrace_arena_take(arena, layout->holders_size);
	layout->counters = ktrace_arena_take(arena, layout->counters_size);
	layout->clocks.clock = ktrace_arena_take(arena, layout->clocks_size);
	layout->clocks.offset = ktrace_arena_take(arena, layout->offsets_size);
	layout->clocks.line = ktrace_arena_take(arena, layout->lines_size);
	layout->fold = ktrace_arena_take(arena, layout->folds_size);
	layout->rare = ktrace_arena_take(arena, ring_size(layout->rare_shift));
	return layout->kept && layout->cpu && layout->thread && layout->holder && layout->counters &&
	       layout->clocks.clock && layout->clocks.offset && layout->clocks.line && layout->fold &&
	       layout->rare;
}

static int layout_fits(struct layout *layout, struct ktrace_arena *arena, const struct ktrace_config *config)
{
	ktrace_arena_rewind(arena);
	if (!tables_take(layout, arena, config))
		return 0;
	for (uint32_t cpu = 0; cpu < layout->cpus; cpu++)
		if (!ktrace_arena_take(arena, ring_size(layout->shift)))
			return 0;
	return 1;
}

static int layout_find(struct layout *layout, struct ktrace_arena *arena, const struct ktrace_config *config)
{
	for (layout->shift = KTRACE_SHIFT_MOST; layout->shift >= KTRACE_SHIFT_LEAST; layout->shift--) {
		if (config->slots && config->slots >> layout->shift != 1)
			continue;
		if (layout_fits(layout, arena, config))
			return KTRACE_OK;
	}
	return KTRACE_ERROR_MEMORY;
}

static void ring_make(struct ktrx_ring *ring, uint32_t shift, void *slots)
{
	ktrace_zero(slots, ring_size(shift));
	ring->base = (uintptr_t)slots;
	ring->mask = (UINT32_C(1) << shift) - 1;
	ring->shift = shift;
	ring->first = (ktrace_root.nonce & 0xff) << shift;
	ring->address = (uintptr_t)slots;
	ring->length = ring_size(shift);
	ring->extents = 1;
	ring->where = KTRX_WHERE_VIRTUAL;
}

static void cpu_ring_make(uint32_t cpu, const struct layout *layout, void *slots, uint32_t policy)
{
	struct ktrx_ring *ring = &ktrace_ring[cpu + 1];

	ring_make(ring, layout->shift, slots);
	ring->word = ring->first; /* names ring 0 until the CPU is online */
	ring->kind = KTRX_RING_PER_CPU;
	ring->cpu = cpu;
	ring->policy = policy;
	ring->head = (uintptr_t)&ring->word;
}

static void holders_make(const struct layout *layout)
{
	ktrace_zero(layout->holder, layout->holders_size);
	for (uint32_t cpu = 0; cpu < layout->cpus && layout->holders_size; cpu++)
		layout->holder[cpu].id = KTRX_HOLDER_CPU | cpu;
}

static void rare_ring_make(const struct layout *layout)
{
	uint32_t number = layout->cpus + 1;
	struct ktrx_ring *ring = &ktrace_ring[number];

	ring_make(ring, layout->rare_shift, layout->rare);
	ring->kind = KTRX_RING_SHARED;
	ring->cpu = KTRX_NO_CPU;
	ring->policy = KTRX_POLICY_OVERWRITE;
	ring->head = (uintptr_t)&ktrace_state.rare_word;
	ring->head_address = ring->head;
	ring->head_where = KTRX_WHERE_VIRTUAL;
	ktrace_state.rare_word = (uint64_t)number << KTRX_WORD_INDEX_BITS | ring->first;
}

static void layout_make(struct layout *layout, struct ktrace_arena *arena, const struct ktrace_config *config)
{
	ktrace_arena_rewind(arena);
	tables_take(layout, arena, config);
	if (layout->kept_size != 0)
		ktrace_keep_forget(layout->kept);
	ktrace_arena_mark(arena, ktrace_root.nonce);
	ktrace_zero(layout->cpu, layout->cpus * sizeof(struct ktrx_cpu));
	ktrace_zero(layout->thread, config->threads * sizeof(struct ktrx_thread));
	holders_make(layout);
	ktrace_zero(layout->counters, layout->counters_size);
	ktrace_zero(layout->clocks.clock, layout->clocks_size);
	ktrace_zero(layout->clocks.offset, layout->offsets_size);
	ktrace_zero(layout->clocks.line, layout->lines_size);
	ktrace_zero(layout->fold, layout->folds_size);
	for (uint32_t cpu = 0; cpu < layout->cpus; cpu++)
		cpu_ring_make(cpu, layout, ktrace_arena_take(arena, ring_size(layout->shift)),
			      config->policy);
	if (layout->rare_shift)
		rare_ring_make(layout);
}

static void root_describe(const struct layout *layout, const struct ktrace_config *config)
{
	uint32_t shift = layout->shift > layout->rare_shift ? layout->shift : layout->rare_shift;

	ktrace_root.cpus = layout->cpus;
	if (ktrace_root.slots >> shift == 0)
		ktrace_root.slots = UINT32_C(1) << shift;
	ktrace_root.frequency = config->frequency ? config->frequency : ktrace_arch_frequency();
	ktrace_root.wall_ns = config->wall_ns;
	ktrace_root.wall_stamp = config->wall_ns ? ktrace_arch_clock() : 0;
	if (config->physical)
		ktrace_root.self_phys = config->physical(&ktrace_root);
	if (config->kernel)
		ktrace_copy_text(ktrace_root.kernel, config->kernel, sizeof(ktrace_root.kernel));
}

static void root_fill(const struct layout *layout, const struct ktrace_config *config)
{
	ktrace_root_open();
	root_describe(layout, config);
	ktrace_section_set(KTRX_SECTION_RINGS, sizeof(struct ktrx_ring), ktrace_ring,
			   rings(layout) * sizeof(struct ktrx_ring));
	ktrace_section_set(KTRX_SECTION_CPUS, sizeof(struct ktrx_cpu), layout->cpu,
			   layout->cpus * sizeof(struct ktrx_cpu));
	ktrace_section_set(KTRX_SECTION_THREADS, sizeof(struct ktrx_thread), layout->thread,
			   config->threads * sizeof(struct ktrx_thread));
	ktrace_section_set(KTRX_SECTION_HOLDERS, sizeof(struct ktrx_holder), layout->holder,
			   layout->holders_size);
	ktrace_section_set(KTRX_SECTION_COUNTERS, sizeof(uint64_t), layout->counters, layout->counters_size);
	ktrace_section_set(KTRX_SECTION_CLOCKS, sizeof(struct ktrx_clock), layout->clocks.clock,
			   layout->clocks_size);
	ktrace_section_set(KTRX_SECTION_OFFSETS, sizeof(int64_t), layout->clocks.offset,
			   layout->offsets_size);
	ktrace_section_set(KTRX_SECTION_FOLDS, sizeof(struct ktrx_fold), layout->fold, layout->folds_size);
	ktrace_section_set(KTRX_SECTION_BUILD_ID, 0, config->build_id, config->build_id_size);
	ktrace_section_set(KTRX_SECTION_SYSCALLS, 0, config->syscalls,
			   ktrace_length(config->syscalls, UINT32_MAX));
	ktrace_root_close();
}

static void state_fill(const struct layout *layout, const struct ktrace_config *config)
{
	ktrace_state.cpus = layout->cpus;
	ktrace_state.rare = layout->rare_shift ? layout->cpus + 1 : 0;
	ktrace_state.cpu = layout->cpu;
	ktrace_state.threads = config->threads;
	ktrace_state.thread = layout->thread;
	ktrace_state.holders = config->holders;
	ktrace_state.holder = layout->holders_size ? layout->holder : KTRACE_NULL;
	ktrace_state.counters = config->counters ? layout->counters : KTRACE_NULL;
	if (config->panic_goes_on)
		ktrace_state.panic_goes_on = 1;
	ktrace_state.physical = config->physical;
	ktrace_arch_store_barrier();
	*(volatile uint32_t *)&ktrace_state.initialised = 1;
	*(volatile uint32_t *)&ktrace_state.hooking = ktrace_state.state;
}

static int slots_are_valid(uint32_t slots)
{
	return slots == 0 || (slots >> KTRACE_SHIFT_LEAST != 0 && slots <= UINT32_C(1) << KTRACE_SHIFT_MOST &&
			      (slots & (slots - 1)) == 0);
}

static int config_is_valid(const struct ktrace_config *config)
{
	if (config->size != sizeof(*config) || config->cpus > KTRACE_MAX_CPUS ||
	    config->policy > KTRX_POLICY_STOP || config->keep > KTRACE_KEEP_MAX ||
	    config->clocks > KTRACE_CLOCKS_ONLINE)
		return 0;
	if ((config->blocks != 0 && !config->memory) || config->folds > KTRACE_FOLDS_MAX)
		return 0;
	return slots_are_valid(config->slots) && slots_are_valid(config->rare_slots);
}

static uint64_t holders_size(const struct layout *layout, const struct ktrace_config *config)
{
	return KTRACE_STATE && config->holders
		       ? ((uint64_t)layout->cpus + config->holders) * sizeof(struct ktrx_holder)
		       : 0;
}

static uint64_t counters_size(const struct layout *layout, const struct ktrace_config *config)
{
	return config->counters ? (uint64_t)rings(layout) * (ktrace_state.events + 1) * sizeof(uint64_t) : 0;
}

static void clocks_size(struct layout *layout, const struct ktrace_config *config)
{
	uint64_t rows = config->clocks == KTRACE_CLOCKS_NONE ? 0 : layout->cpus;

	layout->clocks_size = rows * sizeof(struct ktrx_clock);
	layout->offsets_size = rows * sizeof(int64_t);
	layout->lines_size = rows * sizeof(struct ktrace_clock_line);
	layout->clocks.once = config->clocks == KTRACE_CLOCKS_ONLINE;
}

/* Log2 of a power of two, 0 for none; compilers may make a library call of what they have for it. */
static uint32_t shift_of(uint32_t slots)
{
	uint32_t shift = 0;

	while (slots >> shift > 1)
		shift++;
	return shift;
}

/* Memory that is kept over resets still holds earlier boots: this one must differ from them. */
static void memory_open(struct ktrace_arena *arena, const struct ktrace_config *config)
{
	ktrace_arena_open(arena, config);
	while (config->keep != 0 && ktrace_arena_divide(arena, config->keep + 1, ktrace_root.nonce)) {
		ktrace_nonce_change();
		ktrace_arena_open(arena, config);
	}
}

/* Without memory for them the rows are nowhere. */
static void clocks_open(struct layout *layout, const struct ktrace_config *config)
{
	if (layout->clocks_size != 0)
		ktrace_clock_open(&layout->clocks, config->interrupt);
}

int ktrace_init(const struct ktrace_config *config)
{
	static KTRACE_IN_DATA struct ktrace_arena arena; /* too large for a kernel's stack */
	struct layout layout;
	int error;

	if (!config_is_valid(config))
		return KTRACE_ERROR_ARGUMENT;
	if (ktrace_state.initialised)
		return KTRACE_ERROR_STATE;
	ktrace_attach();
	ktrace_places_join(); /* before the sequence tells readers of a change of tables */
	layout.cpus = config->cpus ? config->cpus : 1;
	layout.holders_size = holders_size(&layout, config);
	layout.rare_shift = shift_of(config->rare_slots);
	layout.counters_size = counters_size(&layout, config);
	layout.folds_size = (uint64_t)layout.cpus * config->folds * sizeof(struct ktrx_fold);
	clocks_size(&layout, config);
	layout.kept_size = config->keep ? ktrace_keep_size(config, rings(&layout)) : 0;
	memory_open(&arena, config);
	error = layout_find(&layout, &arena, config);
	if (error)
		return error;
	layout_make(&layout, &arena, config);
	root_fill(&layout, config);
	clocks_open(&layout, config);
	if (config->folds)
		ktrace_fold_open(layout.fold, layout.cpus * config->folds, config->folds);
	state_fill(&layout, config);
	ktrace_states_update();
	if (config->keep)
		ktrace_keep_open(layout.kept, rings(&layout), arena.boot);
	return KTRACE_OK;
}
