/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Preserves the trace of a boot that ends with a reset. The next boot loads the kernel's image again and so
 * overwrites the data in the image. Therefore ktrace copies the parts of the image that a reader needs into
 * persistent memory: the root, the ring table, the boot ring, the event table, the settings, the build id and
 * the names of system calls. Rings and other tables are in that memory anyway. Heartbeats update the copies;
 * the code that records events does not. So a ring may contain records that were made after the ring table
 * was copied. A reader finds these records by the generations in the slots.
 *
 * The copies follow one another, each aligned: root, ring table, boot ring, event table, settings, build id,
 * system calls.
 *
 * Several CPUs may update the same 64-bit word of a copy at the same time. Each CPU writes the value that it
 * has just read. So a word may be slightly out of date.
 */
#include "core.h"
#include "reader.h"

#define KTRACE_SLOT_WORDS (KTRX_SLOT_SIZE / sizeof(uint64_t))

/*
 * Sections that are in the image and are copied. The other sections in the image are useless without the
 * kernel.
 */
static const uint32_t copied[] = { KTRX_SECTION_EVENTS, KTRX_SECTION_SETTINGS, KTRX_SECTION_BUILD_ID,
				   KTRX_SECTION_SYSCALLS };
#define KTRACE_COPIED (sizeof(copied) / sizeof(copied[0]))

static uint64_t rounded(uint64_t size)
{
	return (size + KTRX_SLOT_SIZE * 2 - 1) & ~(uint64_t)(KTRX_SLOT_SIZE * 2 - 1);
}

static uint64_t rings_size(uint32_t rings)
{
	return rings * sizeof(struct ktrx_ring);
}

uint64_t ktrace_keep_size(const struct ktrace_config *config, uint32_t rings)
{
	return rounded(sizeof(struct ktrx_root)) + rounded(rings_size(rings)) +
	       rounded(sizeof(ktrace_boot_slot)) +
	       rounded(ktrace_root.section[KTRX_SECTION_EVENTS - 1].length) +
	       rounded(ktrace_root.section[KTRX_SECTION_SETTINGS - 1].length) +
	       rounded(config->build_id_size) + rounded(ktrace_length(config->syscalls, KTRX_U32_MAX));
}

void ktrace_keep_forget(void *memory)
{
	ktrace_zero(memory, sizeof(struct ktrx_root));
	ktrace_arch_store_barrier();
}

/* Returns the copy of the ring table, which follows the root. */
static struct ktrx_ring *kept_rings(struct ktrx_root *kept)
{
	return (struct ktrx_ring *)((uintptr_t)kept + rounded(sizeof(*kept)));
}

static void ring_copy(struct ktrx_ring *copy, const struct ktrx_ring *ring)
{
	ktrace_copy(copy, ring, sizeof(*copy));
	copy->word = *(volatile uint64_t *)(uintptr_t)ring->head;
	copy->base = 0;
	copy->head = 0;
	copy->head_address = 0;
	copy->head_where = KTRX_WHERE_NONE;
}

/*
 * Copies the slots of the boot ring that were reserved since the last call. If a slot is reserved but not
 * written yet, its record is missing in the copy.
 */
static void boot_slots_keep(struct ktrx_ring *copy, uint64_t head)
{
	uint64_t index = KTRX_WORD_INDEX(*(volatile uint64_t *)&copy->word);

	if (head - index > KTRACE_BOOT_SLOTS)
		index = head - KTRACE_BOOT_SLOTS;
	for (; index < head; index++) {
		uint32_t slot = (uint32_t)(index & (KTRACE_BOOT_SLOTS - 1));

		ktrace_copy_slots((uint64_t *)(uintptr_t)copy->address + slot * KTRACE_SLOT_WORDS,
				  ktrace_boot_slot[slot].word, 1);
	}
}

static void row_keep(struct ktrx_root *kept, uint32_t n, uint64_t word)
{
	const volatile struct ktrx_ring *ring = &ktrace_ring[n];
	volatile struct ktrx_ring *copy = &kept_rings(kept)[n];

	copy->first = ring->first;
	copy->anchor_stamp = ring->anchor_stamp;
	copy->anchor_index = ring->anchor_index;
	copy->dropped = ring->dropped;
	copy->lapped = ring->lapped;
	copy->word = word;
}

static void ring_keep(struct ktrx_root *kept, uint32_t n)
{
	row_keep(kept, n, *(volatile uint64_t *)(uintptr_t)ktrace_ring[n].head);
}

static void shared_keep(struct ktrx_root *kept)
{
	volatile struct ktrx_root *copy = kept;
	uint64_t word = *(volatile uint64_t *)&ktrace_ring[0].word;

	boot_slots_keep(kept_rings(kept), KTRX_WORD_INDEX(word));
	row_keep(kept, 0, word);
	if (ktrace_state.rare)
		ring_keep(kept, ktrace_state.rare);
	copy->flags = ktrace_root.flags | KTRX_FLAG_KEPT;
	copy->lost_events = ktrace_root.lost_events;
	copy->status = ktrace_root.status;
	copy->outcome = ktrace_root.outcome;
}

/* Copies the values of settings, which may be anywhere in the kernel. */
static void settings_keep(struct ktrx_root *kept)
{
	uint64_t moved = kept->section[KTRX_SECTION_SETTINGS - 1].address -
			 ktrace_root.section[KTRX_SECTION_SETTINGS - 1].address;

	for (struct ktrx_setting *row = ktrace_setting_first(); row; row = ktrace_setting_next(row)) {
		struct ktrx_setting *copy = (struct ktrx_setting *)((uintptr_t)row + moved);

		*(volatile uint64_t *)&copy->value = ktrace_setting_value(row);
	}
}

void ktrace_keep_beat(uint32_t cpu)
{
	struct ktrx_root *kept = ktrace_state.kept;

	if (!kept)
		return;
	ring_keep(kept, cpu + 1);
	shared_keep(kept);
	if (cpu == 0)
		settings_keep(kept);
}

void ktrace_keep_all(void)
{
	struct ktrx_root *kept = ktrace_state.kept;

	if (!kept)
		return;
	for (uint32_t cpu = 0; cpu < ktrace_state.cpus; cpu++)
		ring_keep(kept, cpu + 1);
	shared_keep(kept);
	settings_keep(kept);
}

static uintptr_t rings_make(struct ktrx_root *kept, uint32_t rings)
{
	struct ktrx_ring *ring = kept_rings(kept);
	uintptr_t slots = (uintptr_t)ring + rounded(rings_size(rings));

	for (uint32_t n = 0; n < rings; n++)
		ring_copy(&ring[n], &ktrace_ring[n]);
	ktrace_zero((void *)slots, sizeof(ktrace_boot_slot));
	ring[0].address = slots;
	ring[0].word = ring[0].first; /* the copy does not contain any slots yet */
	kept->section[KTRX_SECTION_RINGS - 1].address = (uintptr_t)ring;
	return slots + rounded(sizeof(ktrace_boot_slot));
}

static void sections_copy(struct ktrx_root *kept, uintptr_t at)
{
	for (uint32_t i = 0; i < KTRACE_COPIED; i++) {
		struct ktrx_section *section = &kept->section[copied[i] - 1];

		if (section->type == KTRX_SECTION_NONE)
			continue;
		ktrace_copy((void *)at, (const void *)(uintptr_t)section->address, section->length);
		section->address = at;
		at += rounded(section->length);
	}
}

/* Copies the root, except the first words: a reader recognises a root by these words. */
static void root_copy(struct ktrx_root *kept)
{
	const size_t head = __builtin_offsetof(struct ktrx_root, frequency);

	ktrace_copy((uint8_t *)kept + head, (const uint8_t *)&ktrace_root + head, sizeof(*kept) - head);
	kept->flags |= KTRX_FLAG_KEPT;
	kept->self_phys = ktrace_state.physical ? ktrace_state.physical(kept) : 0;
	ktrace_zero(&kept->section[KTRX_SECTION_MAILBOX - 1], sizeof(kept->section[0]));
}

void ktrace_keep_open(void *memory, uint32_t rings, uint64_t boot)
{
	struct ktrx_root *kept = memory;

	root_copy(kept);
	sections_copy(kept, rings_make(kept, rings));
	shared_keep(kept);
	settings_keep(kept);
	ktrace_arch_store_barrier();
	ktrace_copy(kept, &ktrace_root, __builtin_offsetof(struct ktrx_root, frequency));
	ktrace_state.boot = boot;
	ktrace_arch_store_barrier();
	*(struct ktrx_root *volatile *)&ktrace_state.kept = kept;
}

uint64_t ktrace_boot(void)
{
	return ktrace_state.boot;
}
