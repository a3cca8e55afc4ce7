/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "rings.h"

const struct ktrx_ring *ktrace_root_rings(const struct ktrx_root *root, uint32_t *rings)
{
	for (uint32_t i = 0; i < KTRX_SECTIONS; i++) {
		const struct ktrx_section *section = &root->section[i];

		if (section->type == KTRX_SECTION_RINGS && section->where == KTRX_WHERE_VIRTUAL &&
		    section->extents == 1) {
			*rings = (uint32_t)(section->length / sizeof(struct ktrx_ring));
			return (const struct ktrx_ring *)(uintptr_t)section->address;
		}
	}
	return NULL;
}

static uint64_t reserve_word(const struct ktrx_ring *ring)
{
	const uint64_t *at = ring->head ? (const uint64_t *)(uintptr_t)ring->head : &ring->word;

	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

uint32_t ktrace_ring_number(const struct ktrx_ring *ring)
{
	return ring->kind == KTRX_RING_PER_CPU ? ring->cpu + 1 : KTRX_WORD_RING(reserve_word(ring));
}

uint64_t ktrace_ring_head(const struct ktrx_ring *ring)
{
	uint64_t word = reserve_word(ring);

	if (ring->kind == KTRX_RING_PER_CPU && KTRX_WORD_RING(word) != ring->cpu + 1)
		return ring->first;
	return KTRX_WORD_INDEX(word);
}
