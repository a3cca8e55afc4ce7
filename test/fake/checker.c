/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "test/fake/checker.h"

#include <string.h>

#include "kernel/core/state.h"

enum kind { EMPTY, SINGLE, FIRST, MORE, LAST, VOID };

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

/* The kind of a slot that belongs to this lap, EMPTY for any other. */
static enum kind kind_of(const struct ktrx_ring *ring, uint64_t index)
{
	const uint8_t *slot = slot_of(ring, index);
	uint32_t tag = (uint32_t)bits(slot, 2);
	uint64_t lap = index / (ring->mask + 1u);

	if ((tag >> 3 & 0xff) != lap % 256)
		return EMPTY;
	if ((tag & 7) == SINGLE || (tag & 7) == FIRST)
		return slot[11] >> 1 == lap % 128 ? (enum kind)(tag & 7) : EMPTY;
	if ((tag & 7) == MORE || (tag & 7) == LAST) {
		uint64_t words = (bits(slot, 8) & ~UINT64_C(0xf800)) ^ 3 * bits(slot + 8, 8) ^
				 5 * bits(slot + 16, 8) ^ 7 * bits(slot + 24, 8);

		return words * UINT64_C(0x9e3779b97f4a7c15) >> 59 == tag >> 11 ? (enum kind)(tag & 7) : EMPTY;
	}
	return (tag & 7) == VOID ? VOID : EMPTY;
}

/* Slots of the record whose first slot is here, 0 if it is not whole. */
static uint32_t record_length(const struct ktrx_ring *ring, uint64_t index, uint64_t head)
{
	if (kind_of(ring, index) == SINGLE)
		return 1;
	for (uint32_t n = 1; n < 8 && index + n < head; n++) {
		enum kind kind = kind_of(ring, index + n);

		if (kind == LAST)
			return n + 1;
		if (kind != MORE)
			return 0;
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

/* The whole stamp nearest to the anchor's. */
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
			kind == VOID ? result.void_slots++ : result.invalid++;
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
