/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests how hand-written rings are walked: a walk skips invalid slots, and extends timestamps to 64 bits. */
#include <stdbool.h>

#include "kernel/core/reader.h"
#include "transport_fake/test.h"

#define SHIFT 9u
#define SLOTS (1u << SHIFT)
#define EVENT 7u

static uint64_t slots[SLOTS][4];
static struct ktrx_ring ring;

static void clear_ring(uint64_t first)
{
	memset(slots, 0, sizeof(slots));
	ring = (struct ktrx_ring){
		/* the upper bits contain ring number 4: CPU 3 is online and uses this ring */
		.word = UINT64_C(4) << KTRX_WORD_INDEX_BITS | first,
		.base = (uintptr_t)slots,
		.mask = SLOTS - 1,
		.shift = SHIFT,
		.first = first,
		.cpu = 3,
	};
}

static uint64_t *slot_at(uint64_t index)
{
	return slots[index & (SLOTS - 1)];
}

/* Computes the checksum of a first slot, and stores it in the slot. */
static void check_first(uint64_t index, uint64_t rest)
{
	uint64_t *slot = slot_at(index), check;

	slot[0] &= ~(uint64_t)KTRX_TAG_CHECK_MASK;
	slot[1] &= ~(uint64_t)KTRX_W1_CHECK_MASK;
	check = ktrx_check_of_first(slot, ktrx_lap(4, index, SHIFT), rest);
	slot[0] |= check & KTRX_TAG_CHECK_MASK;
	slot[1] |= check & KTRX_W1_CHECK_MASK;
}

/*
 * Writes the first slot of a record, at `index`. The first word of the payload is the lower half of `stamp`.
 */
static void write_first(uint64_t index, uint32_t kind, uint32_t event, uint64_t stamp)
{
	uint64_t *slot = slot_at(index);

	slot[0] = kind | (uint64_t)ktrx_generation(index, SHIFT) << 3 | (uint64_t)event << 16 | stamp << 28;
	slot[1] = 42 | (stamp & 0xffffffff) << 32;
	slot[2] = UINT64_C(0x1111111111111111);
	slot[3] = UINT64_C(0x2222222222222222);
	check_first(index, 0);
}

/* Writes the continuation of the preceding FIRST slot. */
static void write_last(uint64_t index)
{
	uint64_t *slot = slot_at(index), check;

	slot[0] = KTRX_KIND_LAST | (uint64_t)ktrx_generation(index, SHIFT) << 3 |
		  UINT64_C(0x333333333333) << 16;
	slot[1] = slot[2] = slot[3] = UINT64_C(0x3333333333333333);
	check = ktrx_check_more(slot, ktrx_lap(4, index, SHIFT));
	slot[0] |= check & KTRX_TAG_CHECK_MASK;
	check_first(index - 1, ktrx_check_rest(0, check));
}

static void record_single(uint64_t stamp)
{
	write_first(ring.word++, KTRX_KIND_SINGLE, EVENT, stamp);
}

static void record_anchor(uint64_t stamp)
{
	const struct ktrx_anchor anchor = { .stamp = stamp, .previous = ring.anchor_stamp };

	write_first(ring.word, KTRX_KIND_SINGLE, KTRX_EVENT_ANCHOR, stamp);
	memcpy((char *)slot_at(ring.word) + KTRX_FIRST_OFFSET, &anchor, sizeof(anchor));
	check_first(ring.word, 0);
	ring.anchor_stamp = stamp;
	ring.anchor_index = KTRX_WORD_INDEX(ring.word++);
}

static unsigned walk_all(struct ktrace_walk_record *last)
{
	struct ktrace_walk walk;
	unsigned count = 0;

	ktrace_walk_start(&walk, &ring, KTRX_WORD_INDEX(ring.word));
	while (ktrace_walk_next(&walk, last))
		count++;
	return count;
}

static void an_empty_ring_has_no_records(void **state)
{
	struct ktrace_walk_record record;

	(void)state;
	clear_ring(0);
	assert_int_equal(walk_all(&record), 0);
}

static void records_have_thread_cpu_and_payload(void **state)
{
	struct ktrace_walk_record record;

	(void)state;
	clear_ring(77 * SLOTS);
	record_anchor(1000);
	record_single(1234);
	assert_int_equal(walk_all(&record), 1);
	assert_int_equal(record.event, EVENT);
	assert_int_equal(record.thread, 42);
	assert_int_equal(record.cpu, 3);
	assert_int_equal(record.stamp, 1234);
	assert_int_equal(record.bytes, KTRX_FIRST_PAYLOAD);
	assert_int_equal(record.payload[0], 1234 & 0xff);
	assert_int_equal(record.payload[19], 0x22);
}

/* 36-bit timestamps that have wrapped many times, and a record slightly older than its anchor. */
static void stamps_are_completed_by_the_previous_anchor(void **state)
{
	const uint64_t far = UINT64_C(5) << 40;
	struct ktrace_walk_record record;

	(void)state;
	clear_ring(0);
	record_anchor(far);
	record_single(far + (UINT64_C(1) << 34));
	assert_int_equal(walk_all(&record), 1);
	assert_int_equal(record.stamp, far + (UINT64_C(1) << 34));
	record_single(far - 10);
	assert_int_equal(walk_all(&record), 2);
	assert_int_equal(record.stamp, far - 10);
}

static void an_overwritten_anchor_is_known_from_the_next(void **state)
{
	const uint64_t early = UINT64_C(3) << 40, late = UINT64_C(9) << 40;
	struct ktrace_walk_record record;
	struct ktrace_walk walk;

	(void)state;
	clear_ring(0);
	record_anchor(early);
	for (unsigned i = 0; i < SLOTS - 11; i++)
		record_single(early + i);
	record_anchor(late);
	for (unsigned i = 0; i < 20; i++)
		record_single(late + i);
	ktrace_walk_start(&walk, &ring, KTRX_WORD_INDEX(ring.word));
	assert_true(ktrace_walk_next(&walk, &record));
	assert_int_equal(record.stamp >> 40, 3);
	assert_int_equal(walk_all(&record), SLOTS - 1);
	assert_int_equal(record.stamp, late + 19);
}

static void without_an_anchor_in_the_window_the_newest_is_used(void **state)
{
	const uint64_t far = UINT64_C(3) << 40;
	struct ktrace_walk_record record;

	(void)state;
	clear_ring(0);
	record_anchor(far);
	for (unsigned i = 0; i < 2 * SLOTS; i++)
		record_single(far + i);
	assert_int_equal(walk_all(&record), SLOTS);
	assert_int_equal(record.stamp, far + 2 * SLOTS - 1);
}

static void slots_of_other_laps_and_torn_slots_are_skipped(void **state)
{
	struct ktrace_walk_record record;

	(void)state;
	clear_ring(5 * SLOTS);
	record_anchor(1);
	for (unsigned i = 0; i < 4; i++)
		record_single(10 + i);
	slot_at(5 * SLOTS + 1)[0] ^= 1u << 3;		/* this slot now belongs to a different lap */
	slot_at(5 * SLOTS + 2)[1] ^= UINT64_C(1) << 40; /* this slot now contains words of two writers */
	/* an older version of the library marked an abandoned slot in this way */
	slot_at(5 * SLOTS + 3)[0] = KTRX_KIND_VOID | 5u << 3;
	ring.word++; /* reserves one more slot, which then counts as being written */
	assert_int_equal(walk_all(&record), 1);
	assert_int_equal(record.stamp, 13);
}

static void a_record_may_cross_the_ring_end(void **state)
{
	struct ktrace_walk_record record;

	(void)state;
	clear_ring(0);
	record_anchor(1);
	for (unsigned i = 0; i < SLOTS - 2; i++)
		record_single(2);
	write_first(ring.word++, KTRX_KIND_FIRST, EVENT, 77);
	write_last(ring.word++);
	assert_int_equal(walk_all(&record), SLOTS - 1);
	assert_int_equal(record.stamp, 77);
	assert_int_equal(record.bytes, KTRX_FIRST_PAYLOAD + KTRX_MORE_PAYLOAD);
	assert_int_equal(record.payload[20], 0x33);
	slot_at(SLOTS)[2] ^= 1; /* the checksum of this slot is wrong now */
	assert_int_equal(walk_all(&record), SLOTS - 2);
}

static void an_extension_block_is_skipped(void **state)
{
	struct ktrx_extension extension = { .size = 12, .parts = KTRX_EXT_CPU | KTRX_EXT_CALLER1, .cpu = 2 };
	struct ktrace_walk_record record;

	(void)state;
	clear_ring(0);
	ring.kind = KTRX_RING_SHARED;
	ring.cpu = KTRX_NO_CPU;
	record_anchor(1);
	record_single(5);
	slot_at(1)[1] |= KTRX_W1_EXTENDED_BIT;
	memcpy((char *)slot_at(1) + KTRX_FIRST_OFFSET, &extension, sizeof(extension));
	check_first(1, 0);
	assert_int_equal(walk_all(&record), 1);
	assert_int_equal(record.cpu, 2);
	assert_int_equal(record.bytes, KTRX_FIRST_PAYLOAD - 12);
	assert_int_equal(record.caller[0], UINT64_C(0x1111111111111111));
	assert_int_equal(record.caller[1], 0);
	extension.size = 4; /* the bits announce a caller, but the block is too small for one */
	memcpy((char *)slot_at(1) + KTRX_FIRST_OFFSET, &extension, sizeof(extension));
	check_first(1, 0);
	assert_int_equal(walk_all(&record), 1);
	assert_int_equal(record.caller[0], 0);
	extension.size = 255; /* the extension block is larger than the record */
	memcpy((char *)slot_at(1) + KTRX_FIRST_OFFSET, &extension, sizeof(extension));
	check_first(1, 0);
	assert_int_equal(walk_all(&record), 1);
	assert_int_equal(record.bytes, 0);
}

static unsigned walk_back(struct ktrace_walk *walk, uint64_t *stamps)
{
	struct ktrace_walk_record record;
	unsigned count = 0;

	ktrace_walk_start_newest(walk, &ring);
	while (ktrace_walk_previous(walk, &record))
		stamps[count++] = record.stamp;
	return count;
}

/*
 * Each anchor contains the timestamp of the previous anchor. Timestamps before the anchor are computed from
 * that timestamp.
 */
static void going_back_stamps_are_full_across_anchors(void **state)
{
	const uint64_t early = UINT64_C(3) << 40, late = UINT64_C(9) << 40;
	struct ktrace_walk walk;
	uint64_t stamps[SLOTS];

	(void)state;
	clear_ring(3 * SLOTS);
	record_anchor(early);
	record_single(early + 1);
	record_single(early + (UINT64_C(1) << 34));
	record_anchor(late);
	record_single(late - 5);
	record_single(late + 6);
	assert_int_equal(walk_back(&walk, stamps), 4);
	assert_int_equal(stamps[0], late + 6);
	assert_int_equal(stamps[1], late - 5);
	assert_int_equal(stamps[2], early + (UINT64_C(1) << 34));
	assert_int_equal(stamps[3], early + 1);
	assert_int_equal(walk.unreadable + walk.overwritten, 0);
}

static void going_back_counts_unreadable_slots(void **state)
{
	struct ktrace_walk walk;
	uint64_t stamps[SLOTS];

	(void)state;
	clear_ring(5 * SLOTS);
	record_anchor(1);
	for (unsigned i = 0; i < 4; i++)
		record_single(10 + i);
	slot_at(5 * SLOTS + 1)[0] ^= 1u << 3;		/* this slot now belongs to a different lap */
	slot_at(5 * SLOTS + 2)[1] ^= UINT64_C(1) << 40; /* this slot now contains words of two writers */
	/* an older version of the library marked an abandoned slot in this way */
	slot_at(5 * SLOTS + 3)[0] = KTRX_KIND_VOID | 5u << 3;
	ring.word++; /* reserves one more slot, which then counts as being written */
	assert_int_equal(walk_back(&walk, stamps), 1);
	assert_int_equal(stamps[0], 13);
	assert_int_equal(walk.unreadable, 4);
	assert_int_equal(walk.overwritten, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_ring_has_no_records),
		cmocka_unit_test(records_have_thread_cpu_and_payload),
		cmocka_unit_test(stamps_are_completed_by_the_previous_anchor),
		cmocka_unit_test(an_overwritten_anchor_is_known_from_the_next),
		cmocka_unit_test(without_an_anchor_in_the_window_the_newest_is_used),
		cmocka_unit_test(slots_of_other_laps_and_torn_slots_are_skipped),
		cmocka_unit_test(a_record_may_cross_the_ring_end),
		cmocka_unit_test(an_extension_block_is_skipped),
		cmocka_unit_test(going_back_stamps_are_full_across_anchors),
		cmocka_unit_test(going_back_counts_unreadable_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
