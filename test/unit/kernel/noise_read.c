/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests how the reader shows repeated events: from counts in records, from counts that were not recorded yet,
 * and in a ring that all CPUs share. Also tests damaged entries and rings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "export/timeline.h"
#include "kernel/core/state.h"
#include "test/fake/machine.h"
#include "unit/support/ktread_support.h"

#define SLOTS 512u
#define RARE  (FAKE_CPUS + 1)

KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_FOLD, KTRX_V1_NONE, noise, spin, "%u", (uint32_t, value));
KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_RARE, KTRX_V1_NONE, process, exec, "%u", (uint32_t, process));
KTRACE_EVENT(noise, plain, "%u", (uint32_t, value));

static _Alignas(8) unsigned char dump[1 << 20];
static size_t dump_size;

static void boot(void)
{
	fake.folds = 2;
	fake.rare_slots = SLOTS;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	fake.thread = 9;
}

static struct ktrx_fold *entries(void)
{
	return (struct ktrx_fold *)(uintptr_t)ktrace_root.section[KTRX_SECTION_FOLDS - 1].address;
}

static struct ktread *read_back(void)
{
	assert_int_equal(ktrace_snapshot(dump, sizeof(dump), &dump_size), KTRACE_OK);
	return open_ok(temporary(dump, dump_size), NULL);
}

static void spin(uint32_t value, uint32_t times)
{
	while (times--)
		KTRACE(noise, spin, value);
}

/*
 * Counts occurrences of noise.spin: its own records, the counts in recorded events, and the counts that were
 * not recorded yet.
 */
static uint64_t occurrences(struct ktread *trace)
{
	const struct ktread_event *event;
	struct ktread_fold fold;
	struct repeat repeat;
	uint64_t count = 0;
	uint32_t index = 0;

	while (ktread_next(trace, &event) > 0) {
		count += strcmp(event->type->name, "spin") == 0;
		if (repeat_of(event, &repeat)) {
			assert_int_equal(event->thread, 9);
			assert_string_equal(ktread_type(trace, (uint32_t)repeat.id)->name, "spin");
			count += repeat.more;
		}
	}
	while (ktread_fold(trace, &index, &fold) > 0)
		count += fold.count;
	return count;
}

static void every_occurrence_is_recorded_or_counted(void **state)
{
	struct ktread *trace;

	(void)state;
	boot();
	spin(1, 10);
	spin(2, 20);
	fake.cpu = 2;
	spin(2, 30);
	trace = read_back();
	assert_int_equal(occurrences(trace), 60);
	assert_null(ktread_warning(trace));
	ktread_close(trace);
}

static void unfinished_repetitions_are_shown(void **state)
{
	struct ktread_fold fold;
	struct ktread *trace;
	uint32_t index = 0;
	char text[32];

	(void)state;
	boot();
	fake.cpu = 1;
	spin(77, 10);
	trace = read_back();
	assert_int_equal(ktread_fold(trace, &index, &fold), 1);
	assert_int_equal(fold.count, 9);
	assert_int_equal(fold.event.cpu, 1);
	assert_int_equal(fold.event.thread, 9);
	assert_true(fold.first < fold.last);
	ktread_format(&fold.event, text, sizeof(text));
	assert_string_equal(text, "77");
	assert_int_equal(ktread_fold(trace, &index, &fold), 0);
	ktread_close(trace);
}

static void filters_apply_to_folds(void **state)
{
	struct ktread_filter filter = { .size = sizeof(filter), .thread = 9 };
	struct ktread_fold fold;
	struct ktread *trace;
	uint32_t index = 0;

	(void)state;
	boot();
	spin(1, 3);
	trace = read_back();
	assert_int_equal(ktread_set_filter(trace, &filter), 0);
	assert_int_equal(ktread_fold(trace, &index, &fold), 1);
	filter.thread = 8;
	index = 0;
	assert_int_equal(ktread_set_filter(trace, &filter), 0);
	assert_int_equal(ktread_fold(trace, &index, &fold), 0);
	ktread_close(trace);
}

static void rare_events_come_in_order_of_time(void **state)
{
	const struct ktread_event *event;
	struct ktread *trace;
	uint64_t last = 0, rare = 0;

	(void)state;
	boot();
	for (uint32_t i = 0; i < 100 * SLOTS; i++) {
		fake.cpu = i % FAKE_CPUS;
		if (i % (10 * SLOTS) == 1)
			KTRACE(process, exec, i);
		KTRACE(noise, plain, i);
	}
	trace = read_back();
	assert_int_equal(ktread_info(trace)->rings, RARE + 1);
	while (ktread_next(trace, &event) > 0) {
		assert_true(event->stamp >= last);
		last = event->stamp;
		if (strcmp(event->type->name, "exec") != 0)
			continue;
		assert_int_equal(event->ring, RARE);
		assert_int_equal(event->cpu, (10 * SLOTS * rare + 1) % FAKE_CPUS);
		assert_int_equal(event->thread, 9);
		rare++;
	}
	assert_int_equal(rare, 10);
	assert_int_equal(ktread_ring(trace, RARE)->cpu, KTRX_NO_CPU);
	assert_int_equal(ktread_ring(trace, RARE)->overwritten, 0);
	assert_int_equal(ktread_ring(trace, 1)->head,
			 ktread_ring(trace, 1)->overwritten + ktread_ring(trace, 1)->decoded);
	ktread_close(trace);
}

static void clocks_that_are_far_apart_share_a_ring(void **state)
{
	const struct ktread_event *event;
	struct ktread *trace;
	uint32_t seen = 0;

	(void)state;
	fake.ahead[1] = UINT64_C(1) << 40;
	boot();
	for (uint32_t i = 0; i < 6; i++) {
		fake.cpu = i / 2 % 2;
		KTRACE(process, exec, i);
	}
	trace = read_back();
	for (; ktread_next(trace, &event) > 0; seen++)
		assert_int_equal(event->stamp >> 40, event->cpu);
	assert_int_equal(seen, 6);
	ktread_close(trace);
}

/* ---- Damaged contents ------------------------------------------------------------------------------ */

/* Checks that the reader does not show the fold entry, but reports it as invalid. */
static void refused(void)
{
	struct ktread *trace = read_back();
	struct ktread_fold fold;
	uint32_t index = 0;

	assert_int_equal(ktread_fold(trace, &index, &fold), 0);
	assert_non_null(ktread_warning(trace));
	ktread_close(trace);
}

static void damaged_entries_are_reported(void **state)
{
	struct ktrx_fold valid;

	(void)state;
	boot();
	spin(1, 5);
	valid = entries()[0];
	entries()[0].bytes = KTRX_RECORD_MAX_PAYLOAD + 1;
	refused();
	entries()[0] = valid;
	entries()[0].event = 4096;
	refused();
	entries()[0] = valid;
	entries()[0].last = valid.first - 1;
	refused();
	entries()[0] = valid;
	entries()[0].sequence |= 1;
	refused();
}

/*
 * The entry has unusual but possible contents, so the reader shows them. It must not read a byte after the
 * entry.
 */
static void implausible_entries_are_shown_safely(void **state)
{
	struct ktread_fold fold;
	struct ktread *trace;
	uint32_t index = 0;
	char text[64];

	(void)state;
	boot();
	spin(1, 5);
	entries()[0].cpu = UINT32_MAX;
	entries()[0].ring = UINT32_MAX;
	entries()[0].event = 4095;
	entries()[0].count = UINT64_MAX;
	entries()[0].second |= KTRX_W1_EXTENDED_BIT;
	memset(entries()[0].payload, 0xff, sizeof(entries()[0].payload));
	trace = read_back();
	assert_int_equal(ktread_fold(trace, &index, &fold), 1);
	assert_in_range(fold.event.payload_size, 0, KTRX_RECORD_MAX_PAYLOAD);
	assert_string_equal(fold.event.type->name, "UNKNOWN(4095)");
	ktread_format(&fold.event, text, sizeof(text));
	ktread_close(trace);
}

static void a_table_with_a_wrong_size_ends(void **state)
{
	struct ktrx_section *section = &ktrace_root.section[KTRX_SECTION_FOLDS - 1];
	struct ktrx_section *copied;
	struct ktread *trace;

	(void)state;
	boot();
	spin(1, 5);
	assert_int_equal(section->entry_size, sizeof(struct ktrx_fold));
	assert_int_equal(ktrace_snapshot(dump, sizeof(dump), &dump_size), KTRACE_OK);
	copied = &((struct ktrx_root *)(void *)dump)->section[KTRX_SECTION_FOLDS - 1];
	copied->length = UINT64_MAX / 2;
	trace = open_ok(temporary(dump, dump_size), NULL);
	assert_true(occurrences(trace) >= 1);
	ktread_close(trace);
	copied->entry_size = 8;
	trace = open_ok(temporary(dump, dump_size), NULL);
	assert_int_equal(occurrences(trace), 1);
	ktread_close(trace);
}

/*
 * The descriptor of the ring of rare events states that the ring belongs to CPU 1. The reader must still use
 * the CPU in each record.
 */
static void the_cpu_of_records_overrides_that_of_the_ring(void **state)
{
	const struct ktread_event *event;
	struct ktread *trace;
	uint32_t seen = 0;

	(void)state;
	boot();
	fake.cpu = 2;
	KTRACE(process, exec, 1);
	ktrace_ring[RARE].kind = KTRX_RING_PER_CPU;
	ktrace_ring[RARE].cpu = RARE - 1;
	trace = read_back();
	while (ktread_next(trace, &event) > 0) {
		assert_int_equal(event->cpu, 2);
		seen++;
	}
	assert_int_equal(seen, 1);
	ktread_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_occurrence_is_recorded_or_counted, fake_reset),
		cmocka_unit_test_setup(unfinished_repetitions_are_shown, fake_reset),
		cmocka_unit_test_setup(filters_apply_to_folds, fake_reset),
		cmocka_unit_test_setup(rare_events_come_in_order_of_time, fake_reset),
		cmocka_unit_test_setup(clocks_that_are_far_apart_share_a_ring, fake_reset),
		cmocka_unit_test_setup(damaged_entries_are_reported, fake_reset),
		cmocka_unit_test_setup(implausible_entries_are_shown_safely, fake_reset),
		cmocka_unit_test_setup(a_table_with_a_wrong_size_ends, fake_reset),
		cmocka_unit_test_setup(the_cpu_of_records_overrides_that_of_the_ring, fake_reset),
	};

	return cmocka_run_group_tests(tests, NULL, temporary_teardown);
}
