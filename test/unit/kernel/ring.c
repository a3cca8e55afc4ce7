/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests rings in all cases that can disturb a writer: rings that wrap around, interrupts and migration at
 * every point of the record path, a writer that is delayed by a whole lap, times that exceed the bits of a
 * timestamp, and full rings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

#define SLOTS 512u

KTRACE_EVENT(test, pair, "%u %u", (uint32_t, number), (uint32_t, complement));
KTRACE_EVENT(test, long, "%llu %llu %llu %llu", (unsigned long long, a), (unsigned long long, b),
	     (unsigned long long, c), (unsigned long long, d));

static uint32_t number;

static void record_pair(void)
{
	number++;
	KTRACE(test, pair, number, ~number);
}

static void record_long(void)
{
	uint64_t n = ++number;

	KTRACE(test, long, n, n * 3, n * 5, ~n);
}

/* Returns the number in the record if one of the two writers wrote the record, otherwise 0. */
static uint32_t number_of(const struct checked_record *record)
{
	uint32_t at = record->extended ? 4 : 0;
	uint64_t n = payload_bits(record, at, 4);

	if (record->event == fake_event("test.pair")->id)
		return (uint32_t)payload_bits(record, at + 4, 4) == (uint32_t)~n ? (uint32_t)n : 0;
	if (record->event != fake_event("test.long")->id || payload_bits(record, at + 8, 8) != n * 3)
		return 0;
	return payload_bits(record, at + 16, 8) == n * 5 && payload_bits(record, at + 24, 8) == ~n
		       ? (uint32_t)n
		       : 0;
}

/*
 * Checks that each slot of a ring is counted exactly once, and that each decoded record was written by a
 * test. Returns the contents of the ring.
 */
static const struct checked_ring *verified_ring(uint32_t ring)
{
	const struct checked_ring *checked = check_ring(ring);

	assert_int_equal(checked->produced, checked->overwritten + checked->decoded + checked->invalid);
	for (uint32_t i = 0; i < checked->records; i++)
		assert_int_not_equal(number_of(&checked->record[i]), 0);
	return checked;
}

static void boot(void)
{
	number = 0;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
}

static void laps_leave_the_newest_records(void **state)
{
	const struct checked_ring *checked;

	(void)state;
	boot();
	for (uint32_t i = 0; i < 3 * SLOTS + 7; i++)
		record_pair();
	checked = verified_ring(1);
	assert_int_equal(checked->produced, 3 * SLOTS + 8); /* one of these slots is an anchor */
	assert_int_equal(checked->overwritten, 2 * SLOTS + 8);
	assert_int_equal(checked->records, SLOTS);
	for (uint32_t i = 0; i < SLOTS; i++)
		assert_int_equal(number_of(&checked->record[i]), number - SLOTS + 1 + i);
}

static void records_may_cross_the_ring_end(void **state)
{
	const struct checked_ring *checked;
	uint32_t wrapped = 0;

	(void)state;
	boot();
	record_pair();
	record_pair(); /* up to here three slots: two records and an anchor */
	for (uint32_t i = 0; i < 2 * SLOTS; i++)
		record_long();
	checked = verified_ring(1);
	assert_int_equal(checked->records, SLOTS / 2);
	assert_int_equal(checked->invalid, 0);
	for (uint32_t i = 0; i < checked->records; i++)
		wrapped += checked->record[i].index % SLOTS == SLOTS - 1;
	assert_int_equal(wrapped, 1);
}

static void generations_wrap(void **state)
{
	(void)state;
	boot();
	for (uint32_t i = 0; i < 600 * SLOTS; i++)
		record_pair();
	assert_int_equal(verified_ring(1)->records, SLOTS);
	assert_int_equal(verified_ring(1)->invalid, 0);
}

static void the_boot_ring_overwrites_its_oldest_records(void **state)
{
	(void)state;
	number = 0;
	for (uint32_t i = 0; i < 5 * KTRACE_BOOT_SLOTS; i++)
		record_pair();
	assert_int_equal(verified_ring(0)->records, KTRACE_BOOT_SLOTS);
	assert_int_equal(verified_ring(0)->invalid, 0);
}

/* Runs a test once for each point of the record path at which it can be interrupted. */
static void at_every_point(void (*prepare)(void), void (*outer)(void), void (*inner)(void),
			   void (*check)(void))
{
	int64_t points;

	fake_reset(NULL);
	prepare();
	fake_at(-1, NULL);
	outer();
	points = fake_points();
	assert_true(points > 3);
	for (int64_t n = 0; n < points; n++) {
		fake_reset(NULL);
		prepare();
		fake_at(n, inner);
		outer();
		fake_at(-1, NULL);
		check();
	}
}

static void prepare_fresh(void)
{
	boot();
}

static void prepare_used(void)
{
	boot();
	record_pair();
}

static void prepare_boot_ring(void)
{
	number = 0;
	record_pair();
}

static void inner_both(void)
{
	record_pair();
	record_long();
}

static void three_records_more(uint32_t ring, uint32_t before)
{
	const struct checked_ring *checked = verified_ring(ring);

	assert_int_equal(checked->records, before + 3);
	assert_int_equal(checked->invalid, 0);
}

static void check_fresh(void)
{
	three_records_more(1, 0);
}

static void check_used(void)
{
	three_records_more(1, 1);
}

static void check_boot_ring(void)
{
	three_records_more(0, 1);
}

static void interrupts_may_come_at_any_point(void **state)
{
	(void)state;
	at_every_point(prepare_fresh, record_pair, inner_both, check_fresh);
	at_every_point(prepare_fresh, record_long, inner_both, check_fresh);
	at_every_point(prepare_used, record_pair, inner_both, check_used);
	at_every_point(prepare_used, record_long, inner_both, check_used);
	at_every_point(prepare_boot_ring, record_pair, inner_both, check_boot_ring);
	at_every_point(prepare_boot_ring, record_long, inner_both, check_boot_ring);
}

static void move_and_record(void)
{
	fake.cpu = 1;
	inner_both();
}

/*
 * Checks that the interrupted record is in one of the two rings, and the records of the new CPU in the other.
 * All records must be complete.
 */
static void check_moved(void)
{
	uint32_t records = verified_ring(1)->records + verified_ring(2)->records;

	assert_int_equal(records, 4);
	assert_int_equal(check_ring(1)->invalid + check_ring(2)->invalid, 0);
}

static void a_thread_may_migrate_at_any_point(void **state)
{
	(void)state;
	at_every_point(prepare_used, record_pair, move_and_record, check_moved);
	at_every_point(prepare_used, record_long, move_and_record, check_moved);
}

static void inner_lap(void)
{
	for (uint32_t i = 0; i < SLOTS + 3; i++)
		record_pair();
}

static void inner_long_laps(void)
{
	for (uint32_t i = 0; i < SLOTS + 5; i++)
		record_long();
}

/*
 * Checks that the slots of the delayed writer are invalid or contain later records, and that each decoded
 * record was written by a test.
 */
static void check_lapped(void)
{
	const struct checked_ring *checked = verified_ring(1);

	assert_true(checked->invalid <= 4);
	assert_true(checked->records >= SLOTS / 2 - 4);
	assert_true(ktrace_ring[1].lapped <= 2);
}

static void a_writer_delayed_by_a_lap_shows_no_wrong_record(void **state)
{
	(void)state;
	at_every_point(prepare_used, record_pair, inner_lap, check_lapped);
	at_every_point(prepare_used, record_long, inner_lap, check_lapped);
	at_every_point(prepare_used, record_pair, inner_long_laps, check_lapped);
	at_every_point(prepare_used, record_long, inner_long_laps, check_lapped);
}

static void a_lapped_writer_is_counted(void **state)
{
	(void)state;
	boot();
	record_pair();
	fake_at(2, inner_lap); /* this point is after the atomic add */
	record_pair();
	assert_int_equal(ktrace_ring[1].lapped, 1);

	fake_reset(NULL);
	boot();
	record_pair();
	fake_at(3, inner_lap);
	record_long();
	assert_int_equal(ktrace_ring[1].lapped, 2);
}

static void stamps_stay_full_after_a_long_pause(void **state)
{
	static const uint8_t shifts[] = { 3, 33, 34, 35, 36, 37, 40, 50, 34, 1 };
	uint64_t stamps[sizeof(shifts)];
	const struct checked_ring *checked;

	(void)state;
	boot();
	for (uint32_t i = 0; i < sizeof(shifts); i++) {
		fake.clock += UINT64_C(1) << shifts[i];
		i % 2 ? record_pair() : record_long();
		stamps[i] = fake.clock;
	}
	checked = verified_ring(1);
	assert_int_equal(checked->records, sizeof(shifts));
	for (uint32_t i = 0; i < sizeof(shifts); i++)
		assert_int_equal(checked->record[i].stamp, stamps[i]);
	/*
	 * The first record and each record after a gap of 2^34 ticks or more has one anchor, or two anchors
	 * if it takes two slots.
	 */
	assert_int_equal(checked->anchors, 8 + 5);
	assert_int_equal(checked->invalid, 0); /* nothing was lost, and nothing is counted as lost */
}

/*
 * Each anchor refers to the previous anchor. So a reader reaches all anchors of a ring from the newest one.
 */
static void anchors_refer_to_the_previous_anchor(void **state)
{
	uint64_t index, stamp;

	(void)state;
	boot();
	for (uint32_t i = 0; i < 5; i++) {
		fake.clock += UINT64_C(1) << 36;
		record_pair();
		record_long();
	}
	index = ktrace_ring[1].anchor_index;
	stamp = ktrace_ring[1].anchor_stamp;
	for (uint32_t i = 0; i < 5; i++) {
		const uint8_t *slot = (uint8_t *)(uintptr_t)ktrace_ring[1].base + index % SLOTS * 32;
		const struct ktrx_anchor *anchor = (const void *)(slot + 12);

		assert_int_equal(anchor->stamp, stamp);
		assert_int_equal(anchor->distance, i < 4 ? 4 : 0);
		index -= anchor->distance;
		stamp = anchor->previous;
	}
	assert_int_equal(stamp, 0);
}

static void prepare_late(void)
{
	boot();
	record_pair();
	fake.clock += UINT64_C(1) << 35;
}

static void check_late(void)
{
	const struct checked_ring *checked = verified_ring(1);

	three_records_more(1, 1);
	for (uint32_t i = 1; i < checked->records; i++)
		assert_true(checked->record[i].stamp > UINT64_C(1) << 35);
}

static void interrupts_may_come_while_an_anchor_is_due(void **state)
{
	(void)state;
	at_every_point(prepare_late, record_pair, inner_both, check_late);
	at_every_point(prepare_late, record_long, inner_both, check_late);
}

static void a_full_ring_may_keep_its_oldest_records(void **state)
{
	const struct checked_ring *checked;

	(void)state;
	number = 0;
	fake_boot(SLOTS, KTRX_POLICY_STOP, 0);
	for (uint32_t i = 0; i < SLOTS - 2; i++)
		record_pair();
	record_long(); /* this record needs two slots, but only one is free */
	assert_int_equal(ktrace_ring[1].dropped, 1);
	record_pair();
	record_pair();
	assert_int_equal(ktrace_ring[1].dropped, 2);
	checked = verified_ring(1);
	assert_int_equal(checked->produced, SLOTS);
	assert_int_equal(checked->overwritten, 0);
	assert_int_equal(checked->records, SLOTS - 1);
	assert_int_equal(number_of(&checked->record[0]), 1);
	ktrace_clear();
	record_pair();
	assert_int_equal(verified_ring(1)->records, 1);
	assert_int_equal(ktrace_ring[1].dropped, 0);
}

static void prepare_nearly_full(void)
{
	number = 0;
	fake_boot(SLOTS, KTRX_POLICY_STOP, 0);
	for (uint32_t i = 0; i < SLOTS - 2; i++)
		record_pair();
}

static void check_full(void)
{
	const struct checked_ring *checked = verified_ring(1);

	assert_int_equal(checked->overwritten, 0);
	assert_int_equal(checked->invalid, 0);
	assert_int_equal(checked->produced, SLOTS);
	assert_int_equal(ktrace_ring[1].dropped, 2);
}

static void record_two_pairs(void)
{
	record_pair();
	record_pair();
}

static void a_ring_fills_up_exactly_despite_interrupts(void **state)
{
	(void)state;
	at_every_point(prepare_nearly_full, record_pair, record_two_pairs, check_full);
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(laps_leave_the_newest_records),
		TEST(records_may_cross_the_ring_end),
		TEST(generations_wrap),
		TEST(the_boot_ring_overwrites_its_oldest_records),
		TEST(interrupts_may_come_at_any_point),
		TEST(a_thread_may_migrate_at_any_point),
		TEST(a_writer_delayed_by_a_lap_shows_no_wrong_record),
		TEST(a_lapped_writer_is_counted),
		TEST(stamps_stay_full_after_a_long_pause),
		TEST(anchors_refer_to_the_previous_anchor),
		TEST(interrupts_may_come_while_an_anchor_is_due),
		TEST(a_full_ring_may_keep_its_oldest_records),
		TEST(a_ring_fills_up_exactly_despite_interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
