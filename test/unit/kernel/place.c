/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests places, which are the lines that record an event of ktr.h. Each place has its own id, by which
 * readers find its file and line.
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
#include "test/fake/checker.h"
#include "test/fake/machine.h"

#define SLOTS 512u

KTR_INFO_MASTER(place);
KTR_INFO(KTR_PLACES, place, plain, 0, "%d", int value);
KTR_INFO(KTR_PLACES, place, text, 1, "%s %d", const char *text, int value);
KTR_INFO(0, place, never, 2, "%d", int value);
KTR_INFO(KTR_PLACES, place, filled, 3, "nothing");

#define LOG_IN_MACRO(value)                          \
	do {                                         \
		if ((value) > 0)                     \
			KTR_LOG(place_plain, value); \
	} while (0)

static inline void log_in_line(int value)
{
	KTR_LOG(place_text, "in line", value);
}
static const uint32_t line_in_line = __LINE__ - 2;

/* Two of the places in this function are on the same line. */
/* clang-format off */
static void log_everywhere(void)
{
	KTR_LOG(place_plain, 1);
	KTR_LOG(place_plain, 2); KTR_COND_LOG(place_plain, 1 > 0, 3);
	LOG_IN_MACRO(4);
	for (int n = 0; n < 2; n++)
		KTR_LOG(place_text, "again", n);
	log_in_line(5);
	KTR_LOG(place_never, 6);
}
static const uint32_t first_line = __LINE__ - 8;
/* clang-format on */

static const struct checked_record *record_at(uint32_t ring, uint32_t n)
{
	const struct checked_ring *found = check_ring(ring);

	assert_int_equal(found->invalid, 0);
	assert_true(n < found->records);
	return &found->record[n];
}

static void expect_place(uint32_t ring, uint32_t n, const char *event, uint32_t line)
{
	const uint32_t id = record_at(ring, n)->event;
	const struct ktrx_place *place = fake_place(id);

	assert_non_null(place);
	assert_true(id > ktrace_state.events);
	assert_int_equal(place->event, fake_event(event)->id);
	assert_int_equal(place->line, line);
	assert_string_equal((const char *)(place + 1), __FILE__);
}

static void expect_everywhere(uint32_t ring)
{
	expect_place(ring, 0, "place.plain", first_line);
	expect_place(ring, 1, "place.plain", first_line + 1);
	expect_place(ring, 2, "place.plain", first_line + 1);
	assert_int_not_equal(record_at(ring, 1)->event, record_at(ring, 2)->event);
	expect_place(ring, 3, "place.plain", first_line + 2);
	expect_place(ring, 4, "place.text", first_line + 4);
	assert_int_equal(record_at(ring, 4)->event, record_at(ring, 5)->event);
	expect_place(ring, 6, "place.text", line_in_line);
	assert_int_equal(check_ring(ring)->records, 7);
}

static void each_place_has_its_own_id(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	log_everywhere();
	expect_everywhere(1);
	assert_int_equal(ktrace_root.flags & KTRX_FLAG_PLACES, KTRX_FLAG_PLACES);
	assert_int_equal(ktrace_root.lost_events, 0);
}

static void places_are_known_before_ktrace_init(void **state)
{
	(void)state;
	log_everywhere();
	expect_everywhere(0);
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	log_everywhere();
	expect_everywhere(1);
}

/* Checks that each place uses the same record path (fast or slow) as its event, and has the right id. */
static void expect_places_follow(void)
{
	for (struct ktrx_place *place = ktrace_place_first(); place; place = ktrace_place_next(place)) {
		const struct ktrx_event *event = ktrace_place_event(place);

		if (!event)
			continue;
		assert_int_equal(place->header & KTRACE_HEADER_SLOW, event->header & KTRACE_HEADER_SLOW);
		assert_int_equal(place->header & 7, KTRX_KIND_SINGLE);
		assert_int_equal(ktrace_place_number(place), place->event ? place->id : event->id);
	}
}

static void a_place_follows_its_event(void **state)
{
	static const struct {
		const char *setting;
		uint32_t records;
		int is_slow;
	} changes[] = {
		{ "place.plain=on", 4, 0 },	  { "place.plain=callers2", 4, 1 },
		{ "place.plain=callers0", 4, 0 }, { "place.plain=count", 0, 1 },
		{ "place.plain=both", 4, 1 },	  { "place.plain=off", 0, 0 },
		{ "place.plain=on", 4, 0 },
	};
	uint32_t expected = 0, line = 0;

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(ktrace_control("place.text=off,ktrace=off"), KTRACE_OK);
	for (line = 0; line < sizeof(changes) / sizeof(changes[0]); line++) {
		assert_int_equal(ktrace_control(changes[line].setting), KTRACE_OK);
		assert_int_equal((fake_event("place.plain")->header & KTRACE_HEADER_SLOW) != 0,
				 changes[line].is_slow);
		expect_places_follow();
		log_everywhere();
		expected += changes[line].records;
		assert_int_equal(check_ring(1)->records, expected);
	}
	assert_int_equal(fake_event("place.plain")->count, 8);
}

/*
 * Saved addresses of the place descriptors. The test sets the addresses to 0, as in an image whose
 * relocations are not applied yet.
 */
static uint64_t unrelocated[64];

static void unrelocate(void)
{
	uint32_t n = 0;

	for (struct ktrx_place *place = ktrace_place_first(); place; place = ktrace_place_next(place)) {
		if (place->address == 0)
			continue;
		assert_true(n < 64);
		unrelocated[n++] = place->address;
		place->address = 0;
	}
}

static void relocate(void)
{
	uint32_t n = 0;

	for (struct ktrx_place *place = ktrace_place_first(); place; place = ktrace_place_next(place))
		if (strcmp((const char *)(place + 1), __FILE__) == 0)
			place->address = unrelocated[n++];
}

static void expect_events(uint32_t ring)
{
	const uint32_t plain = fake_event("place.plain")->id, text = fake_event("place.text")->id;

	for (uint32_t n = 0; n < 7; n++)
		assert_int_equal(record_at(ring, n)->event, n < 4 ? plain : text);
}

static void a_place_without_a_known_event_uses_the_event_id(void **state)
{
	(void)state;
	unrelocate();
	log_everywhere();
	expect_events(0);
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	log_everywhere();
	expect_events(1);
	expect_places_follow();
	assert_int_equal(fake_event("place.plain")->header & KTRACE_HEADER_SLOW, 0);
	assert_int_equal(ktrace_root.flags & KTRX_FLAG_PLACES, 0);
}

static void places_are_found_after_the_kernel_relocated_itself(void **state)
{
	(void)state;
	unrelocate();
	log_everywhere();
	expect_events(0);
	relocate();
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	log_everywhere();
	expect_everywhere(1);
	expect_places_follow();
}

/*
 * The address of the event in a place descriptor is invalid, because the descriptor is damaged or has no
 * event.
 */
static void an_invalid_event_address_is_not_followed(void **state)
{
	static const uint64_t wrong[] = { 4, 8, (uint64_t)1 << 40, UINT64_MAX - 7, (uint64_t)0 - (1 << 24) };

	for (uint32_t n = 0; n < sizeof(wrong) / sizeof(wrong[0]); n++) {
		fake_reset(state);
		unrelocate();
		for (struct ktrx_place *place = ktrace_place_first(); place; place = ktrace_place_next(place))
			place->address = unrelocated[0] + wrong[n];
		fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
		log_everywhere();
		expect_events(1);
	}
}

static uint32_t toggles;

static void toggle(void)
{
	ktrace_control(toggles++ % 2 ? "place=on" : "place=both");
}

/*
 * While a place of an event records for the first time, an interrupt changes the state of the event from "on"
 * to "both" or back, at each point in turn. Afterwards, the place uses the new state of the event.
 */
static void changes_may_come_at_any_point_of_the_first_record(void **state)
{
	for (int joined = 0; joined < 2; joined++)
		for (int64_t n = 0, points = 1; n < points; n++) {
			fake_reset(state);
			if (!joined)
				unrelocate();
			fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
			fake_at(n, toggle);
			KTR_LOG(place_plain, 1);
			ktrace_states_update();
			points = fake_points();
			fake_at(-1, NULL);
			expect_places_follow();
			KTR_LOG(place_plain, 2);
			expect_places_follow();
		}
	assert_true(toggles > 2);
}

/* While the library assigns ids, an interrupt records at all places, at each point in turn. */
static void changes_may_come_at_any_point_of_the_numbering(void **state)
{
	for (int64_t n = 0, points = 1; n < points; n++) {
		fake_reset(state);
		fake_at(n, log_everywhere);
		ktrace_attach();
		points = fake_points();
		fake_at(-1, NULL);
		expect_places_follow();
		fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
		expect_places_follow();
		log_everywhere();
		expect_everywhere(1);
	}
}

static const struct ktrx_fold *fold_of(const char *name)
{
	const struct ktrx_fold *entry =
		(const struct ktrx_fold *)(uintptr_t)ktrace_root.section[KTRX_SECTION_FOLDS - 1].address;

	for (uint32_t n = 0; n < FAKE_CPUS * fake.folds; n++)
		if (entry[n].event == fake_event(name)->id)
			return &entry[n];
	fail_msg("no entry of repetitions for %s", name);
	return NULL;
}

static void repetitions_are_counted_per_place(void **state)
{
	const struct ktrx_fold *entry;

	(void)state;
	fake.folds = 4;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(ktrace_control("place=fold"), KTRACE_OK);
	for (int n = 0; n < 5; n++)
		KTR_LOG(place_plain, 7);
	assert_int_equal(check_ring(1)->records, 1);
	entry = fold_of("place.plain");
	assert_int_equal(entry->count, 4);
	assert_int_equal(entry->place, record_at(1, 0)->event);
	/*
	 * This line is another place of the same event. So ktrace.repeat first records the count of the
	 * previous place, and then the event is recorded.
	 */
	KTR_LOG(place_plain, 7);
	assert_int_equal(check_ring(1)->records, 3);
	assert_int_equal(record_at(1, 1)->event, fake_event("ktrace.repeat")->id);
	assert_int_equal(payload_bits(record_at(1, 1), 0, 2), fake_event("place.plain")->id);
	expect_place(1, 2, "place.plain", __LINE__ - 4);
	assert_int_equal(entry->count, 0);
	assert_int_equal(entry->place, record_at(1, 2)->event);
}

/* There are more places than ids. */
static struct {
	struct ktrx_place place;
	char file[16];
} many[KTRX_EVENT_MAX] __attribute__((section("ktrace_events"), aligned(8), KTRACE_KEEP)) = {
	[0 ... KTRX_EVENT_MAX -
	 1] = { { .magic = KTRX_PLACE_MAGIC, .size = sizeof(many[0]), .header = KTRACE_HEADER_SLOW },
		"EVEVEVEVEVEVEVE" },
};

static void record_many(void)
{
	for (uint32_t n = 0; n < KTRX_EVENT_MAX; n++)
		ktrace_emit_place(fake_event("place.filled"), 0, 0, 0, KTRACE_WORD_NONE, 0, &many[n].place);
}

static void places_beyond_the_last_id_use_that_of_their_event(void **state)
{
	const struct checked_ring *ring;
	uint32_t own = 0, event;

	(void)state;
	for (uint32_t n = 0; n < KTRX_EVENT_MAX; n++)
		many[n].place.address = (uintptr_t)fake_event("place.filled");
	fake_boot(8192, KTRX_POLICY_OVERWRITE, 0);
	record_many();
	event = fake_event("place.filled")->id;
	ring = check_ring(1);
	assert_int_equal(ktrace_root.lost_events, 0);
	assert_int_equal(ring->records, KTRX_EVENT_MAX);
	for (uint32_t n = 0; n < ring->records; n++) {
		own += ring->record[n].event != event;
		assert_int_equal(fake_event_of(ring->record[n].event), event);
	}
	assert_in_range(own, KTRX_EVENT_MAX - ktrace_state.events - 64, KTRX_EVENT_MAX - ktrace_state.events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_place_has_its_own_id, fake_reset),
		cmocka_unit_test_setup(places_are_known_before_ktrace_init, fake_reset),
		cmocka_unit_test_setup(a_place_follows_its_event, fake_reset),
		cmocka_unit_test_setup(a_place_without_a_known_event_uses_the_event_id, fake_reset),
		cmocka_unit_test_setup(places_are_found_after_the_kernel_relocated_itself, fake_reset),
		cmocka_unit_test_setup(an_invalid_event_address_is_not_followed, fake_reset),
		cmocka_unit_test_setup(changes_may_come_at_any_point_of_the_first_record, fake_reset),
		cmocka_unit_test_setup(changes_may_come_at_any_point_of_the_numbering, fake_reset),
		cmocka_unit_test_setup(repetitions_are_counted_per_place, fake_reset),
		cmocka_unit_test_setup(places_beyond_the_last_id_use_that_of_their_event, fake_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
