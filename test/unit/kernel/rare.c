/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the ring of rare events. Frequent events of any CPU, also in interrupts at any point, must not
 * overwrite its records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

#define SLOTS 512u
#define RARE  (FAKE_CPUS + 1)

KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_RARE, KTRX_V1_NONE, process, exec, "%u %s",
		  (uint32_t, process), (const char *, path));
KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_RARE, KTRX_V1_NONE, process, exit, "%u", (uint32_t, process));
KTRACE_EVENT(noise, plain, "%u", (uint32_t, value));

static void boot(uint32_t policy)
{
	fake.rare_slots = SLOTS;
	fake_boot(SLOTS, policy, 0);
}

static void noise(uint32_t times)
{
	while (times--)
		KTRACE(noise, plain, times);
}

/*
 * Checks that each slot of a ring is counted once, as decoded or as overwritten. Returns the contents of the
 * ring.
 */
static const struct checked_ring *verified_ring(uint32_t ring)
{
	const struct checked_ring *checked = check_ring(ring);

	assert_int_equal(checked->produced, checked->overwritten + checked->decoded + checked->invalid);
	assert_int_equal(checked->invalid, 0);
	return checked;
}

static void rare_events_are_not_overwritten_by_frequent_ones(void **state)
{
	const struct checked_ring *checked;

	(void)state;
	boot(KTRX_POLICY_OVERWRITE);
	fake.cpu = 2;
	fake.thread = 77;
	KTRACE(process, exec, 5, "/bin/sh");
	noise(100 * SLOTS);
	fake.cpu = 0;
	KTRACE(process, exit, 5);
	checked = verified_ring(RARE);
	assert_int_equal(checked->records, 2);
	assert_int_equal(checked->record[0].event, fake_event("process.exec")->id);
	assert_int_equal(checked->record[0].thread, 77);
	assert_true(checked->record[0].extended);
	assert_int_equal(payload_bits(&checked->record[0], 0, 4), 4 | KTRX_EXT_CPU << 8 | 2 << 16);
	assert_int_equal(payload_bits(&checked->record[0], 4, 4), 5);
	assert_int_equal(payload_bits(&checked->record[1], 0, 4), 4 | KTRX_EXT_CPU << 8);
	assert_int_equal(check_ring(3)->produced, 100 * SLOTS + 1);
}

static void the_rare_ring_is_in_the_table_of_rings(void **state)
{
	const struct ktrx_ring *ring = &ktrace_ring[RARE];

	(void)state;
	boot(KTRX_POLICY_STOP);
	assert_int_equal(ktrace_root.section[KTRX_SECTION_RINGS - 1].length,
			 (RARE + 1) * sizeof(struct ktrx_ring));
	assert_int_equal(ring->kind, KTRX_RING_SHARED);
	assert_int_equal(ring->cpu, KTRX_NO_CPU);
	assert_int_equal(ring->policy, KTRX_POLICY_OVERWRITE);
	assert_int_equal(ring->where, KTRX_WHERE_VIRTUAL);
	assert_int_equal(ring->head_where, KTRX_WHERE_VIRTUAL);
	assert_int_equal(KTRX_WORD_RING(*(uint64_t *)(uintptr_t)ring->head_address), RARE);
}

static void the_root_knows_the_largest_ring(void **state)
{
	(void)state;
	fake.rare_slots = 2 * KTRACE_BOOT_SLOTS;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(ktrace_root.slots, 2 * KTRACE_BOOT_SLOTS);
}

static void the_rare_ring_laps_like_any_other(void **state)
{
	const struct checked_ring *checked;

	(void)state;
	boot(KTRX_POLICY_STOP);
	for (uint32_t i = 0; i < 3 * SLOTS; i++) {
		fake.cpu = i % FAKE_CPUS;
		KTRACE(process, exit, i);
	}
	checked = verified_ring(RARE);
	assert_int_equal(checked->records, SLOTS);
	for (uint32_t i = 0; i < SLOTS; i++)
		assert_int_equal(payload_bits(&checked->record[i], 4, 4), 2 * SLOTS + i);
	ktrace_clear();
	assert_int_equal(check_ring(RARE)->produced, 0);
}

static void full_stamps_are_kept(void **state)
{
	const struct checked_ring *checked;
	uint64_t begun;

	(void)state;
	boot(KTRX_POLICY_OVERWRITE);
	begun = fake.clock;
	for (uint32_t i = 0; i < 5; i++) {
		fake.clock = begun + ((uint64_t)i << 37);
		KTRACE(process, exit, i);
	}
	checked = verified_ring(RARE);
	assert_int_equal(checked->anchors, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(checked->record[i].stamp >> 37, (begun + ((uint64_t)i << 37)) >> 37);
}

static void without_a_rare_ring_rare_events_use_the_other_rings(void **state)
{
	(void)state;
	KTRACE(process, exit, 1);
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(process, exit, 2);
	assert_int_equal(check_ring(0)->records, 1);
	assert_int_equal(check_ring(1)->records, 1);
	assert_false(check_ring(1)->record[1].extended);
}

/* An event of a CPU that is not online yet goes into the boot ring. */
static void early_events_are_in_the_boot_ring(void **state)
{
	(void)state;
	boot(KTRX_POLICY_OVERWRITE);
	KTRACE_EARLY(process, exit, 1);
	fake.word[3] = 0;
	fake.cpu = 3;
	KTRACE(process, exit, 2);
	assert_int_equal(check_ring(0)->records, 2);
	assert_int_equal(check_ring(RARE)->produced, 0);
}

static void words_turn_the_rare_flag_on_and_off(void **state)
{
	(void)state;
	boot(KTRX_POLICY_OVERWRITE);
	assert_int_equal(ktrace_control("noise.plain=rare,process.exit=norare"), KTRACE_OK);
	noise(3);
	KTRACE(process, exit, 1);
	assert_int_equal(check_ring(RARE)->records, 3);
	assert_int_equal(check_ring(1)->records, 1);
	assert_int_equal(ktrace_control("noise.plain=site"), KTRACE_OK);
	noise(1);
	assert_int_equal(check_ring(RARE)->record[3].payload[1], KTRX_EXT_CPU | KTRX_EXT_SITE);
}

static void panics_are_rare(void **state)
{
	(void)state;
	boot(KTRX_POLICY_OVERWRITE);
	ktrace_panic("lost");
	assert_int_equal(check_ring(RARE)->records, 1);
	assert_int_equal(check_ring(1)->produced, 0);
}

static uint32_t came;

static void both_come(void)
{
	came = 2;
	KTRACE(process, exec, 9, "/bin/nested, whose path takes more than a slot");
	KTRACE(process, exit, 9);
	noise(1);
}

static void interrupts_may_come_at_any_point(void **state)
{
	int64_t points = 1;

	(void)state;
	for (int64_t at = 0; at < points; at++) {
		fake_reset(NULL);
		boot(KTRX_POLICY_OVERWRITE);
		came = 0;
		fake_at(at, both_come);
		KTRACE(process, exec, 1, "/bin/sh");
		KTRACE(process, exit, 1);
		points = fake_points();
		fake_at(-1, NULL);
		assert_int_equal(verified_ring(RARE)->records, 2 + came);
	}
	assert_true(points > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(rare_events_are_not_overwritten_by_frequent_ones, fake_reset),
		cmocka_unit_test_setup(the_rare_ring_is_in_the_table_of_rings, fake_reset),
		cmocka_unit_test_setup(the_root_knows_the_largest_ring, fake_reset),
		cmocka_unit_test_setup(the_rare_ring_laps_like_any_other, fake_reset),
		cmocka_unit_test_setup(full_stamps_are_kept, fake_reset),
		cmocka_unit_test_setup(without_a_rare_ring_rare_events_use_the_other_rings, fake_reset),
		cmocka_unit_test_setup(early_events_are_in_the_boot_ring, fake_reset),
		cmocka_unit_test_setup(words_turn_the_rare_flag_on_and_off, fake_reset),
		cmocka_unit_test_setup(panics_are_rare, fake_reset),
		cmocka_unit_test_setup(interrupts_may_come_at_any_point, fake_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
