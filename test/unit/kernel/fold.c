/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests how repetitions are counted instead of recorded. The sum of recorded and counted events equals the
 * number of events that occurred, even if an interrupt occurs at any point.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

#define SLOTS 512u
#define ROWS  2u

KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_FOLD, KTRX_V1_NONE, noise, spin, "%u", (uint32_t, value));
KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_FOLD, KTRX_V1_NONE, noise, text, "%s %llu",
		  (const char *, text), (unsigned long long, value));
KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_FOLD, KTRX_V1_NONE, noise, bare, "bare");
KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_FOLD | KTRX_EVENT_RARE, KTRX_V1_NONE, noise, both, "%u",
		  (uint32_t, value));
KTRACE_EVENT(noise, plain, "%u", (uint32_t, value));

static void boot(void)
{
	fake.folds = ROWS;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
}

static const struct ktrx_fold *entries(void)
{
	return (const struct ktrx_fold *)(uintptr_t)ktrace_root.section[KTRX_SECTION_FOLDS - 1].address;
}

static const struct ktrx_fold *entry_of(const char *name)
{
	const struct ktrx_fold *found = NULL;

	for (uint32_t i = 0; i < FAKE_CPUS * ROWS; i++)
		if (entries()[i].event == fake_event(name)->id && entries()[i].cpu == fake.cpu)
			found = &entries()[i];
	assert_non_null(found);
	return found;
}

/*
 * How often an event occurred, as the sum of three numbers: its records, the counts in recorded events, and
 * the counts that are not recorded yet.
 */
struct tally {
	uint64_t recorded, repeated, open;
};

static struct tally tally(const char *name)
{
	uint32_t id = fake_event(name)->id, repeat = fake_event("ktrace.repeat")->id;
	struct tally sum = { 0 };

	for (uint32_t ring = 0; ring < ktrace_rings(); ring++) {
		const struct checked_ring *checked = check_ring(ring);

		assert_int_equal(checked->overwritten + checked->invalid, 0);
		for (uint32_t i = 0; i < checked->records; i++) {
			const struct checked_record *record = &checked->record[i];
			uint32_t at = record->extended ? record->payload[0] : 0;

			sum.recorded += record->event == id;
			if (record->event == repeat && payload_bits(record, at, 2) == id)
				sum.repeated += payload_bits(record, at + 2, 8);
		}
	}
	for (uint32_t i = 0; i < FAKE_CPUS * ROWS; i++) {
		assert_int_equal(entries()[i].sequence & 3, 0);
		sum.open += entries()[i].event == id ? entries()[i].count : 0;
	}
	return sum;
}

static uint64_t total(const char *name)
{
	struct tally sum = tally(name);

	return sum.recorded + sum.repeated + sum.open;
}

static void spin(uint32_t value, uint32_t times)
{
	while (times--)
		KTRACE(noise, spin, value);
}

static void a_reader_sees_the_current_count(void **state)
{
	const struct checked_ring *checked;
	const struct ktrx_fold *entry;
	uint64_t begun;

	(void)state;
	boot();
	spin(7, 1);
	begun = fake.clock;
	spin(7, 9);
	entry = entry_of("noise.spin");
	assert_int_equal(entry->count, 9);
	assert_true(entry->first > begun && entry->first < entry->last && entry->last <= fake.clock);
	assert_int_equal(entry->bytes, 4);
	assert_int_equal(entry->payload[0], 7);
	assert_int_equal(entry->ring, 1);
	assert_int_equal(check_ring(1)->records, 1);
	spin(8, 1);
	checked = check_ring(1);
	assert_int_equal(checked->records, 3);
	assert_int_equal(checked->record[1].event, fake_event("ktrace.repeat")->id);
	assert_int_equal(payload_bits(&checked->record[1], 0, 2), fake_event("noise.spin")->id);
	assert_int_equal(payload_bits(&checked->record[1], 2, 8), 9);
	assert_int_equal(payload_bits(&checked->record[1], 10, 8), begun + fake.step);
	assert_true(payload_bits(&checked->record[1], 18, 8) < checked->record[1].stamp);
	assert_int_equal(checked->record[2].event, fake_event("noise.spin")->id);
	assert_int_equal(payload_bits(&checked->record[2], 0, 4), 8);
	assert_int_equal(entry->count, 0);
	spin(8, 1);
	assert_int_equal(entry->count, 1);
}

static void a_record_that_differs_is_recorded(void **state)
{
	(void)state;
	boot();
	spin(7, 2);
	fake.thread = 3;
	spin(7, 2);
	fake.thread = 3 | KTRX_CONTEXT_INTERRUPT << KTRX_W1_CONTEXT_SHIFT;
	spin(7, 2);
	fake.cpu = 1;
	spin(7, 2);
	assert_int_equal(tally("noise.spin").recorded, 4);
	assert_int_equal(total("noise.spin"), 8);
}

static void strings_are_compared_to_their_end(void **state)
{
	static const char *const texts[] = { "",
					     "a",
					     "ab",
					     "abcdefghijklm",
					     "abcdefghijklmn",
					     "abcdefghijklmo",
					     "a string that goes on for more than one slot can hold of it",
					     "a string that goes on for more than one slot can hold of is" };
	uint32_t count = sizeof(texts) / sizeof(texts[0]);

	(void)state;
	boot();
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t times = 0; times < 3; times++)
			KTRACE(noise, text, texts[i], 5);
	assert_int_equal(tally("noise.text").recorded, count);
	assert_int_equal(total("noise.text"), 3 * count);
}

static void an_event_without_fields_folds(void **state)
{
	(void)state;
	boot();
	for (uint32_t i = 0; i < 5; i++)
		KTRACE(noise, bare);
	assert_int_equal(tally("noise.bare").open, 4);
}

static void words_turn_folding_on_and_off(void **state)
{
	(void)state;
	boot();
	assert_int_equal(ktrace_control("noise.plain=fold,noise.spin=nofold"), KTRACE_OK);
	for (uint32_t i = 0; i < 5; i++)
		KTRACE(noise, plain, 1);
	spin(1, 5);
	assert_int_equal(tally("noise.plain").recorded, 1);
	assert_int_equal(total("noise.plain"), 5);
	assert_int_equal(tally("noise.spin").recorded, 5);
	assert_int_equal(fake_event("noise.spin")->flags, 0);
	/* from here on, the event uses the fast path again */
	assert_int_equal(fake_event("noise.spin")->state, KTRX_STATE_RECORD);
}

/*
 * If all entries are used, the count of the least recently used one is recorded, and this entry is used
 * again.
 */
static void entries_serve_as_many_events_as_there_are_entries(void **state)
{
	(void)state;
	boot();
	for (uint32_t round = 0; round < 4; round++) {
		spin(1, 3);
		for (uint32_t i = 0; i < 3; i++)
			KTRACE(noise, bare);
		for (uint32_t i = 0; i < 3; i++)
			KTRACE(noise, text, "x", 1);
	}
	assert_int_equal(total("noise.spin"), 12);
	assert_int_equal(total("noise.bare"), 12);
	assert_int_equal(total("noise.text"), 12);
	assert_int_equal(tally("noise.spin").recorded, 4);
	assert_int_equal(tally("noise.spin").repeated, 8);
}

static void without_entries_every_event_is_recorded(void **state)
{
	(void)state;
	spin(1, 5); /* recorded in the boot ring, because ktrace is not initialized yet */
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	spin(1, 5);
	assert_int_equal(ktrace_root.section[KTRX_SECTION_FOLDS - 1].length, 0);
	assert_int_equal(check_ring(0)->records, 5);
	assert_int_equal(check_ring(1)->records, 5);
}

static void without_the_repeat_event_nothing_is_folded(void **state)
{
	(void)state;
	boot();
	assert_int_equal(ktrace_control("ktrace.repeat=off"), KTRACE_OK);
	spin(1, 5);
	assert_int_equal(tally("noise.spin").recorded, 5);
}

static void callers_and_sites_are_compared(void **state)
{
	(void)state;
	boot();
	assert_int_equal(ktrace_control("noise.spin=site"), KTRACE_OK);
	for (uint32_t i = 0; i < 3; i++) {
		KTRACE(noise, spin, 1);
		KTRACE(noise, spin, 1);
	}
	assert_int_equal(tally("noise.spin").recorded, 6);
	spin(1, 3);
	assert_int_equal(tally("noise.spin").recorded, 7);
	assert_int_equal(total("noise.spin"), 9);
}

static void counted_events_count(void **state)
{
	(void)state;
	boot();
	assert_int_equal(ktrace_control("noise.spin=both"), KTRACE_OK);
	spin(1, 5);
	assert_int_equal(fake_event("noise.spin")->count, 5);
	assert_int_equal(tally("noise.spin").recorded, 1);
}

static void a_full_ring_does_not_lose_the_count(void **state)
{
	(void)state;
	fake.folds = ROWS;
	fake_boot(SLOTS, KTRX_POLICY_STOP, 0);
	for (uint32_t i = 0; i < SLOTS; i++)
		spin(i, 3);
	assert_true(ktrace_ring[1].dropped > 0);
	assert_true(tally("noise.spin").open > 1);
	/*
	 * The full ring has rejected records of ktrace.repeat. Each rejected record was counted as dropped.
	 * The count in it was not lost: it is still in the fold entry.
	 */
	assert_true(total("noise.spin") + ktrace_ring[1].dropped >= 3 * SLOTS);
	assert_true(total("noise.spin") <= 3 * SLOTS);
}

static void rare_events_fold_in_their_own_ring(void **state)
{
	(void)state;
	fake.rare_slots = SLOTS;
	boot();
	for (uint32_t i = 0; i < 12; i++)
		KTRACE(noise, both, i / 4);
	assert_int_equal(check_ring(1)->produced, 0);
	assert_int_equal(check_ring(FAKE_CPUS + 1)->records, 5);
	assert_int_equal(tally("noise.both").repeated, 6);
	assert_int_equal(total("noise.both"), 12);
}

static void clearing_forgets_what_was_counted(void **state)
{
	(void)state;
	boot();
	spin(1, 5);
	ktrace_clear();
	assert_int_equal(total("noise.spin"), 0);
	spin(1, 5);
	assert_int_equal(tally("noise.spin").recorded, 1);
	assert_int_equal(total("noise.spin"), 5);
}

/* ---- Interrupts at every point of the record path -------------------------------------------------- */

static uint32_t nested;

static void same_event_comes(void)
{
	nested = 2;
	spin(1, 2);
}

static void other_events_come(void)
{
	nested = 4;
	spin(2, 3);
	spin(1, 1);
	KTRACE(noise, bare);
	KTRACE(noise, text, "x", 1);
}

static void thread_migrates(void)
{
	nested = 3;
	fake.cpu = 1;
	spin(1, 3);
}

static void rings_are_cleared(void)
{
	ktrace_clear();
}

/* Runs `scene` once for each point at which it can be interrupted, and calls `handler` at this point. */
static void at_each_point(void (*handler)(void), void (*scene)(void), void (*check)(void))
{
	int64_t points = 1;

	for (int64_t at = 0; at < points; at++) {
		fake_reset(NULL);
		boot();
		spin(1, 2);
		nested = 0;
		fake_at(at, handler);
		scene();
		points = fake_points();
		fake_at(-1, NULL);
		check();
	}
	assert_true(points > 5);
}

static void scene(void)
{
	spin(1, 2);
	spin(2, 2);
	KTRACE(noise, bare);
	KTRACE(noise, text, "x", 1);
	spin(1, 2);
}

static void expect_all_events(void)
{
	fake.cpu = 0;
	assert_int_equal(total("noise.spin"), 8 + nested);
}

static void interrupts_may_come_at_any_point(void **state)
{
	(void)state;
	at_each_point(same_event_comes, scene, expect_all_events);
	at_each_point(other_events_come, scene, expect_all_events);
}

static void a_thread_may_migrate_at_any_point(void **state)
{
	(void)state;
	at_each_point(thread_migrates, scene, expect_all_events);
}

static void expect_events_after_clear(void)
{
	uint64_t before = total("noise.spin");

	assert_true(before <= 8);
	spin(9, 4);
	assert_int_equal(total("noise.spin"), before + 4);
	assert_int_equal(entry_of("noise.spin")->count, 3);
}

static void clear_may_come_at_any_point(void **state)
{
	(void)state;
	at_each_point(rings_are_cleared, scene, expect_events_after_clear);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_reader_sees_the_current_count, fake_reset),
		cmocka_unit_test_setup(a_record_that_differs_is_recorded, fake_reset),
		cmocka_unit_test_setup(strings_are_compared_to_their_end, fake_reset),
		cmocka_unit_test_setup(an_event_without_fields_folds, fake_reset),
		cmocka_unit_test_setup(words_turn_folding_on_and_off, fake_reset),
		cmocka_unit_test_setup(entries_serve_as_many_events_as_there_are_entries, fake_reset),
		cmocka_unit_test_setup(without_entries_every_event_is_recorded, fake_reset),
		cmocka_unit_test_setup(without_the_repeat_event_nothing_is_folded, fake_reset),
		cmocka_unit_test_setup(callers_and_sites_are_compared, fake_reset),
		cmocka_unit_test_setup(counted_events_count, fake_reset),
		cmocka_unit_test_setup(a_full_ring_does_not_lose_the_count, fake_reset),
		cmocka_unit_test_setup(rare_events_fold_in_their_own_ring, fake_reset),
		cmocka_unit_test_setup(clearing_forgets_what_was_counted, fake_reset),
		cmocka_unit_test_setup(interrupts_may_come_at_any_point, fake_reset),
		cmocka_unit_test_setup(a_thread_may_migrate_at_any_point, fake_reset),
		cmocka_unit_test_setup(clear_may_come_at_any_point, fake_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
