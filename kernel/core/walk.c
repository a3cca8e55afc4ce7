/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A slot is copied first, then the head is read: if by then the slot's index was not reserved again, the copy
 * is of the lap it claims to be.
 */
#include "walk.h"

#include "dump_stream.h"

#define ANCHOR_PREVIOUS 8u /* offset in the payload */

union slot {
	uint64_t word[KTRX_SLOT_SIZE / sizeof(uint64_t)];
	uint8_t byte[KTRX_SLOT_SIZE];
};

static uint64_t load64(const uint8_t *bytes)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < sizeof(value); i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

/* Copies slot `index`; false if it is not, or no longer, that lap's, or not of the kinds in the mask. */
static bool slot_copy(const struct ktrx_ring *ring, uint64_t index, uint32_t kinds, union slot *slot)
{
	const unsigned char *base = (const unsigned char *)(uintptr_t)ring->base;

	ktrace_copy_words(slot, base + ((index & ring->mask) << KTRX_SLOT_SHIFT), sizeof(*slot));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (ktrace_ring_head(ring) - index > (uint64_t)ring->mask + 1)
		return false;
	return (kinds >> KTRX_TAG_KIND(slot->word[0]) & 1u) != 0 &&
	       KTRX_TAG_GENERATION(slot->word[0]) == ktrx_generation(index, ring->shift);
}

static bool first_copy(const struct ktrx_ring *ring, uint64_t index, union slot *slot)
{
	return slot_copy(ring, index, 1u << KTRX_KIND_SINGLE | 1u << KTRX_KIND_FIRST, slot) &&
	       KTRX_W1_GENERATION(slot->word[1]) == (ktrx_generation(index, ring->shift) & 0x7fu);
}

static bool more_copy(const struct ktrx_ring *ring, uint64_t index, union slot *slot)
{
	return slot_copy(ring, index, 1u << KTRX_KIND_MORE | 1u << KTRX_KIND_LAST, slot) &&
	       KTRX_TAG_CHECK(slot->word[0]) ==
		       ktrx_check(slot->word[0], slot->word[1], slot->word[2], slot->word[3]);
}

/*
 * Stamps of the oldest records are counted from an anchor that may be gone: the first anchor still there
 * names it; if there is none, all records came after the newest.
 */
static uint64_t first_reference(const struct ktrace_walk *walk)
{
	for (uint64_t index = walk->index; index < walk->head; index++) {
		union slot slot;

		if (first_copy(walk->ring, index, &slot) && KTRX_W0_EVENT(slot.word[0]) == KTRX_EVENT_ANCHOR)
			return load64(slot.byte + KTRX_FIRST_OFFSET + ANCHOR_PREVIOUS);
	}
	return walk->ring->anchor_stamp;
}

void ktrace_walk_start(struct ktrace_walk *walk, const struct ktrx_ring *ring, uint64_t head)
{
	uint64_t slots = (uint64_t)ring->mask + 1;

	walk->ring = ring;
	walk->head = head;
	walk->index = head > slots ? head - slots : 0;
	if (walk->index < ring->first)
		walk->index = ring->first;
	walk->reference = first_reference(walk);
}

/* Nearest whole stamp to the reference that ends in these bits. */
static uint64_t whole_stamp(uint64_t reference, uint64_t stamp)
{
	uint64_t ahead = (stamp - reference) << (64 - KTRX_STAMP_BITS);

	return reference + (uint64_t)((int64_t)ahead >> (64 - KTRX_STAMP_BITS));
}

/* Payload behind the extension block, which may name the CPU. */
static void take_payload(struct ktrace_walk_record *record, const uint8_t *bytes, uint32_t count,
			 bool extended)
{
	uint32_t skip = extended ? bytes[0] : 0;

	if (extended && (bytes[1] & KTRX_EXT_CPU))
		record->cpu = bytes[2] | (uint32_t)bytes[3] << 8;
	record->bytes = 0;
	for (uint32_t i = skip; i < count; i++)
		((volatile uint8_t *)record->payload)[record->bytes++] = bytes[i];
}

static bool take_record(const struct ktrace_walk *walk, uint64_t index, const union slot *first,
			struct ktrace_walk_record *record)
{
	volatile uint8_t raw[KTRACE_WALK_PAYLOAD];
	uint32_t count = KTRX_FIRST_PAYLOAD;
	union slot more;

	for (uint32_t i = 0; i < KTRX_FIRST_PAYLOAD; i++)
		raw[i] = first->byte[KTRX_FIRST_OFFSET + i];
	if (KTRX_TAG_KIND(first->word[0]) == KTRX_KIND_FIRST) {
		if (!more_copy(walk->ring, index + 1, &more))
			return false;
		for (uint32_t i = 0; i < KTRX_MORE_PAYLOAD; i++)
			raw[count++] = more.byte[KTRX_MORE_OFFSET + i];
	}
	record->event = KTRX_W0_EVENT(first->word[0]);
	record->stamp = whole_stamp(walk->reference, KTRX_W0_STAMP(first->word[0]));
	record->thread = KTRX_W1_THREAD(first->word[1]);
	record->cpu = walk->ring->cpu;
	take_payload(record, (const uint8_t *)raw, count, KTRX_W1_EXTENDED(first->word[1]) != 0);
	return true;
}

bool ktrace_walk_next(struct ktrace_walk *walk, struct ktrace_walk_record *record)
{
	while (walk->index < walk->head) {
		uint64_t index = walk->index++;
		union slot slot;

		if (!first_copy(walk->ring, index, &slot))
			continue;
		if (KTRX_W0_EVENT(slot.word[0]) == KTRX_EVENT_ANCHOR)
			walk->reference = load64(slot.byte + KTRX_FIRST_OFFSET);
		else if (take_record(walk, index, &slot, record))
			return true;
	}
	return false;
}
