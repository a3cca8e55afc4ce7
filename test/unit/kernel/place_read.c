/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that the reader finds the place of each record that the kernel library has made: its file and line.
 * Also tests damaged tables of places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define KTR	   1
#define KTR_PLACES 1
#include "ktrace/ktr.h"

#include "kernel/core/core.h"
#include "test/fake/machine.h"
#include "unit/support/ktread_support.h"

#define SLOTS 512u

KTR_INFO_MASTER(place);
KTR_INFO(KTR_PLACES, place, number, 0, "%d", int value);
KTR_INFO(KTR_PLACES, place, text, 1, "%s", const char *text);
KTRACE_EVENT(other, plain, "%u", (uint32_t, value));

static _Alignas(8) unsigned char dump[1 << 20];
static size_t dump_size;

/* Records all events of this file. Only the last one, other.plain, has no place descriptors. */
static void record_all(void)
{
	KTR_LOG(place_number, 1);
	KTR_LOG(place_text, "two");
	KTR_COND_LOG(place_number, 1 > 0, 3);
	KTRACE(other, plain, 4);
}
static const uint32_t first_line = __LINE__ - 5;

static void take(void)
{
	assert_int_equal(ktrace_snapshot(dump, sizeof(dump), &dump_size), KTRACE_OK);
}

static struct ktread *open_dump(void)
{
	return open_ok(temporary(dump, dump_size), NULL);
}

static void expect_next(struct ktread *trace, const char *name, uint32_t line, int is_placed)
{
	const struct ktread_event *event;

	assert_int_equal(ktread_next(trace, &event), 1);
	assert_string_equal(event->type->name, name);
	assert_int_equal(event->id, event->type->id);
	assert_true(event->id <= ktread_info(trace)->types);
	assert_string_equal(is_placed ? event->file : event->type->file, __FILE__);
	assert_int_equal(is_placed ? event->line : event->type->line, line);
	assert_int_equal(event->file != NULL, is_placed);
}

static void expect_all(struct ktread *trace)
{
	expect_next(trace, "number", first_line, 1);
	expect_next(trace, "text", first_line + 1, 1);
	expect_next(trace, "number", first_line + 2, 1);
	expect_next(trace, "plain", ktread_type_find(trace, "other", "plain")->line, 0);
}

static void each_record_has_its_line(void **state)
{
	const struct ktread_event *event;
	struct ktread *trace;

	(void)state;
	record_all(); /* records in the boot ring */
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_all();
	take();
	trace = open_dump();
	assert_null(ktread_warning(trace));
	expect_all(trace);
	expect_all(trace);
	assert_int_equal(ktread_next(trace, &event), 0);
	ktread_close(trace);
}

static void a_filter_by_event_finds_all_its_places(void **state)
{
	struct ktread_filter filter = { .size = sizeof(filter), .thread = -1, .until = UINT64_MAX };
	const struct ktread_event *event;
	struct ktread *trace;
	uint8_t events[(KTRX_EVENT_MAX + 1) / 8] = { 0 };
	uint32_t id;

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_all();
	take();
	trace = open_dump();
	id = ktread_type_find(trace, "place", "number")->id;
	events[id / 8] = (uint8_t)(1u << id % 8);
	filter.events = events;
	assert_int_equal(ktread_set_filter(trace, &filter), 0);
	assert_int_equal(ktread_rewind(trace), 0);
	expect_next(trace, "number", first_line, 1);
	expect_next(trace, "number", first_line + 2, 1);
	assert_int_equal(ktread_next(trace, &event), 0);
	ktread_close(trace);
}

static void a_repetition_has_the_line_of_its_record(void **state)
{
	struct ktread_fold fold;
	struct ktread *trace;
	uint32_t index = 0;

	(void)state;
	fake.folds = 2;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(ktrace_control("place=fold"), KTRACE_OK);
	for (int n = 0; n < 3; n++)
		KTR_LOG(place_number, 9);
	take();
	trace = open_dump();
	assert_int_equal(ktread_fold(trace, &index, &fold), 1);
	assert_int_equal(fold.count, 2);
	assert_string_equal(fold.event.type->name, "number");
	assert_int_equal(fold.event.line, __LINE__ - 6);
	assert_string_equal(fold.event.file, __FILE__);
	ktread_close(trace);
}

/* Finds the place descriptors in the dump by their contents. Returns the n-th one. */
static struct ktrx_place *place_in_dump(uint32_t n)
{
	for (size_t at = 0; at + sizeof(struct ktrx_place) <= dump_size; at += 8) {
		struct ktrx_place *place = (struct ktrx_place *)(void *)(dump + at);

		if (place->magic == KTRX_PLACE_MAGIC && place->id > ktrace_state.events &&
		    place->event != 0 && n-- == 0)
			return place;
	}
	fail_msg("no such place");
	return NULL;
}

/* Reads a dump with a damaged descriptor. The reader must show all records, and none with a wrong place. */
static void expect_damaged(int has_warning)
{
	struct ktread *trace = open_dump();
	const struct ktread_event *event;
	uint32_t events = 0;

	assert_int_equal(ktread_warning(trace) != NULL, has_warning);
	while (ktread_next(trace, &event) > 0) {
		events++;
		assert_true(!event->file || (event->line >= first_line && event->line <= first_line + 2));
		assert_true(!event->file || strcmp(event->file, __FILE__) == 0);
	}
	assert_int_equal(events, 4);
	ktread_close(trace);
}

static void damaged_place_descriptors_are_skipped(void **state)
{
	enum {
		ID_OF_EVENT,
		ID_TOO_HIGH,
		EVENT_TOO_HIGH,
		ID_TWICE,
		SIZE_ODD,
		SIZE_HUGE,
		SIZE_SMALL,
		NO_END,
		CASES
	};

	for (int n = 0; n < CASES; n++) {
		struct ktrx_place *place;

		fake_reset(state);
		fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
		record_all();
		take();
		place = place_in_dump(1);
		if (n == ID_OF_EVENT)
			place->id = 1;
		else if (n == ID_TOO_HIGH)
			place->id = KTRX_EVENT_MAX + 1;
		else if (n == EVENT_TOO_HIGH)
			place->event = (uint16_t)(ktrace_state.events + 1);
		else if (n == ID_TWICE)
			place->id = place_in_dump(0)->id;
		else if (n == NO_END)
			memset(place + 1, 'x', place->size - sizeof(*place));
		else
			place->size = n == SIZE_ODD ? 41 : n == SIZE_HUGE ? 0xfff8 : 8;
		expect_damaged(1);
	}
}

/* A file name whose bytes look like an event descriptor is not read as a descriptor. */
static void the_string_of_a_place_is_not_taken_for_an_event(void **state)
{
	struct ktread *trace;
	uint32_t types;

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_all();
	take();
	trace = open_dump();
	types = ktread_info(trace)->types;
	ktread_close(trace);
	memcpy(place_in_dump(0) + 1, "EVEVEVEV", 8);
	trace = open_dump();
	assert_int_equal(ktread_info(trace)->types, types);
	assert_null(ktread_warning(trace));
	ktread_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_record_has_its_line, fake_reset),
		cmocka_unit_test_setup(a_filter_by_event_finds_all_its_places, fake_reset),
		cmocka_unit_test_setup(a_repetition_has_the_line_of_its_record, fake_reset),
		cmocka_unit_test_setup(damaged_place_descriptors_are_skipped, fake_reset),
		cmocka_unit_test_setup(the_string_of_a_place_is_not_taken_for_an_event, fake_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
