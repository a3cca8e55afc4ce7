/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "test/fake/checker.h"

#include <string.h>

#include "kernel/core/state.h"

enum kind { EMPTY, SINGLE, FIRST, MORE, LAST };

static uint64_t bits(const uint8_t *bytes, uint32_t size)
{
	uint64_t value = 0;

	while (size > 0)
		value = value << 8 | bytes[--size];
	return value;
}

uint64_t payload_bits(const struct checked_record *record, uint32_t at, uint32_t size)
{
	return bits(record->payload + at, size);
}

static const uint8_t *slot_of(const struct ktrx_ring *ring, uint64_t index)
{
	return (const uint8_t *)(uintptr_t)ring->base + (index % (ring->mask + 1u)) * 32;
}

/* The function mix() of spec/ktrx.md, section 5, "The check". */
static uint64_t mix(uint64_t a, uint64_t b)
{
	const uint64_t key = UINT64_C(0x9e3779b97f4a7c15);
	unsigned __int128 product = (unsigned __int128)(a + key) * (b * key);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t lap_of(const struct ktrx_ring *ring, uint64_t index)
{
	uint64_t word = (uint64_t)(ring - ktrace_ring) << 51 | index;

	return (uint32_t)(word / (ring->mask + 1u));
}

static uint64_t check_more(const struct ktrx_ring *ring, uint64_t index)
{
	const uint8_t *slot = slot_of(ring, index);
	uint32_t lap = lap_of(ring, index) * 0xe2b84105u;

	return mix(bits(slot + 16, 8),
		   bits(slot + 24, 8) + mix(bits(slot, 8) & ~UINT64_C(0xf800), bits(slot + 8, 8) + lap));
}

static int first_agrees(const struct ktrx_ring *ring, uint64_t index, uint64_t rest)
{
	const uint8_t *slot = slot_of(ring, index);
	uint32_t second = (uint32_t)bits(slot + 8, 4);
	uint32_t last = (uint32_t)bits(slot + 28, 4) + (second & 0x1ffffff) * 8 + lap_of(ring, index);
	uint64_t check = mix(bits(slot + 12, 8), bits(slot + 20, 8) + (uint32_t)(last * 0xe2b84105u) + rest);

	return ((check ^ bits(slot, 2)) & 0xf800) == 0 && ((check ^ second) & 0xfe000000) == 0;
}

/*
 * Returns the kind of the slot, or EMPTY if the slot belongs to a different lap or its checksum is wrong.
 * Does not verify the checksum of a FIRST slot, which covers the whole record: record_length() verifies it.
 */
static enum kind kind_of(const struct ktrx_ring *ring, uint64_t index)
{
	uint32_t tag = (uint32_t)bits(slot_of(ring, index), 2);
	uint64_t lap = index / (ring->mask + 1u);

	if ((tag >> 3 & 0xff) != lap % 256)
		return EMPTY;
	if ((tag & 7) == SINGLE)
		return first_agrees(ring, index, 0) ? SINGLE : EMPTY;
	if ((tag & 7) == MORE || (tag & 7) == LAST)
		return ((check_more(ring, index) ^ tag) & 0xf800) == 0 ? (enum kind)(tag & 7) : EMPTY;
	return (tag & 7) == FIRST ? FIRST : EMPTY;
}

/*
 * Returns the number of slots of the record that begins at `index`; 0 if the record is incomplete or its
 * checksum is wrong.
 */
static uint32_t record_length(const struct ktrx_ring *ring, uint64_t index, uint64_t head)
{
	uint64_t rest = 0;

	if (kind_of(ring, index) == SINGLE)
		return 1;
	for (uint32_t n = 1; n < 8 && index + n < head; n++) {
		enum kind kind = kind_of(ring, index + n);

		if (kind != MORE && kind != LAST)
			return 0;
		if (kind == MORE)
			continue;
		for (uint32_t i = n; i > 0; i--)
			rest = (rest ^ check_more(ring, index + i)) * UINT64_C(0x9e3779b97f4a7c15);
		return first_agrees(ring, index, rest) ? n + 1 : 0;
	}
	return 0;
}

static void record_read(const struct ktrx_ring *ring, uint64_t index, uint32_t slots,
			struct checked_record *record)
{
	const uint8_t *first = slot_of(ring, index);
	uint64_t second = bits(first + 8, 4);

	record->index = index;
	record->slots = slots;
	record->event = (uint32_t)bits(first + 2, 2) & 0xfff;
	record->stamp = bits(first, 8) >> 28;
	record->thread = second & 0x3fffff;
	record->context = second >> 22 & 3;
	record->extended = second >> 24 & 1;
	memcpy(record->payload, first + 12, 20);
	record->size = 20;
	for (uint32_t n = 1; n < slots; n++, record->size += 30)
		memcpy(record->payload + record->size, slot_of(ring, index + n) + 2, 30);
}

/*
 * Extends a 36-bit timestamp to 64 bits: returns the value with these low bits that is nearest to the
 * anchor's timestamp.
 */
static uint64_t widen(uint64_t stamp, uint64_t anchor)
{
	int64_t difference = (int64_t)((stamp - anchor) << 28) >> 28;

	return anchor + (uint64_t)difference;
}

const struct checked_ring *check_ring(uint32_t number)
{
	static struct checked_ring result;
	const struct ktrx_ring *ring = &ktrace_ring[number];
	uint64_t head = *(uint64_t *)(uintptr_t)ring->head & ((UINT64_C(1) << 51) - 1);
	uint64_t index = head - ring->first > ring->mask + 1u ? head - ring->mask - 1 : ring->first;
	uint64_t anchor = 0;

	memset(&result, 0, sizeof(result));
	result.produced = head - ring->first;
	result.overwritten = index - ring->first;
	while (index < head) {
		struct checked_record *record = &result.record[result.records];
		enum kind kind = kind_of(ring, index);
		uint32_t slots = kind == SINGLE || kind == FIRST ? record_length(ring, index, head) : 0;

		if (slots == 0) {
			result.invalid++;
			index++;
			continue;
		}
		record_read(ring, index, slots, record);
		result.decoded += slots;
		index += slots;
		if (record->event == 0) {
			anchor = payload_bits(record, 0, 8);
			result.anchors++;
		} else {
			record->stamp = widen(record->stamp, anchor ? anchor : ring->anchor_stamp);
			result.records++;
		}
	}
	return &result;
}
