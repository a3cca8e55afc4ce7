/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests how settings are found by name: variables, single bits, and the masks of groups, also with more than
 * 64 events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

#define MANY 70

/* The descriptors that KTRACE_EVENT() would define for the event many.row, if it were declared many times. */
static struct {
	struct ktrx_event event;
	char strings[16];
} many[MANY] __attribute__((section("ktrace_events"), aligned(8), KTRACE_KEEP)) = {
	[0 ... MANY - 1] = { { .magic = KTRX_EVENT_MAGIC,
			       .size = sizeof(many[0]),
			       .state = KTRX_STATE_RECORD | KTRX_STATE_SLOW,
			       .wanted = KTRX_STATE_RECORD,
			       .header = KTRACE_HEADER_SLOW,
			       .v1_id = KTRX_V1_NONE },
			     "many\0row\0\0" },
};

KTRACE_EVENT(few, one, "one");
KTRACE_EVENT(few, two, "two");
KTRACE_EVENT(few, three, "three");

static uint32_t word32, limited;
static uint64_t word64;
static const uint32_t fixed = 7;

KTRACE_SETTING_U32("test.word32", word32, 0);
KTRACE_SETTING_U64("test.word64", word64, 0);
KTRACE_SETTING_RANGE("test.limited", limited, 0, 2);
KTRACE_SETTING_U32("test.fixed", fixed, KTRX_SETTING_READ_ONLY);
KTRACE_SETTING_BIT32("test.b32_0", word32, 0);
KTRACE_SETTING_BIT32("test.b32_31", word32, 31);
KTRACE_SETTING_BIT64("test.b64_63", word64, 63);

static int reset(void **state)
{
	word32 = 0;
	word64 = 0;
	limited = 0;
	return fake_reset(state);
}

static void expect(const char *name, const char *value)
{
	char text[64];

	assert_int_equal(ktrace_setting_get(name, text, sizeof(text)), strlen(value));
	assert_string_equal(text, value);
}

static void variables_are_read_and_set(void **state)
{
	(void)state;
	assert_int_equal(ktrace_setting_set("test.word32=1234567890"), KTRACE_OK);
	assert_int_equal(word32, 1234567890);
	expect("test.word32", "1234567890");
	assert_int_equal(ktrace_setting_set("test.word64=0xFFFFfffffffffff0"), KTRACE_OK);
	expect("test.word64", "18446744073709551600");
	assert_int_equal(ktrace_setting_set("test.word32=-1"), KTRACE_OK);
	expect("test.word32", "4294967295");
	assert_int_equal(ktrace_setting_set("test.word64=-1"), KTRACE_OK);
	assert_true(word64 == UINT64_MAX);
	expect("test.fixed", "7");
	expect("debug.ktr.entries", "512");
	expect("debug.ktr.version", "2");
}

static void values_out_of_range_are_rejected(void **state)
{
	char text[8];

	(void)state;
	assert_int_equal(ktrace_setting_set("test.limited=2"), KTRACE_OK);
	assert_int_equal(ktrace_setting_set("test.limited=3"), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_setting_set("test.limited=-1"), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(limited, 2);
	assert_int_equal(ktrace_setting_set("test.word32=4294967296"), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_setting_set("test.fixed=8"), KTRACE_ERROR_READ_ONLY);
	assert_int_equal(ktrace_setting_set("debug.ktr.version=3"), KTRACE_ERROR_READ_ONLY);
	assert_int_equal(ktrace_setting_set("test.none=1"), KTRACE_ERROR_NO_SETTING);
	assert_int_equal(ktrace_setting_set("test.word3=1"), KTRACE_ERROR_NO_SETTING);
	assert_int_equal(ktrace_setting_set("test.word32"), KTRACE_ERROR_SYNTAX);
	assert_int_equal(ktrace_setting_set("test.word32="), KTRACE_ERROR_SYNTAX);
	assert_int_equal(ktrace_setting_set("test.word32=0x"), KTRACE_ERROR_SYNTAX);
	assert_int_equal(ktrace_setting_set("test.word32=1z"), KTRACE_ERROR_SYNTAX);
	assert_int_equal(ktrace_setting_set("test.word64=18446744073709551616"), KTRACE_ERROR_SYNTAX);
	assert_int_equal(word32, 0);
	assert_int_equal(ktrace_setting_get("test.none", text, sizeof(text)), KTRACE_ERROR_NO_SETTING);
	assert_int_equal(ktrace_setting_get("test.fixed", text, 1), KTRACE_ERROR_MEMORY);
	assert_string_equal(text, "");
	assert_int_equal(ktrace_setting_get("test.fixed", text, 2), 1);
}

static void single_bits_are_settings(void **state)
{
	(void)state;
	word32 = 0x10;
	word64 = 0x10;
	assert_int_equal(ktrace_setting_set("test.b32_0=1"), KTRACE_OK);
	assert_int_equal(ktrace_setting_set("test.b32_31=1"), KTRACE_OK);
	assert_int_equal(word32, 0x80000011);
	expect("test.b32_31", "1");
	assert_int_equal(ktrace_setting_set("test.b32_31=0"), KTRACE_OK);
	assert_int_equal(word32, 0x11);
	expect("test.b32_31", "0");
	assert_int_equal(ktrace_setting_set("test.b64_63=-1"), KTRACE_OK);
	assert_true(word64 == UINT64_C(0x8000000000000010));
	assert_int_equal(ktrace_setting_set("test.b64_63=2"), KTRACE_ERROR_ARGUMENT);
}

static uint32_t records_of_few(void)
{
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(few, one);
	KTRACE(few, two);
	KTRACE(few, three);
	return check_ring(1)->records;
}

static void a_mask_selects_what_is_recorded(void **state)
{
	(void)state;
	assert_int_equal(ktrace_setting_set("debug.ktr.few_enable=0x2"), KTRACE_OK);
	assert_int_equal(records_of_few(), 1);
}

static void a_mask_has_a_bit_for_each_event_of_its_group(void **state)
{
	(void)state;
	expect("debug.ktr.few_enable", "0x7");
	expect("debug.ktr.few.one_mask", "0x1");
	expect("debug.ktr.few.three_mask", "0x4");
	assert_int_equal(ktrace_setting_set("debug.ktr.few_enable=5"), KTRACE_OK);
	expect("debug.ktr.few_enable", "0x5");
	assert_int_equal(fake_event("few.two")->state, KTRX_STATE_OFF);
	assert_int_not_equal(fake_event("few.three")->state, KTRX_STATE_OFF);
	assert_int_equal(ktrace_setting_set("debug.ktr.few_enable=0"), KTRACE_OK);
	expect("debug.ktr.few_enable", "0x0");
	assert_int_equal(ktrace_setting_set("debug.ktr.few_enable=-1"), KTRACE_OK);
	expect("debug.ktr.few_enable", "0x7");
	assert_int_equal(ktrace_setting_set("debug.ktr.few_enable=-2"), KTRACE_OK);
	expect("debug.ktr.few_enable", "0x6");
	assert_int_equal(ktrace_setting_set("debug.ktr.few_enable=8"), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_setting_set("debug.ktr.few_enable=0x1g"), KTRACE_ERROR_SYNTAX);
	assert_int_equal(ktrace_setting_set("debug.ktr.few.one_mask=1"), KTRACE_ERROR_READ_ONLY);
	assert_int_equal(ktrace_setting_set("debug.ktr.few.four_mask=1"), KTRACE_ERROR_NO_SETTING);
	assert_int_equal(ktrace_setting_set("debug.ktr.fewer_enable=1"), KTRACE_ERROR_NO_SETTING);
	expect("debug.ktr.few_enable", "0x6");
}

static void a_mask_does_not_stop_counting(void **state)
{
	(void)state;
	assert_int_equal(ktrace_control("few.one=count"), KTRACE_OK);
	assert_int_equal(ktrace_setting_set("debug.ktr.few_enable=0x3"), KTRACE_OK);
	assert_int_equal(fake_event("few.one")->wanted, KTRX_STATE_COUNT);
	assert_int_equal(fake_event("few.two")->wanted, KTRX_STATE_RECORD);
}

static void a_mask_may_be_wider_than_any_number(void **state)
{
	char small[20];

	(void)state;
	expect("debug.ktr.many_enable", "0x3fffffffffffffffff");
	assert_int_equal(ktrace_setting_set("debug.ktr.many_enable=0x200000000000000001"), KTRACE_OK);
	expect("debug.ktr.many_enable", "0x200000000000000001");
	assert_int_equal(many[0].event.wanted, KTRX_STATE_RECORD);
	assert_int_equal(many[1].event.wanted, KTRX_STATE_OFF);
	assert_int_equal(many[MANY - 1].event.wanted, KTRX_STATE_RECORD);
	assert_int_equal(ktrace_setting_get("debug.ktr.many_enable", small, sizeof(small)),
			 KTRACE_ERROR_MEMORY);
	assert_int_equal(ktrace_setting_set("debug.ktr.many_enable=0x400000000000000000"),
			 KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_setting_set("debug.ktr.many_enable=-1"), KTRACE_OK);
	expect("debug.ktr.many_enable", "0x3fffffffffffffffff");
	assert_int_equal(ktrace_setting_set("debug.ktr.many_enable=0x00000000000000000000000010"), KTRACE_OK);
	expect("debug.ktr.many_enable", "0x10");
}

static void a_mask_has_the_bits_of_all_declarations_of_an_event(void **state)
{
	(void)state;
	expect("debug.ktr.many.row_mask", "0x3fffffffffffffffff");
}

/* Number of names of settings: of all settings, then of some types of settings. */
struct seen {
	uint32_t names, words, masks, bits, rows;
};

static int count_name(void *cookie, const char *name)
{
	struct seen *seen = cookie;
	char value[64];

	seen->names++;
	seen->words += strcmp(name, "test.b64_63") == 0;
	seen->masks += strcmp(name, "debug.ktr.few_enable") == 0;
	seen->rows += strcmp(name, "debug.ktr.many.row_mask") == 0;
	seen->bits += strcmp(name, "debug.ktr.few.three_mask") == 0;
	assert_true(ktrace_setting_get(name, value, sizeof(value)) > 0);
	return 0;
}

static int count_and_stop(void *cookie, const char *name)
{
	(void)name;
	++*(int *)cookie;
	return 5;
}

static void every_setting_is_visited_once(void **state)
{
	struct seen seen = { 0 };
	int visits = 0;

	(void)state;
	assert_int_equal(ktrace_setting_each(count_name, &seen), 0);
	assert_int_equal(seen.words, 1);
	assert_int_equal(seen.masks, 1);
	assert_int_equal(seen.bits, 1);
	assert_int_equal(seen.rows, 1);
	assert_true(seen.names >= 10 + 2 + 3 + 1);
	assert_int_equal(ktrace_setting_each(count_and_stop, &visits), 5);
	assert_int_equal(visits, 1);
}

static void the_root_leads_to_the_setting_descriptors(void **state)
{
	const struct ktrx_section *section = &ktrace_root.section[KTRX_SECTION_SETTINGS - 1];
	const struct ktrx_setting *setting;

	(void)state;
	ktrace_setting_set("test.word32=0");
	assert_int_equal(section->type, KTRX_SECTION_SETTINGS);
	assert_int_equal(section->where, KTRX_WHERE_VIRTUAL);
	assert_true(section->length >= 10 * sizeof(*setting));
	setting = (const struct ktrx_setting *)(uintptr_t)section->address;
	assert_int_equal(setting->magic, KTRX_SETTING_MAGIC);
	assert_int_equal(setting->size, sizeof(*setting));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_mask_selects_what_is_recorded, reset),
		cmocka_unit_test_setup(variables_are_read_and_set, reset),
		cmocka_unit_test_setup(values_out_of_range_are_rejected, reset),
		cmocka_unit_test_setup(single_bits_are_settings, reset),
		cmocka_unit_test_setup(a_mask_has_a_bit_for_each_event_of_its_group, reset),
		cmocka_unit_test_setup(a_mask_does_not_stop_counting, reset),
		cmocka_unit_test_setup(a_mask_may_be_wider_than_any_number, reset),
		cmocka_unit_test_setup(a_mask_has_the_bits_of_all_declarations_of_an_event, reset),
		cmocka_unit_test_setup(every_setting_is_visited_once, reset),
		cmocka_unit_test_setup(the_root_leads_to_the_setting_descriptors, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
