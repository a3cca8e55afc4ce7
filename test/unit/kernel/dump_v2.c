/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/dump_support.h"

static const struct ktrx_root *root_of(const struct dump_sink *dump)
{
	return (const struct ktrx_root *)(const void *)dump->bytes;
}

static const struct ktrx_section *section_of(const struct dump_sink *dump, uint32_t type)
{
	for (unsigned i = 0; i < KTRX_SECTIONS; i++)
		if (root_of(dump)->section[i].type == type)
			return &root_of(dump)->section[i];
	fail_msg("no section of type %u", type);
	return NULL;
}

static const struct ktrx_ring *ring_of(const struct dump_sink *dump, unsigned n)
{
	const struct ktrx_section *rings = section_of(dump, KTRX_SECTION_RINGS);

	return (const struct ktrx_ring *)(const void *)(dump->bytes + rings->address) + n;
}

static const uint64_t *slot_of(const struct dump_sink *dump, const struct ktrx_ring *ring, uint64_t index)
{
	return (const uint64_t *)(const void *)(dump->bytes + ring->address +
						(index & ring->mask) * KTRX_SLOT_SIZE);
}

/*
 * Returns the number of complete slots of the newest lap. Fails unless all other slots are empty or belong to
 * a different lap.
 */
static unsigned good_slots(const struct dump_sink *dump, const struct ktrx_ring *ring)
{
	uint64_t head = KTRX_WORD_INDEX(ring->word);
	unsigned good = 0;

	for (uint64_t index = head - ring->mask - 1; index < head; index++)
		good += KTRX_TAG_KIND(slot_of(dump, ring, index)[0]) != KTRX_KIND_EMPTY &&
			KTRX_TAG_GENERATION(slot_of(dump, ring, index)[0]) ==
				ktrx_generation(index, ring->shift);
	return good;
}

static uint32_t counter;
KTRACE_SETTING_U32("test.counter", counter, 0);

static const struct ktrx_setting *setting_of(const struct dump_sink *dump, const char *name)
{
	const struct ktrx_section *section = section_of(dump, KTRX_SECTION_SETTINGS);
	const struct ktrx_setting *entry = (const void *)(dump->bytes + section->address);

	for (uint64_t i = 0; i < section->length / sizeof(*entry); i++)
		if (strcmp(entry[i].name, name) == 0)
			return &entry[i];
	fail_msg("no setting %s", name);
	return NULL;
}

static void settings_have_their_values(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(16384);

	(void)state;
	counter = 4711;
	dump_trace_switches(1);
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &dump->sink), 0);
	assert_int_equal(setting_of(dump, "test.counter")->value, 4711);
	assert_int_equal(setting_of(dump, "debug.ktr.version")->value, 2);
	assert_int_equal(setting_of(dump, "debug.ktr.version")->flags, KTRX_SETTING_READ_ONLY);
}

static void a_trace_without_recording_is_dumped_unchanged(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(16384);
	const struct ktrx_root *root = root_of(dump);
	const struct ktrx_ring *ring;

	(void)state;
	dump_trace_switches(700);
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &dump->sink), 0);
	assert_memory_equal(root->magic, "KTRX", 4);
	assert_int_equal(root->version, 2);
	assert_int_equal(root->flags, KTRX_FLAG_DUMP);
	assert_int_equal(root->length, dump->count);
	assert_int_equal(dump->announced, dump->count);
	assert_int_equal(dump->count % 64, 0);
	assert_int_equal(root->checksum, ktrx_root_checksum(root));
	ring = ring_of(dump, 1);
	assert_int_equal(KTRX_WORD_RING(ring->word), 1);
	assert_int_equal(ring->head_where, KTRX_WHERE_NONE);
	assert_int_equal(good_slots(dump, ring), DUMP_RING_SLOTS);
}

static void pieces_are_inside_the_dump_and_do_not_overlap(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(16384);
	static unsigned char owner[sizeof(dump->bytes)];
	const struct ktrx_section *rings;

	(void)state;
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &dump->sink), 0);
	memset(owner, 0, sizeof(owner));
	memset(owner, 1, sizeof(struct ktrx_root));
	for (unsigned i = 0; i < KTRX_SECTIONS; i++) {
		const struct ktrx_section *section = &root_of(dump)->section[i];

		if (section->where == KTRX_WHERE_NONE)
			continue;
		assert_int_equal(section->where, KTRX_WHERE_FILE);
		assert_int_equal(section->extents, 1);
		for (uint64_t at = section->address; at < section->address + section->length; at++)
			assert_int_equal(owner[at]++, 0);
		assert_in_range(section->address + section->length, 0, dump->count);
	}
	rings = section_of(dump, KTRX_SECTION_RINGS);
	for (unsigned i = 0; i < rings->length / sizeof(struct ktrx_ring); i++) {
		const struct ktrx_ring *ring = ring_of(dump, i);

		assert_int_equal(ring->where, KTRX_WHERE_FILE);
		assert_int_equal(ring->address % KTRX_SLOT_SIZE, 0);
		for (uint64_t at = ring->address; at < ring->address + ring->length; at++)
			assert_int_equal(owner[at]++, 0);
		assert_in_range(ring->address + ring->length, 0, dump->count);
	}
}

static void the_event_table_is_copied_whole(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(16384);
	const struct ktrx_section *copy;

	(void)state;
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &dump->sink), 0);
	copy = section_of(dump, KTRX_SECTION_EVENTS);
	for (unsigned i = 0; i < KTRX_SECTIONS; i++) {
		const struct ktrx_section *original = &ktrace_root.section[i];

		if (original->type != KTRX_SECTION_EVENTS)
			continue;
		assert_int_equal(copy->length, original->length);
		assert_memory_equal(dump->bytes + copy->address, (const void *)(uintptr_t)original->address,
				    copy->length);
	}
}

static void record_two(void)
{
	dump_trace_switches(2);
}

static void slots_overwritten_during_the_dump_are_empty(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(2048);
	const struct ktrx_ring *ring;
	unsigned good, empty = 0;
	uint64_t head;

	(void)state;
	dump_trace_switches(2000);
	dump->during_write = record_two;
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &dump->sink), 0);
	ring = ring_of(dump, 1);
	head = KTRX_WORD_INDEX(ring->word);
	good = good_slots(dump, ring);
	for (uint64_t index = head - DUMP_RING_SLOTS; index < head; index++)
		empty += slot_of(dump, ring, index)[0] == 0;
	assert_int_equal(good + empty, DUMP_RING_SLOTS);
	assert_in_range(empty, 1, DUMP_RING_SLOTS);
	assert_in_range(good, 1, DUMP_RING_SLOTS);
}

static void record_many_laps(void)
{
	dump_trace_switches(256 * DUMP_RING_SLOTS);
}

/*
 * After 256 laps, a slot has the same generation again. Then only the head of the ring shows which lap wrote
 * the slot.
 */
static void a_repeated_generation_is_not_mistaken(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(2048);

	(void)state;
	dump_trace_switches(2000);
	dump->during_write = record_many_laps;
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &dump->sink), 0);
	assert_int_equal(good_slots(dump, ring_of(dump, 1)), 0);
}

KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_FOLD, KTRX_V1_NONE, fold, first, "%u", (uint32_t, value));
KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_FOLD, KTRX_V1_NONE, fold, second, "%u", (uint32_t, value));
KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_FOLD, KTRX_V1_NONE, fold, third, "%u", (uint32_t, value));
KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_FOLD, KTRX_V1_NONE, fold, text, "%s", (const char *, text));

/* Records a string of a different length each time. */
static void fold_another_text(void)
{
	static const char text[] = "0123456789";
	static unsigned n;

	KTRACE(fold, text, text + n++ % (sizeof(text) - 1));
}

/*
 * The length of the string is in the head of a fold entry and in its payload. The dump copies head and
 * payload one after another, and the entry changes between the two copies. Both copies must be from the same
 * version of the entry.
 */
static void a_fold_entry_is_copied_consistently(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(KTRACE_SINK_BUFFER_MIN + 2 * sizeof(uint64_t));
	const struct ktrx_section *section;
	const struct ktrx_fold *entry;

	(void)state;
	KTRACE(fold, first, 1);
	KTRACE(fold, second, 1);
	KTRACE(fold, third, 1);
	fold_another_text();
	dump->during_write = fold_another_text;
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &dump->sink), 0);
	section = section_of(dump, KTRX_SECTION_FOLDS);
	assert_int_equal(section->length, DUMP_FOLDS * sizeof(*entry));
	entry = (const struct ktrx_fold *)(const void *)(dump->bytes + section->address) + DUMP_FOLDS - 1;
	assert_int_equal(entry->event, ktrace_event_fold_text.event.id);
	assert_int_equal(entry->sequence & 1, 0);
	assert_int_equal(entry->bytes, 2 + (entry->payload[0] | entry->payload[1] << 8));
}

/* The entry stays locked for ever: the CPU that locked it was stopped while it changed the entry. */
static void a_held_fold_entry_is_marked(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(2048);
	const struct ktrx_section *section = &ktrace_root.section[KTRX_SECTION_FOLDS - 1];
	struct ktrx_fold *entry = (struct ktrx_fold *)(uintptr_t)section->address;

	(void)state;
	entry->sequence |= 1;
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &dump->sink), 0);
	entry->sequence &= ~UINT64_C(1);
	section = section_of(dump, KTRX_SECTION_FOLDS);
	entry = (struct ktrx_fold *)(void *)(dump->bytes + section->address);
	assert_int_equal(entry->sequence & 1, 1);
}

static void an_error_of_the_sink_ends_the_dump(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(2048);

	(void)state;
	dump->fail_at = 3;
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &dump->sink), KTRACE_OUTPUT_STALLED);
	assert_int_equal(dump->writes, 3);
}

static void change_the_table(void)
{
	ktrace_root.sequence += 2;
}

static void a_changing_table_is_an_error(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(2048);

	(void)state;
	dump->during_write = change_the_table;
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &dump->sink), KTRACE_OUTPUT_CHANGED);
}

static void a_buffer_that_is_too_small_is_rejected(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(512);

	(void)state;
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &dump->sink), KTRACE_OUTPUT_ARGUMENT);
	assert_int_equal(dump->writes, 0);
}

static void a_root_without_rings_is_rejected(void **state)
{
	static const struct ktrx_root empty;
	struct dump_sink *dump = dump_sink_fresh(2048);

	(void)state;
	assert_int_equal(ktrace_dump_v2(&empty, &dump->sink), KTRACE_OUTPUT_ARGUMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_without_recording_is_dumped_unchanged),
		cmocka_unit_test(settings_have_their_values),
		cmocka_unit_test(pieces_are_inside_the_dump_and_do_not_overlap),
		cmocka_unit_test(the_event_table_is_copied_whole),
		cmocka_unit_test(slots_overwritten_during_the_dump_are_empty),
		cmocka_unit_test(a_repeated_generation_is_not_mistaken),
		cmocka_unit_test(a_fold_entry_is_copied_consistently),
		cmocka_unit_test(a_held_fold_entry_is_marked),
		cmocka_unit_test(an_error_of_the_sink_ends_the_dump),
		cmocka_unit_test(a_changing_table_is_an_error),
		cmocka_unit_test(a_buffer_that_is_too_small_is_rejected),
		cmocka_unit_test(a_root_without_rings_is_rejected),
	};

	return cmocka_run_group_tests(tests, dump_trace_start, NULL);
}
