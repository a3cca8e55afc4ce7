/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace_init(): places tables and rings in ktrace's memory (the arena). A first pass over the arena finds
 * out how large the rings can be; a second pass takes the memory. Call sites can use the new rings only after
 * all tables and rings are complete.
 */
#include "core.h"

#define KTRACE_SHIFT_LEAST 9u
#define KTRACE_SHIFT_MOST  30u
#define KTRACE_PIECE_ALIGN 64u
#define KTRACE_PAGE	   KTRX_U64(4096)

/* ---- the arena: ktrace's memory --------------------------------------------------------------- */

/*
 * The memory that the kernel passed to ktrace_init(): physically contiguous pieces, each with a struct
 * ktrx_block at its start. The memory of tables and rings is taken from these pieces and never given back.
 */
struct arena {
	uint64_t boot; /* number of this boot, if the memory is persistent; 0: the memory is not persistent */
	uint32_t pieces;
	struct {
		uintptr_t start; /* aligned to KTRACE_PIECE_ALIGN */
		uint64_t size;	 /* number of bytes, a multiple of KTRACE_PIECE_ALIGN */
		uint64_t taken;	 /* number of bytes in use, including struct ktrx_block */
	} piece[KTRACE_MAX_BLOCKS];
};

static void piece_add(struct arena *arena, uintptr_t start, uintptr_t end)
{
	uintptr_t aligned = (start + KTRACE_PIECE_ALIGN - 1) & ~(uintptr_t)(KTRACE_PIECE_ALIGN - 1);
	uint64_t size = end > aligned ? (end - aligned) & ~(uint64_t)(KTRACE_PIECE_ALIGN - 1) : 0;

	if (size < sizeof(struct ktrx_block) || arena->pieces == KTRACE_MAX_BLOCKS)
		return;
	arena->piece[arena->pieces].start = aligned;
	arena->piece[arena->pieces].size = size;
	arena->pieces++;
}

/*
 * Adds a block of the kernel's memory to the arena. Splits the block wherever two of its pages are not
 * adjacent in physical memory.
 */
static void block_add(struct arena *arena, const struct ktrace_config *config, uintptr_t start, uintptr_t end)
{
	uintptr_t piece = start;
	uintptr_t page;

	for (page = (start | (KTRACE_PAGE - 1)) + 1; config->physical && page < end; page += KTRACE_PAGE) {
		uint64_t before = config->physical((void *)(page - 1));

		if (config->physical((void *)page) != before + 1) {
			piece_add(arena, piece, page);
			piece = page;
		}
	}
	piece_add(arena, piece, end);
}

/* Frees all memory of the arena: the same calls of arena_take() then return the same addresses. */
static void arena_rewind(struct arena *arena)
{
	for (uint32_t i = 0; i < arena->pieces; i++)
		arena->piece[i].taken = sizeof(struct ktrx_block);
}

/*
 * Finds the pieces. Pieces beyond KTRACE_MAX_BLOCKS and pieces too small for a struct ktrx_block are not
 * used.
 */
static void arena_open(struct arena *arena, const struct ktrace_config *config)
{
	arena->boot = 0;
	arena->pieces = 0;
	for (uint32_t i = 0; i < config->blocks; i++) {
		uintptr_t start = (uintptr_t)config->memory[i].base;

		if (start != 0)
			block_add(arena, config, start, start + config->memory[i].size);
	}
	arena_rewind(arena);
}

/* Returns the number of the boot that used the block at this address; 0 if there is no block of this size. */
static uint64_t boot_at(uintptr_t start, uint64_t size)
{
	const volatile struct ktrx_block *head = (const volatile struct ktrx_block *)start;

	for (uint32_t i = 0; i < sizeof(head->magic); i++)
		if (head->magic[i] != (uint8_t)KTRX_BLOCK_MAGIC[i])
			return 0;
	return head->self == start && head->length == size ? head->boot : 0;
}

/*
 * Shrinks each piece to the first of `parts` equal parts. Drops a piece if a part is too small for a struct
 * ktrx_block.
 */
static void pieces_divide(struct arena *arena, uint32_t parts)
{
	uint32_t pieces = arena->pieces;

	arena->pieces = 0;
	for (uint32_t i = 0; i < pieces; i++)
		piece_add(arena, arena->piece[i].start, arena->piece[i].start + arena->piece[i].size / parts);
}

/*
 * For persistent memory: reduces each piece to one of its `parts`: to an unused part if there is one,
 * otherwise to the part that the oldest boot used. Numbers this boot. Only the blocks of the first piece are
 * read, because the blocks of all pieces are written together. Drops pieces that are too small to be divided.
 * Returns true if an earlier boot had this nonce.
 */
static int arena_divide(struct arena *arena, uint32_t parts, uint64_t nonce)
{
	uint64_t newest = 0, oldest = KTRX_U64_MAX;
	uint32_t chosen = 0, known = 0;

	pieces_divide(arena, parts);
	for (uint32_t part = 0; part < parts && arena->pieces != 0; part++) {
		uintptr_t start = arena->piece[0].start + part * arena->piece[0].size;
		uint64_t boot = boot_at(start, arena->piece[0].size);

		if (boot != 0 && ((const volatile struct ktrx_block *)start)->nonce == nonce)
			known = 1;
		if (boot > newest)
			newest = boot;
		if (boot < oldest) {
			oldest = boot;
			chosen = part;
		}
	}
	for (uint32_t i = 0; i < arena->pieces; i++)
		arena->piece[i].start += chosen * arena->piece[i].size;
	arena->boot = newest + 1;
	return (int)known;
}

/*
 * Takes `size` bytes that are not in use; NULL if no piece has enough. For 0 bytes it returns an address that
 * must not be accessed.
 */
static void *arena_take(struct arena *arena, uint64_t size)
{
	uint64_t rounded = (size + KTRACE_PIECE_ALIGN - 1) & ~(uint64_t)(KTRACE_PIECE_ALIGN - 1);

	for (uint32_t i = 0; i < arena->pieces; i++) {
		if (arena->piece[i].size - arena->piece[i].taken >= rounded) {
			uintptr_t place = arena->piece[i].start + arena->piece[i].taken;

			arena->piece[i].taken += rounded;
			return (void *)place;
		}
	}
	return KTRACE_NULL;
}

/* Writes the struct ktrx_block of all pieces. */
static void arena_mark(const struct arena *arena, uint64_t nonce)
{
	for (uint32_t i = 0; i < arena->pieces; i++) {
		struct ktrx_block *head = (struct ktrx_block *)arena->piece[i].start;

		ktrace_zero(head, sizeof(*head));
		ktrace_copy(head->magic, KTRX_BLOCK_MAGIC, sizeof(head->magic));
		head->nonce = nonce;
		head->self = arena->piece[i].start;
		head->length = arena->piece[i].size;
		head->boot = arena->boot;
	}
}

/* ---- tables and rings ------------------------------------------------------------------------- */

struct layout {
	uint32_t cpus;
	uint32_t shift;	     /* log2 of the number of slots of each CPU's ring */
	uint32_t rare_shift; /* log2 of the number of slots of the ring of rare events; 0: none */
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
	return shift ? KTRX_U64(1) << (shift + KTRX_SLOT_SHIFT) : 0;
}

static int tables_take(struct layout *layout, struct arena *arena, const struct ktrace_config *config)
{
	layout->kept = arena_take(arena, layout->kept_size);
	layout->cpu = arena_take(arena, (uint64_t)layout->cpus * sizeof(struct ktrx_cpu));
	layout->thread = arena_take(arena, (uint64_t)config->threads * sizeof(struct ktrx_thread));
	layout->holder = arena_take(arena, layout->holders_size);
	layout->counters = arena_take(arena, layout->counters_size);
	layout->clocks.clock = arena_take(arena, layout->clocks_size);
	layout->clocks.offset = arena_take(arena, layout->offsets_size);
	layout->clocks.line = arena_take(arena, layout->lines_size);
	layout->fold = arena_take(arena, layout->folds_size);
	layout->rare = arena_take(arena, ring_size(layout->rare_shift));
	return layout->kept && layout->cpu && layout->thread && layout->holder && layout->counters &&
	       layout->clocks.clock && layout->clocks.offset && layout->clocks.line && layout->fold &&
	       layout->rare;
}

static int layout_fits(struct layout *layout, struct arena *arena, const struct ktrace_config *config)
{
	arena_rewind(arena);
	if (!tables_take(layout, arena, config))
		return 0;
	for (uint32_t cpu = 0; cpu < layout->cpus; cpu++)
		if (!arena_take(arena, ring_size(layout->shift)))
			return 0;
	return 1;
}

static int layout_find(struct layout *layout, struct arena *arena, const struct ktrace_config *config)
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
	ring->mask = (KTRX_U32(1) << shift) - 1;
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
	ring->word = ring->first; /* until the CPU is online, the reserve word selects ring 0 */
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

static void layout_make(struct layout *layout, struct arena *arena, const struct ktrace_config *config)
{
	arena_rewind(arena);
	tables_take(layout, arena, config);
	if (layout->kept_size != 0)
		ktrace_keep_forget(layout->kept);
	arena_mark(arena, ktrace_root.nonce);
	ktrace_zero(layout->cpu, layout->cpus * sizeof(struct ktrx_cpu));
	ktrace_zero(layout->thread, config->threads * sizeof(struct ktrx_thread));
	holders_make(layout);
	ktrace_zero(layout->counters, layout->counters_size);
	ktrace_zero(layout->clocks.clock, layout->clocks_size);
	ktrace_zero(layout->clocks.offset, layout->offsets_size);
	ktrace_zero(layout->clocks.line, layout->lines_size);
	ktrace_zero(layout->fold, layout->folds_size);
	for (uint32_t cpu = 0; cpu < layout->cpus; cpu++)
		cpu_ring_make(cpu, layout, arena_take(arena, ring_size(layout->shift)), config->policy);
	if (layout->rare_shift)
		rare_ring_make(layout);
}

static void root_describe(const struct layout *layout, const struct ktrace_config *config)
{
	uint32_t shift = layout->shift > layout->rare_shift ? layout->shift : layout->rare_shift;

	ktrace_root.cpus = layout->cpus;
	if (ktrace_root.slots >> shift == 0)
		ktrace_root.slots = KTRX_U32(1) << shift;
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
			   ktrace_length(config->syscalls, KTRX_U32_MAX));
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
	return slots == 0 || (slots >> KTRACE_SHIFT_LEAST != 0 && slots <= KTRX_U32(1) << KTRACE_SHIFT_MOST &&
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

/*
 * Returns log2 of a power of two, 0 for 0. Written as a loop because compilers may call a library function
 * for their builtin.
 */
static uint32_t shift_of(uint32_t slots)
{
	uint32_t shift = 0;

	while (slots >> shift > 1)
		shift++;
	return shift;
}

/* Finds the memory. If persistent memory has an earlier boot with this boot's nonce, changes the nonce. */
static void memory_open(struct arena *arena, const struct ktrace_config *config)
{
	arena_open(arena, config);
	while (config->keep != 0 && arena_divide(arena, config->keep + 1, ktrace_root.nonce)) {
		ktrace_nonce_change();
		arena_open(arena, config);
	}
}

/* Starts to use the tables of clocks, if memory was taken for them. */
static void clocks_open(struct layout *layout, const struct ktrace_config *config)
{
	if (layout->clocks_size != 0)
		ktrace_clock_open(&layout->clocks, config->interrupt);
}

int ktrace_init(const struct ktrace_config *config)
{
	static KTRACE_IN_DATA struct arena arena; /* static, because it is too large for a kernel's stack */
	struct layout layout;
	int error;

	if (!config_is_valid(config))
		return KTRACE_ERROR_ARGUMENT;
	if (ktrace_state.initialised)
		return KTRACE_ERROR_STATE;
	ktrace_attach();
	ktrace_places_join(); /* must be done before root_fill() changes the root's sequence */
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
