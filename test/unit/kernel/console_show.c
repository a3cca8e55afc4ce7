/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests show ktr on the fake machine: order, filters, the pager, and rings that change or contain garbage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KTR	   1
#define KTR_PLACES 1
#include "ktrace/ktr.h"

#include "kernel/core/core.h"
#include "ktrace/clock.h"
#include "ktrace/console.h"
#include "test/fake/machine.h"
#include "unit/support/random.h"

#define SLOTS 512u

KTR_INFO(KTR_PLACES, place, log, 0, "%d", int value);
KTRACE_EVENT(test, number, "%u", (uint32_t, n));
KTRACE_EVENT(test, wide, "%u %lu %lu %lu %lu %lu %lu", (uint32_t, a), (uint64_t, b), (uint64_t, c),
	     (uint64_t, d), (uint64_t, e), (uint64_t, f), (uint64_t, g));
KTRACE_EVENT(other, text, "%s %s %s %s", (const char *, a), (const char *, b), (const char *, c),
	     (const char *, d));

static struct {
	char text[1 << 17];
	size_t length;
	const char *keys;	    /* the next keys that the user types at the pager */
	void (*during_write)(void); /* if not NULL: called once, after the first piece of text was written */
} screen;

static void screen_write(const struct ktrace_console *console, const char *text, size_t bytes)
{
	void (*during_write)(void) = screen.during_write;

	assert_ptr_equal(console->cookie, &screen);
	assert_in_range(screen.length + bytes, 0, sizeof(screen.text) - 1);
	memcpy(screen.text + screen.length, text, bytes);
	screen.length += bytes;
	screen.text[screen.length] = '\0';
	screen.during_write = NULL;
	if (during_write)
		during_write();
}

static int screen_key(const struct ktrace_console *console)
{
	(void)console;
	return *screen.keys ? *screen.keys++ : -1;
}

static const struct ktrace_console console = {
	.write = screen_write,
	.key = screen_key,
	.lines = 4,
	.cookie = &screen,
};

static const char *show(const char *how)
{
	screen.length = 0;
	screen.text[0] = '\0';
	assert_int_equal(ktrace_console_show(&console, how), KTRACE_OK);
	return screen.text;
}

static void record_on(uint32_t cpu, uint32_t first, uint32_t count)
{
	fake.cpu = cpu;
	for (uint32_t n = first; n < first + count; n++)
		KTRACE(test, number, n);
}

static unsigned lines(const char *text)
{
	unsigned count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* Returns the slot that is `back` slots before the head of CPU 0's ring. */
static struct ktrace_slot *slot_back(uint32_t back)
{
	const struct ktrx_ring *ring = &ktrace_ring[1];
	uint64_t head = KTRX_WORD_INDEX(*(uint64_t *)(uintptr_t)ring->head);

	return (struct ktrace_slot *)(uintptr_t)ring->base + ((head - back) & ring->mask);
}

/* ---- Contents of the listing -------------------------------------------------------------------- */

static void an_empty_trace_shows_no_records(void **state)
{
	(void)state;
	assert_string_equal(show(""), "no records\n");
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	assert_string_equal(show("/a"), "no records\n");
}

static void records_come_newest_first_over_all_cpus(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 10, 1);
	record_on(2, 11, 2);
	record_on(1, 13, 1);
	record_on(0, 14, 1);
	assert_string_equal(show("/a"), "cpu0 2: test_number  14\n"
					"cpu1 1: test_number  13\n"
					"cpu2 2: test_number  12\n"
					"cpu2 1: test_number  11\n"
					"cpu0 1: test_number  10\n");
}

/* CPU 1 records before CPU 0. But its record has a later timestamp, because its clock is ahead. */
static void clocks_that_differ_are_compared_by_their_offsets(void **state)
{
	const struct ktrace_memory memory = { fake_memory, sizeof(fake_memory) };
	const struct ktrace_config config = {
		.size = sizeof(config),
		.cpus = 2,
		.slots = SLOTS,
		.blocks = 1,
		.memory = &memory,
		.clocks = KTRACE_CLOCKS_ASKED,
	};
	const struct ktrx_section *section = &ktrace_root.section[KTRX_SECTION_OFFSETS - 1];

	(void)state;
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	assert_int_equal(ktrace_cpu_online(0), KTRACE_OK);
	fake.cpu = 1;
	assert_int_equal(ktrace_cpu_online(1), KTRACE_OK);
	record_on(0, 1, 1);
	record_on(1, 2, 1);
	((int64_t *)(uintptr_t)section->address)[1] = -1000;
	assert_string_equal(show("/a"), "cpu0 1: test_number  1\ncpu1 1: test_number  2\n");
}

static void the_boot_ring_is_merged_with_the_others(void **state)
{
	(void)state;
	record_on(1, 1, 1);
	record_on(2, 2, 1);
	assert_string_equal(show("/a"), "cpu2 2: test_number  2\ncpu1 1: test_number  1\n");
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 3, 1);
	assert_string_equal(show("/a"),
			    "cpu0 1: test_number  3\ncpu2 2: test_number  2\ncpu1 1: test_number  1\n");
	assert_string_equal(show("/ac2"), "cpu2 2: test_number  2\n");
}

static void the_last_lap_of_a_wrapped_ring_is_shown(void **state)
{
	const char *text;

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 0, 3 * SLOTS);
	text = show("/a");
	assert_int_equal(lines(text), SLOTS);
	assert_memory_equal(text, "cpu0 1536: test_number  1535\n", 29);
	assert_non_null(strstr(text, "\ncpu0 1025: test_number  1024\n"));
}

static void long_records_are_shown_across_the_ring_end(void **state)
{
	static const char a[] = "0123456789012345678901234567890123456789012345678901234567890123456789";

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	/* fills the ring except for a few slots, so that the next two records wrap around its end */
	record_on(0, 0, SLOTS - 4);
	KTRACE(test, wide, 1, 2, 3, 4, 5, 6, 7);
	KTRACE(other, text, a, a, a, "end");
	assert_string_equal(show("/ac0 other test.wide"),
			    "cpu0 512: other_text  "
			    "0123456789012345678901234567890123456789012345678901234567890123 "
			    "0123456789012345678901234567890123456789012345678901234567890123 "
			    "0123456789012345678901234567890123456789012345678901234567890123 end\n"
			    "cpu0 509: test_wide  1 2 3 4 5 6 7\n");
}

static void verbose_shows_stamp_file_and_line(void **state)
{
	char wanted[200];

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 7, 1);
	snprintf(wanted, sizeof(wanted), "cpu0 1: %llu test/unit/kernel/console_show.c:%u test_number  7\n",
		 (unsigned long long)fake.clock, fake_event("test.number")->line);
	assert_string_equal(show("/va"), wanted);
	assert_string_equal(show("/avc0"), wanted);
}

static void verbose_shows_the_line_of_each_place(void **state)
{
	char wanted[400];

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	KTR_LOG(place_log, 1);
	KTR_LOG(place_log, 2);
	snprintf(wanted, sizeof(wanted), " test/unit/kernel/console_show.c:%u place_log  2\n", __LINE__ - 1);
	assert_non_null(strstr(show("/va place.log"), wanted));
	snprintf(wanted, sizeof(wanted), " test/unit/kernel/console_show.c:%u place_log  1\n", __LINE__ - 4);
	assert_non_null(strstr(show("/va place.log"), wanted));
	assert_int_equal(lines(screen.text), 2);
	assert_string_equal(show("/va test.*"), "no records\n");
}

/* Stores in each slot of the ring the checksum that a writer would have stored with these contents. */
static void store_checks(const struct ktrx_ring *ring)
{
	uint64_t head = KTRX_WORD_INDEX(*(const uint64_t *)(uintptr_t)ring->head), others = 0, check;

	for (uint32_t i = 1; i <= SLOTS; i++) {
		uint64_t *word = slot_back(i)->word;
		uint32_t lap = ktrx_lap(1, head - i, ring->shift), kind = KTRX_TAG_KIND(word[0]);

		word[0] &= ~(uint64_t)KTRX_TAG_CHECK_MASK;
		if (kind > KTRX_KIND_FIRST) {
			check = ktrx_check_more(word, lap);
			others = ktrx_check_rest(kind == KTRX_KIND_LAST ? 0 : others, check);
		} else {
			word[1] &= ~(uint64_t)KTRX_W1_CHECK_MASK;
			check = ktrx_check_of_first(word, lap, kind == KTRX_KIND_FIRST ? others : 0);
			word[1] |= check & KTRX_W1_CHECK_MASK;
		}
		word[0] |= check & KTRX_TAG_CHECK_MASK;
	}
}

static void callers_are_shown_if_recorded(void **state)
{
	static const struct ktrx_extension extension = { .size = 20,
							 .parts = KTRX_EXT_CALLER1 | KTRX_EXT_CALLER2 };
	const uint64_t caller[2] = { 0xffffffff80123456, 0x1000 };
	char *slot;

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 7, 1);
	slot = (char *)slot_back(1);
	((uint32_t *)(void *)slot)[2] |= KTRX_W1_EXTENDED_BIT;
	memcpy(slot + KTRX_FIRST_OFFSET, &extension, sizeof(extension));
	memcpy(slot + KTRX_FIRST_OFFSET + sizeof(extension), caller, sizeof(caller));
	store_checks(&ktrace_ring[1]);
	assert_string_equal(show("/a"), "cpu0 1: test_number  from(0xffffffff80123456,0x1000) (missing)\n");
}

/* ---- Arguments and the pager ------------------------------------------------------------------- */

static void filters_select_cpus_and_events(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 1, 1);
	record_on(1, 2, 1);
	KTRACE(other, text, "x", "", "", "");
	record_on(2, 3, 1);
	assert_string_equal(show("/ac1"), "cpu1 2: other_text  x   \ncpu1 1: test_number  2\n");
	assert_string_equal(show("/c1a test"), "cpu1 1: test_number  2\n");
	assert_string_equal(show(" /a  other"), "cpu1 2: other_text  x   \n");
	assert_string_equal(show("/a *.text,test.wide"), "cpu1 2: other_text  x   \n");
	assert_string_equal(show("/ac1 test.num*"), "cpu1 1: test_number  2\n");
	assert_string_equal(show("/ac2 other"), "no records\n");
}

static void syntax_errors_are_rejected(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(ktrace_console_show(&console, "/x"), KTRACE_ERROR_SYNTAX);
	assert_int_equal(ktrace_console_show(&console, "/c"), KTRACE_ERROR_SYNTAX);
	assert_int_equal(ktrace_console_show(&console, "/cv"), KTRACE_ERROR_SYNTAX);
	assert_int_equal(ktrace_console_show(&console, "/a nothing.here"), KTRACE_ERROR_NO_EVENT);
	assert_int_equal(ktrace_console_show(&console, "test,nothing"), KTRACE_ERROR_NO_EVENT);
	assert_int_equal(ktrace_console_show(&console, "/c4"), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_console_show(&console, "/c99999999999999999999"), KTRACE_ERROR_ARGUMENT);
}

static const char *settings(const char *how)
{
	screen.length = 0;
	screen.text[0] = '\0';
	assert_int_equal(ktrace_console_settings(&console, how), KTRACE_OK);
	return screen.text;
}

static void settings_are_listed_by_prefix(void **state)
{
	unsigned all;

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	assert_string_equal(settings("debug.ktr.version"), "debug.ktr.version=2\n");
	assert_string_equal(settings(" /a debug.ktr.other"),
			    "debug.ktr.other_enable=0x1\ndebug.ktr.other.text_mask=0x1\n");
	all = lines(settings("/a"));
	assert_in_range(all, 8, 100);
	assert_int_equal(lines(settings("/a debug.ktr.")), all);
	screen.keys = "q";
	assert_int_equal(lines(settings("")), 3);
	assert_string_equal(screen.keys, "");
	assert_int_equal(ktrace_console_settings(&console, "/x"), KTRACE_ERROR_SYNTAX);
}

static void the_pager_waits_at_each_page(void **state)
{
	static const char more[] = "--More--\r        \r";
	char wanted[400];

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 1, 9);
	screen.keys = "?\r q"; /* the keys mean: unknown key, next line, next page, quit */
	snprintf(wanted, sizeof(wanted),
		 "cpu0 9: test_number  9\ncpu0 8: test_number  8\ncpu0 7: test_number  7\n%s"
		 "cpu0 6: test_number  6\n%s"
		 "cpu0 5: test_number  5\ncpu0 4: test_number  4\ncpu0 3: test_number  3\n%s",
		 more, more, more);
	assert_string_equal(show(""), wanted);
	assert_string_equal(screen.keys, "");
	assert_int_equal(lines(show("")), 3); /* no keys left: the output ends at the first prompt */
	assert_int_equal(lines(show("/a")), 9);
}

static void without_keys_there_is_no_pager(void **state)
{
	static const struct ktrace_console bare = { .write = screen_write, .cookie = &screen };

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 1, 100);
	screen.length = 0;
	assert_int_equal(ktrace_console_show(&bare, ""), KTRACE_OK);
	assert_int_equal(lines(screen.text), 100);
}

/* ---- Rings that change, or contain garbage ----------------------------------------------------- */

static void record_a_few(void)
{
	record_on(0, 1000, 5);
}

static void record_a_lap(void)
{
	record_on(0, 1000, SLOTS);
}

static void records_overwritten_while_shown_are_counted(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 0, SLOTS);
	screen.during_write = record_a_few;
	show("/a");
	assert_int_equal(lines(screen.text), SLOTS - 5 + 1);
	assert_non_null(strstr(screen.text, "\nslots overwritten while shown: 5\n"));
	assert_null(strstr(screen.text, "test_number  1000"));
}

static void a_lap_while_shown_ends_only_that_ring(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(1, 5, 1);
	record_on(0, 0, 10);
	screen.during_write = record_a_lap;
	assert_string_equal(show("/a"), "cpu0 10: test_number  9\n"
					"cpu1 1: test_number  5\n"
					"slots overwritten while shown: 10\n");
}

static void torn_slots_are_skipped_and_counted(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 1, 2);
	KTRACE(test, wide, 1, 2, 3, 4, 5, 6, 7);
	record_on(0, 3, 1);
	slot_back(2)->word[3] ^= 1; /* damages the last slot of the record of test.wide */
	/* damages the tag of record 2, so that its slot seems to belong to a different lap */
	slot_back(5)->word[0] ^= UINT64_C(1) << 3;
	*(uint64_t *)(uintptr_t)ktrace_ring[1].head += 1; /* reserves one more slot, not written yet */
	assert_string_equal(show("/a"),
			    "cpu0 6: test_number  3\ncpu0 1: test_number  1\nunreadable slots: 3\n");
}

/* The slot of CPU 0's record 2, which the writer of the record has not completed yet. */
static struct ktrace_slot rest;

static void store_rest(void)
{
	*slot_back(2) = rest;
}

/*
 * Records are printed from the newest to the oldest. A record that is completed while older ones are printed
 * is not printed after them. The next listing shows it at its position.
 */
static void a_record_finished_late_does_not_follow_older_ones(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 1, 1);
	record_on(1, 2, 1);
	record_on(0, 3, 2);
	rest = *slot_back(2);
	slot_back(2)->word[0] = 0;
	screen.during_write = store_rest;
	assert_string_equal(show("/a"), "cpu0 3: test_number  4\n"
					"cpu1 1: test_number  2\n"
					"cpu0 1: test_number  1\n"
					"unreadable slots: 1\n");
	assert_string_equal(show("/a"), "cpu0 3: test_number  4\n"
					"cpu0 2: test_number  3\n"
					"cpu1 1: test_number  2\n"
					"cpu0 1: test_number  1\n");
}

/*
 * The slots have a valid kind, lap and checksum; all other bits are random. The listing ends, and prints only
 * printable characters.
 */
static void garbage_in_the_rings_is_harmless(void **state)
{
	struct ktrx_ring *ring = &ktrace_ring[1];
	uint64_t seed = 7;

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 0, 2 * SLOTS);
	for (unsigned round = 0; round < 200; round++) {
		for (uint32_t i = 1; i <= SLOTS; i++) {
			struct ktrace_slot *slot = slot_back(i);
			uint64_t tag = slot->word[0] & 0x7f8;
			uint64_t kind = 1 + random_word(&seed) % 4;

			for (uint32_t word = 0; word < 4; word++)
				slot->word[word] = random_word(&seed);
			slot->word[0] = (slot->word[0] & ~UINT64_C(0xfffffff)) | tag | kind |
					(random_word(&seed) % 8) << 16;
		}
		store_checks(ring);
		show("/va");
		for (size_t i = 0; i < screen.length; i++)
			assert_true(screen.text[i] == '\n' ||
				    (screen.text[i] >= ' ' && screen.text[i] < 0x7f));
	}
	ring->mask = 12345;
	assert_string_equal(show("/a"), "no records\n");
}

static void garbage_in_an_event_descriptor_is_harmless(void **state)
{
	struct ktrx_event *event = fake_event("test.number");

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	record_on(0, 7, 1);
	event->fields = 255;
	memset(event->type, 255, sizeof(event->type));
	assert_string_equal(show("/a"), "cpu0 1: test_number  (missing)\n");
	memset(event + 1, 'x', event->size - sizeof(*event));
	show("/va");
	assert_memory_equal(screen.text, "cpu0 1: ", 8);
	assert_non_null(strstr(screen.text, " event_"));
	event->size = 50;
	show("/a");
	assert_int_equal(lines(screen.text), 1);
}

static void garbage_in_a_place_descriptor_is_harmless(void **state)
{
	enum { NO_END, OF_NOTHING, OF_ITSELF, SIZE_SMALL, SIZE_HUGE, SIZE_ODD, CASES };

	for (int n = 0; n < CASES; n++) {
		struct ktrx_place *place;

		fake_reset(state);
		fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
		for (int again = 0; again < 2; again++)
			KTR_LOG(place_log, 1);
		place = fake_place(KTRX_W0_EVENT(slot_back(1)->word[0]));
		assert_non_null(place);
		assert_ptr_equal(ktrace_place_event(place), fake_event("place.log"));
		if (n == NO_END)
			memset(place + 1, 'x', place->size - sizeof(*place));
		else if (n == OF_NOTHING)
			place->event = KTRX_EVENT_MAX;
		else if (n == OF_ITSELF)
			place->event = place->id;
		else
			place->size = n == SIZE_SMALL ? 8 : n == SIZE_HUGE ? 0xfff8 : 41;
		show("/va");
		assert_int_equal(lines(screen.text), 2);
		if (n == NO_END)
			assert_non_null(strstr(screen.text, " place_log  1\n"));
		else
			assert_non_null(strstr(screen.text, " event_"));
	}
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_trace_shows_no_records),
		TEST(records_come_newest_first_over_all_cpus),
		TEST(clocks_that_differ_are_compared_by_their_offsets),
		TEST(the_boot_ring_is_merged_with_the_others),
		TEST(the_last_lap_of_a_wrapped_ring_is_shown),
		TEST(long_records_are_shown_across_the_ring_end),
		TEST(verbose_shows_stamp_file_and_line),
		TEST(verbose_shows_the_line_of_each_place),
		TEST(garbage_in_a_place_descriptor_is_harmless),
		TEST(callers_are_shown_if_recorded),
		TEST(filters_select_cpus_and_events),
		TEST(syntax_errors_are_rejected),
		TEST(settings_are_listed_by_prefix),
		TEST(the_pager_waits_at_each_page),
		TEST(without_keys_there_is_no_pager),
		TEST(records_overwritten_while_shown_are_counted),
		TEST(a_lap_while_shown_ends_only_that_ring),
		TEST(torn_slots_are_skipped_and_counted),
		TEST(a_record_finished_late_does_not_follow_older_ones),
		TEST(garbage_in_the_rings_is_harmless),
		TEST(garbage_in_an_event_descriptor_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
