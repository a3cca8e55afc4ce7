/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the records that unchanged files make which were written for DragonFly's macros. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"
#include "test/unit/kernel/ktr/ktr.h"

#define TOKEN  ((struct lwkt_token *)0x1111)
#define THREAD ((struct thread *)0x2222)

void forms_hook(int value)
{
	(void)value;
}

/* Returns the n-th record of CPU 0, which must be of the given event. */
static const struct checked_record *record_of(uint32_t n, const char *event)
{
	const struct checked_ring *ring = check_ring(1);

	assert_int_equal(ring->invalid, 0);
	assert_true(n < ring->records);
	assert_int_equal(fake_event_of(ring->record[n].event), fake_event(event)->id);
	return &ring->record[n];
}

static const char *text_of(const struct ktrx_event *event)
{
	const char *at = (const char *)(event + 1);

	at += strlen(at) + 1;
	return at + strlen(at) + 1;
}

static void the_documented_trace_points_record(void **state)
{
	const struct checked_record *record;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	tokens_log(TOKEN, THREAD, 0);
	tokens_log(TOKEN, THREAD, 1);
	assert_int_equal(check_ring(1)->records, 3);
	record = record_of(0, "tokens.acquire");
	assert_int_equal(record->slots, 1);
	assert_int_equal(payload_bits(record, 0, 8), 0x1111);
	assert_int_equal(payload_bits(record, 8, 8), 0x2222);
	record_of(1, "tokens.acquire");
	record_of(2, "tokens.release");
	assert_string_equal(text_of(fake_event("tokens.acquire")), "acquire %p by %p");
}

static void check_small_and_words(void)
{
	const struct checked_record *record = record_of(3, "forms.small");

	assert_memory_equal(record->payload, "\xff\xff\xd4\xfe\xff\xff\x78\x01", 8);
	assert_memory_equal(fake_event("forms.small")->type,
			    ((uint8_t[]){ KTRX_TYPE_I8, KTRX_TYPE_U8, KTRX_TYPE_I16, KTRX_TYPE_U16,
					  KTRX_TYPE_CHAR, KTRX_TYPE_BOOL, 0 }),
			    7);
	record = record_of(4, "forms.words");
	assert_int_equal(payload_bits(record, 0, 4), 0xfffffffe);
	assert_int_equal(payload_bits(record, 4, 4), 3000000000u);
	assert_int_equal((int64_t)payload_bits(record, 8, 8), -4);
	assert_int_equal(payload_bits(record, 16, 8), 5);
	assert_int_equal((int64_t)payload_bits(record, 24, 8), -6);
	assert_int_equal(payload_bits(record, 32, 8), 7);
	assert_int_equal(payload_bits(record, 40, 8), sizeof("a copy"));
	assert_memory_equal(fake_event("forms.words")->type,
			    ((uint8_t[]){ KTRX_TYPE_I32, KTRX_TYPE_U32, KTRX_TYPE_I64, KTRX_TYPE_U64,
					  KTRX_TYPE_I64, KTRX_TYPE_U64, KTRX_TYPE_U64, 0 }),
			    8);
}

static void every_form_records(void **state)
{
	const struct checked_record *record;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	forms_log("a name", THREAD);
	extern_log(UINT64_C(0x123456789abcdef0));
	assert_int_equal(check_ring(1)->records, 10);
	record_of(0, "forms.nothing");
	assert_memory_equal(record_of(1, "forms.one")->payload, "\6\0a name", 8);
	assert_memory_equal(record_of(2, "forms.name")->payload, "\6\0a copy", 8);
	check_small_and_words();
	record = record_of(5, "forms.state");
	assert_int_equal(payload_bits(record, 0, 4), IFQ_BUSY);
	assert_int_equal(payload_bits(record, 4, 8), 0x2222);
	assert_int_equal(payload_bits(record, 12, 8), (uintptr_t)forms_hook);
	assert_int_equal(fake_event("forms.state")->type[2], KTRX_TYPE_POINTER);
	record = record_of(6, "forms.twelve");
	assert_int_equal(payload_bits(record, 0, 4), 1);
	assert_int_equal(payload_bits(record, 40, 4), 11);
	assert_int_equal(payload_bits(record, 44, 4), (uint32_t)-12);
	assert_int_equal(payload_bits(record_of(7, "forms.again"), 0, 4), 0x10);
	assert_int_equal(payload_bits(record_of(8, "forms.beyond"), 0, 4), 0x30);
	assert_int_equal(payload_bits(record_of(9, "forms.elsewhere"), 0, 8), UINT64_C(0x123456789abcdef0));
	assert_string_equal(text_of(fake_event("forms.one")), "forms %s");
}

static void left_out_events_evaluate_nothing(void **state)
{
	int evaluated = 0;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	forms_log_off(&evaluated);
	assert_int_equal(evaluated, 0);
	assert_int_equal(check_ring(1)->records, 0);
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event))
		assert_string_not_equal((const char *)(event + 1), "quiet");
}

static void masters_are_groups(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(ktrace_control("forms=off,forms.twelve=on"), KTRACE_OK);
	forms_log(NULL, NULL);
	assert_int_equal(check_ring(1)->records, 1);
	record_of(0, "forms.twelve");
	assert_int_equal(ktrace_setting_set("debug.ktr.forms_enable=-1"), KTRACE_OK);
	forms_log(NULL, NULL);
	assert_int_equal(check_ring(1)->records, 10);
}

static void expect_setting(const char *name, const char *value)
{
	char text[64];

	assert_true(ktrace_setting_get(name, text, sizeof(text)) > 0);
	assert_string_equal(text, value);
}

/* Bit 31 of the mask enables and disables both events that have this bit. */
static void the_number_is_the_bit_of_the_mask(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	expect_setting("debug.ktr.tokens.acquire_mask", "0x1");
	expect_setting("debug.ktr.tokens.release_mask", "0x2");
	expect_setting("debug.ktr.forms.elsewhere_mask", "0x80");
	expect_setting("debug.ktr.forms.twelve_mask", "0x80000000");
	expect_setting("debug.ktr.forms.beyond_mask", "0x10000000000");
	expect_setting("debug.ktr.forms_enable", "0x100800000bf");
	assert_int_equal(ktrace_setting_set("debug.ktr.forms_enable=0x80000000"), KTRACE_OK);
	forms_log(NULL, THREAD);
	assert_int_equal(check_ring(1)->records, 2);
	record_of(0, "forms.twelve");
	record_of(1, "forms.again");
	expect_setting("debug.ktr.forms_enable", "0x80000000");
	assert_int_equal(ktrace_setting_set("debug.ktr.forms_enable=0x40"), KTRACE_ERROR_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_documented_trace_points_record), TEST(every_form_records),
		TEST(left_out_events_evaluate_nothing),	  TEST(masters_are_groups),
		TEST(the_number_is_the_bit_of_the_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
