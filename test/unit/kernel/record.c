/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the contents of records: fields of every type, strings, records of many slots, and the CPU, thread
 * and context of a record. Also tests ids and the root.
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

enum colour { RED, GREEN = 70000 };

KTRACE_EVENT(test, four, "%u %u %llu", (uint32_t, a), (uint32_t, b), (unsigned long long, c, ns));
KTRACE_EVENT(test, none, "nothing");
KTRACE_EVENT(test, types, "%d %u %d %u %d %u %lld %llu %p %d %c %d", (int8_t, a), (uint8_t, b), (int16_t, c),
	     (uint16_t, d), (int32_t, e), (uint32_t, f), (long long, g), (unsigned long long, h), (void *, i),
	     (_Bool, j), (char, k), (enum colour, l));
KTRACE_EVENT_V1(0, syscall, enter, "%u %llx %llx %llx %llx %llx %llx", (uint16_t, number),
		(unsigned long long, a), (unsigned long long, b), (unsigned long long, c),
		(unsigned long long, d), (unsigned long long, e), (unsigned long long, f));
KTRACE_EVENT(test, sixteen, "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", (int, a), (int, b), (int, c),
	     (int, d), (int, e), (int, f), (int, g), (int, h), (int, i), (int, j), (int, k), (int, l),
	     (int, m), (int, n), (int, o), (int, p));
KTRACE_EVENT(test, string, "%u %s %u", (uint16_t, before), (const char *, text), (uint32_t, after));
KTRACE_EVENT(test, strings, "%s %s %s %s %s %u", (const char *, a), (const char *, b), (const char *, c),
	     (const char *, d), (const char *, e), (uint32_t, after));

static const struct checked_record *only_record(uint32_t ring, const char *event)
{
	const struct checked_ring *checked = check_ring(ring);

	assert_int_equal(checked->invalid, 0);
	assert_int_equal(checked->records, 1);
	assert_int_equal(checked->record[0].event, fake_event(event)->id);
	return &checked->record[0];
}

static void a_record_has_thread_context_and_stamp(void **state)
{
	const struct checked_record *record;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	fake.thread = 0x3abcde | KTRX_CONTEXT_INTERRUPT << 22;
	KTRACE(test, four, 0x11111111, 0x22222222, 0x3333333344444444);
	record = only_record(1, "test.four");
	assert_int_equal(record->slots, 1);
	assert_int_equal(record->thread, 0x3abcde);
	assert_int_equal(record->context, KTRX_CONTEXT_INTERRUPT);
	assert_false(record->extended);
	assert_int_equal(record->stamp, fake.clock);
	assert_int_equal(payload_bits(record, 0, 4), 0x11111111);
	assert_int_equal(payload_bits(record, 4, 4), 0x22222222);
	assert_int_equal(payload_bits(record, 8, 8), 0x3333333344444444);
	assert_int_equal(payload_bits(record, 16, 4), 0);
}

/* A port may return -1, or the address of a thread, which have more bits than a record stores. */
static void a_wide_thread_id_is_cut(void **state)
{
	static const uint32_t wide[] = { 0xffffffff, 0xabcdef01 }, cut[] = { 0x3fffff, 0x0def01 };

	(void)state;
	for (size_t n = 0; n < 2; n++) {
		fake_reset(NULL);
		fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
		fake.thread = wide[n];
		KTRACE(test, none);
		assert_int_equal(only_record(1, "test.none")->thread, cut[n]);
		fake_reset(NULL);
		fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
		fake.thread = wide[n];
		KTRACE(test, string, 1, "longer than a slot", 2);
		assert_int_equal(only_record(1, "test.string")->thread, cut[n]);
	}
}

static void an_event_may_have_no_fields(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(test, none);
	assert_int_equal(only_record(1, "test.none")->slots, 1);
}

/*
 * This machine has no counter, so the clock is the number of timer ticks. It begins at 0, and does not
 * advance between ticks.
 */
static void a_coarse_clock_keeps_order(void **state)
{
	const struct checked_ring *checked;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	fake.step = 0;
	for (uint32_t n = 0; n < 300; n++) {
		fake.clock = n / 100;
		KTRACE(test, four, n, 0, 0);
	}
	checked = check_ring(1);
	assert_int_equal(checked->records, 300);
	assert_int_equal(checked->invalid, 0);
	assert_true(checked->anchors <= 2);
	for (uint32_t n = 0; n < 300; n++) {
		assert_int_equal(payload_bits(&checked->record[n], 0, 4), n);
		assert_int_equal(checked->record[n].stamp, n / 100);
	}
}

/* Although the clock stays at 0, only the first record has an anchor. */
static void a_clock_at_zero_takes_one_anchor(void **state)
{
	const struct checked_ring *checked;

	(void)state;
	fake.step = 0;
	fake.clock = 0;
	for (uint32_t n = 0; n < 10; n++)
		KTRACE(test, four, n, 0, 0);
	assert_int_equal(check_ring(0)->anchors, 1);
	fake_boot(512, KTRX_POLICY_STOP, 0);
	for (uint32_t n = 0; n < 10; n++)
		KTRACE(test, four, n, 0, 0);
	checked = check_ring(1);
	assert_int_equal(checked->anchors, 1);
	assert_int_equal(checked->records, 10);
	assert_int_equal(checked->record[9].stamp, 0);
}

static void fields_are_packed_in_natural_size(void **state)
{
	static const uint8_t expected[] = {
		0xff, 0xfe, 0xfd, 0xff, 0xfc, 0xff, 0xfb, 0xff, 0xff, 0xff, 0xfa, 0xff, 0xff, 0xff, 0xf9,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0x34, 0x12, 0,	  0,	0,    0,    0,	  0,	1,    'x',  0x70, 0x11, 1,    0,
	};
	const struct checked_record *record;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(test, types, -1, 0xfe, -3, 0xfffc, -5, 0xfffffffa, -7, UINT64_MAX - 7, (void *)0x1234, 55, 'x',
	       GREEN);
	record = only_record(1, "test.types");
	assert_int_equal(record->slots, 2);
	assert_memory_equal(record->payload, expected, sizeof(expected));
}

static void the_descriptor_describes_the_fields(void **state)
{
	static const uint8_t types[] = { KTRX_TYPE_I8,	    KTRX_TYPE_U8,   KTRX_TYPE_I16,  KTRX_TYPE_U16,
					 KTRX_TYPE_I32,	    KTRX_TYPE_U32,  KTRX_TYPE_I64,  KTRX_TYPE_U64,
					 KTRX_TYPE_POINTER, KTRX_TYPE_BOOL, KTRX_TYPE_CHAR, KTRX_TYPE_U32 };
	static const char strings[] = "test\0four\0%u %u %llu\0" __FILE__ "\0a\0\0b\0\0c\0ns";
	const struct ktrx_event *event = fake_event("test.types");

	(void)state;
	assert_int_equal(event->fields, 12);
	assert_memory_equal(event->type, types, sizeof(types));
	assert_int_equal(event->v1_id, KTRX_V1_NONE);
	assert_int_equal(fake_event("syscall.enter")->v1_id, 0);
	event = fake_event("test.four");
	assert_memory_equal(event + 1, strings, sizeof(strings));
	assert_int_equal(event->magic, KTRX_EVENT_MAGIC);
	assert_int_equal(event->size % 8, 0);
	assert_true(event->size >= sizeof(*event) + sizeof(strings));
}

static void a_system_call_takes_two_slots(void **state)
{
	const struct checked_record *record;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(syscall, enter, 59, 1, 2, 3, 4, 5, UINT64_C(0x6666666666666666));
	record = only_record(1, "syscall.enter");
	assert_int_equal(record->slots, 2);
	assert_int_equal(payload_bits(record, 0, 2), 59);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(payload_bits(record, 2 + 8 * i, 8), i + 1);
	assert_int_equal(payload_bits(record, 42, 8), UINT64_C(0x6666666666666666));
}

static void an_event_may_have_sixteen_fields(void **state)
{
	const struct checked_record *record;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(test, sixteen, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, -16);
	record = only_record(1, "test.sixteen");
	assert_int_equal(record->slots, 3);
	for (uint32_t i = 0; i < 15; i++)
		assert_int_equal(payload_bits(record, 4 * i, 4), i + 1);
	assert_int_equal(payload_bits(record, 60, 4), (uint32_t)-16);
}

static void a_string_is_copied(void **state)
{
	const struct checked_record *record;
	char text[8] = "abc";

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(test, string, 0x1234, text, 0x56789abc);
	memset(text, 'z', sizeof(text));
	record = only_record(1, "test.string");
	assert_int_equal(payload_bits(record, 0, 2), 0x1234);
	assert_int_equal(payload_bits(record, 2, 2), 3);
	assert_memory_equal(record->payload + 4, "abc", 3);
	assert_int_equal(payload_bits(record, 7, 4), 0x56789abc);
	for (uint32_t i = 11; i < record->size; i++)
		assert_int_equal(record->payload[i], 0);
}

static void a_null_string_is_recorded_as_null(void **state)
{
	const struct checked_record *record;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(test, string, 1, NULL, 2);
	record = only_record(1, "test.string");
	assert_int_equal(payload_bits(record, 2, 2), 6);
	assert_memory_equal(record->payload + 4, "(null)", 6);
}

static void a_long_string_is_cut_and_marked(void **state)
{
	const struct checked_record *record;
	char text[KTRACE_STRING_MAX + 2];

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	memset(text, 'q', sizeof(text));
	text[KTRACE_STRING_MAX + 1] = '\0';
	KTRACE(test, string, 1, text, 0xdeadbeef);
	record = only_record(1, "test.string");
	assert_int_equal(payload_bits(record, 2, 2), KTRACE_STRING_MAX | KTRX_STRING_CUT);
	assert_int_equal(payload_bits(record, 4 + KTRACE_STRING_MAX, 4), 0xdeadbeef);

	fake_reset(NULL);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	text[KTRACE_STRING_MAX] = '\0';
	KTRACE(test, string, 1, text, 0xdeadbeef);
	assert_int_equal(payload_bits(only_record(1, "test.string"), 2, 2), KTRACE_STRING_MAX);
}

/*
 * Five strings exceed the maximum size of a record. The last strings are truncated, and the number after them
 * is still correct.
 */
static void strings_share_the_room_of_a_record(void **state)
{
	const struct checked_record *record;
	char text[KTRACE_STRING_MAX + 1];
	uint32_t at = 0, total = 0;

	(void)state;
	memset(text, 'w', sizeof(text));
	text[KTRACE_STRING_MAX] = '\0';
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(test, strings, text, text, text, text, text, 0x12345678);
	record = only_record(1, "test.strings");
	assert_int_equal(record->slots, 8);
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t length = (uint32_t)payload_bits(record, at, 2);

		assert_int_equal(!!(length & KTRX_STRING_CUT), i >= 3);
		total += length & ~KTRX_STRING_CUT;
		at += 2 + (length & ~KTRX_STRING_CUT);
	}
	assert_int_equal(payload_bits(record, at, 4), 0x12345678);
	assert_int_equal(at + 4, KTRACE_PAYLOAD_MAX);
	assert_int_equal(total, KTRACE_PAYLOAD_MAX - 14);
}

static void text_events_take_their_types_from_the_arguments(void **state)
{
	const struct checked_record *record;
	const struct ktrx_event *event;
	uint16_t small = 0xbeef;
	char line[16];

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	snprintf(line, sizeof(line), "text.line%d", __LINE__ + 1);
	KTRACE_TEXT("small=%u text=%s", small, "ab");
	record = only_record(1, line);
	event = fake_event(line);
	assert_int_equal(event->type[0], KTRX_TYPE_U16);
	assert_int_equal(event->type[1], KTRX_TYPE_STRING);
	assert_int_equal(payload_bits(record, 0, 2), 0xbeef);
	assert_int_equal(payload_bits(record, 2, 2), 2);
	assert_memory_equal(record->payload + 4, "ab", 2);
}

static uint32_t evaluated;

static uint32_t evaluate(void)
{
	return ++evaluated;
}

static void arguments_are_evaluated_once_and_only_while_on(void **state)
{
	(void)state;
	evaluated = 0;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(test, four, evaluate(), 0, 0);
	assert_int_equal(evaluated, 1);
	KTRACE_IF(evaluate() == 0, test, four, evaluate(), 0, 0);
	assert_int_equal(evaluated, 2);
	assert_int_equal(ktrace_control("test.four=off"), 0);
	KTRACE(test, four, evaluate(), 0, 0);
	KTRACE_IF(evaluate(), test, four, evaluate(), 0, 0);
	assert_int_equal(evaluated, 2);
	assert_int_equal(check_ring(1)->records, 1);
}

static void the_boot_ring_is_used_before_init(void **state)
{
	const struct checked_record *record;

	(void)state;
	fake.cpu = 2;
	fake.thread = 99;
	KTRACE(test, four, 1, 2, 3);
	record = only_record(0, "test.four");
	assert_true(record->extended);
	assert_int_equal(record->context, KTRX_CONTEXT_EARLY);
	assert_int_equal(record->thread, 0);
	assert_int_equal(payload_bits(record, 0, 1), 4);
	assert_int_equal(payload_bits(record, 1, 1), KTRX_EXT_CPU);
	assert_int_equal(payload_bits(record, 2, 2), 2);
	assert_int_equal(payload_bits(record, 4, 4), 1);
	assert_int_equal(payload_bits(record, 12, 8), 3);
}

static uint32_t asked;

static uint32_t ask(uint32_t value)
{
	asked++;
	return value;
}

static void record_on_condition(int condition)
{
	KTRACE_IF(condition, test, none);
	KTRACE_IF(condition, test, four, ask(1), ask(2), 3);
	KTRACE_IF(condition, test, strings, "a", "b", "c", "d", "e", ask(6));
}

/*
 * Checks that a disabled event changes no byte of the rings, their descriptors and counts, and the reserve
 * words.
 */
static void a_false_condition_records_nothing(void **state)
{
	static struct {
		unsigned char memory[sizeof(fake_memory)];
		struct ktrace_slot boot[KTRACE_BOOT_SLOTS];
		struct ktrx_ring ring[KTRACE_RING_ROWS];
		struct fake_machine machine;
	} before;

	for (uint32_t booted = 0; booted < 2; booted++) {
		fake_reset(state);
		KTRACE(test, none);
		if (booted)
			fake_boot(512, KTRX_POLICY_OVERWRITE, 1);
		asked = 0;
		memcpy(before.memory, fake_memory, sizeof(fake_memory));
		memcpy(before.boot, ktrace_boot_slot, sizeof(before.boot));
		memcpy(before.ring, ktrace_ring, sizeof(before.ring));
		before.machine = fake;
		record_on_condition(0);
		assert_int_equal(asked, 0);
		assert_memory_equal(before.memory, fake_memory, sizeof(fake_memory));
		assert_memory_equal(before.boot, ktrace_boot_slot, sizeof(before.boot));
		assert_memory_equal(before.ring, ktrace_ring, sizeof(before.ring));
		assert_memory_equal(&before.machine, &fake, sizeof(fake));
		record_on_condition(1);
		assert_int_equal(asked, 3);
		assert_int_equal(check_ring(booted)->records, booted ? 3 : 4);
	}
}

static int is_asked(void)
{
	asked++;
	return 1;
}

static void the_condition_is_not_evaluated_while_the_event_is_off(void **state)
{
	(void)state;
	asked = 0;
	assert_int_equal(ktrace_control("test=off"), KTRACE_OK);
	KTRACE_IF(is_asked(), test, none);
	assert_int_equal(asked, 0);
	assert_int_equal(ktrace_control("test=on"), KTRACE_OK);
	KTRACE_IF(is_asked(), test, none);
	assert_int_equal(asked, 1);
}

/* This file and the core are compiled without frame pointers, or without KTRACE_FRAME_POINTERS. */
static void without_frame_pointers_only_sites_are_recorded(void **state)
{
	const struct checked_record *record;
	uintptr_t address;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	fake_event("test.four")->flags = 2 | KTRX_EVENT_SITE;
	ktrace_states_update();
	KTRACE(test, four, 1, 2, 3);
	record = only_record(1, "test.four");
	assert_int_equal(payload_bits(record, 0, 1), 12);
	assert_int_equal(payload_bits(record, 1, 1), KTRX_EXT_SITE);
	assert_int_equal(payload_bits(record, 12, 4), 1);
	assert_false(ktrace_has_backtrace());
	assert_int_equal(ktrace_backtrace(&address, 1), 0);
}

static void the_longest_record_fits_the_boot_ring(void **state)
{
	const struct checked_record *record;
	char text[KTRACE_STRING_MAX + 1];

	(void)state;
	memset(text, 'w', sizeof(text));
	text[KTRACE_STRING_MAX] = '\0';
	KTRACE(test, strings, text, text, text, text, text, 0x12345678);
	record = only_record(0, "test.strings");
	assert_int_equal(record->slots, 8);
	assert_int_equal(payload_bits(record, KTRX_RECORD_MAX_PAYLOAD - 4, 4), 0x12345678);
}

static void a_cpu_that_is_not_online_uses_the_boot_ring(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	fake.cpu = FAKE_CPUS; /* a reserve word of 0: the CPU is not online */
	KTRACE(test, four, 1, 2, 3);
	KTRACE(syscall, enter, 1, 2, 3, 4, 5, 6, 7);
	fake.cpu = 0;
	KTRACE_EARLY(test, four, 1, 2, 3);
	assert_int_equal(check_ring(0)->records, 3);
	assert_int_equal(check_ring(1)->produced, 0);
}

static void descriptors_are_numbered_in_order(void **state)
{
	uint16_t id = 0;

	(void)state;
	assert_int_equal(fake_event("test.four")->id, 0);
	KTRACE(test, none);
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event))
		assert_int_equal(event->id, ++id);
	assert_true(id >= 9);
}

static void the_root_is_valid_after_the_first_event(void **state)
{
	(void)state;
	assert_int_equal(ktrace_root.self, 0);
	KTRACE(test, none);
	assert_int_equal(ktrace_root.self, (uintptr_t)&ktrace_root);
	assert_int_equal(ktrace_root.checksum, ktrx_root_checksum(&ktrace_root));
	assert_int_not_equal(ktrace_root.nonce, 0);
	assert_int_equal(ktrace_root.sequence % 2, 0);
	assert_memory_equal(&ktrace_root, "KTRX\2\0\0\0", 8);
	assert_int_equal(ktrace_ring[0].first, (ktrace_root.nonce & 0xff) * KTRACE_BOOT_SLOTS);
	fake_boot(1024, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(ktrace_root.checksum, ktrx_root_checksum(&ktrace_root));
	assert_int_equal(ktrace_root.slots, 1024);
	assert_string_equal(ktrace_root.kernel, "fake");
}

static void interrupt_none(void)
{
	KTRACE(test, none);
}

/* While the first event is recorded, an interrupt or another CPU records another event. */
static void interrupts_may_come_while_attaching(void **state)
{
	for (int64_t n = 0;; n++) {
		fake_reset(state);
		fake_at(n, interrupt_none);
		KTRACE(test, four, 1, 2, 3);
		if (fake_points() <= n)
			break;
		assert_int_equal(ktrace_root.lost_events, 0);
		assert_int_equal(check_ring(0)->records, 2);
		assert_int_equal(check_ring(0)->invalid, 0);
		assert_int_equal(ktrace_root.checksum, ktrx_root_checksum(&ktrace_root));
		assert_int_equal(ktrace_root.sequence % 2, 0);
	}
}

static void another_cpu_boots(void)
{
	KTRACE(test, none);
	fake_boot(1024, KTRX_POLICY_OVERWRITE, 0);
	ktrace_clear();
	KTRACE(test, four, 1, 2, 3);
}

/*
 * A CPU is delayed while it attaches event descriptors. When it continues, it must not undo changes that
 * other CPUs have made during the delay.
 */
static void a_delayed_attach_undoes_nothing(void **state)
{
	for (int64_t n = 0;; n++) {
		uint64_t nonce;

		fake_reset(state);
		fake_at(n, another_cpu_boots);
		KTRACE(test, string, 1, "abc", 2);
		if (fake_points() <= n)
			break;
		nonce = ktrace_root.nonce;
		KTRACE(test, four, 1, 2, 3);
		assert_int_equal(ktrace_root.nonce, nonce);
		assert_int_equal(ktrace_ring[1].first, (nonce & 0xff) * 1024);
		assert_int_equal(ktrace_root.lost_events, 0);
		assert_int_equal(ktrace_root.section[0].length, (FAKE_CPUS + 1) * sizeof(struct ktrx_ring));
		assert_int_equal(ktrace_root.checksum, ktrx_root_checksum(&ktrace_root));
		assert_int_equal(fake_event("test.four")->header & KTRACE_HEADER_SLOW, 0);
		assert_int_equal(check_ring(0)->invalid + check_ring(1)->invalid, 0);
		assert_in_range(check_ring(0)->records + check_ring(1)->records, 2, 3);
	}
}

/*
 * The kernel has moved itself to a different address: the root and the boot ring have moved together with the
 * code.
 */
static void a_relocated_image_is_found(void **state)
{
	(void)state;
	KTRACE(test, none);
	ktrace_root.self = 0x1000;
	ktrace_ring[0].base = 0x2000;
	ktrace_ring[0].head = 0x3000;
	ktrace_root.section[0].address = 0x4000;
	KTRACE(test, none);
	assert_int_equal(ktrace_root.self, (uintptr_t)&ktrace_root);
	assert_int_equal(ktrace_root.section[0].address, (uintptr_t)ktrace_ring);
	assert_int_equal(ktrace_root.checksum, ktrx_root_checksum(&ktrace_root));
	assert_int_equal(check_ring(0)->records, 2);
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_record_has_thread_context_and_stamp),
		TEST(a_wide_thread_id_is_cut),
		TEST(an_event_may_have_no_fields),
		TEST(a_coarse_clock_keeps_order),
		TEST(a_clock_at_zero_takes_one_anchor),
		TEST(fields_are_packed_in_natural_size),
		TEST(the_descriptor_describes_the_fields),
		TEST(a_system_call_takes_two_slots),
		TEST(an_event_may_have_sixteen_fields),
		TEST(a_string_is_copied),
		TEST(a_null_string_is_recorded_as_null),
		TEST(a_long_string_is_cut_and_marked),
		TEST(strings_share_the_room_of_a_record),
		TEST(text_events_take_their_types_from_the_arguments),
		TEST(arguments_are_evaluated_once_and_only_while_on),
		TEST(the_boot_ring_is_used_before_init),
		TEST(a_false_condition_records_nothing),
		TEST(the_condition_is_not_evaluated_while_the_event_is_off),
		TEST(without_frame_pointers_only_sites_are_recorded),
		TEST(the_longest_record_fits_the_boot_ring),
		TEST(a_cpu_that_is_not_online_uses_the_boot_ring),
		TEST(descriptors_are_numbered_in_order),
		TEST(the_root_is_valid_after_the_first_event),
		TEST(a_relocated_image_is_found),
		TEST(interrupts_may_come_while_attaching),
		TEST(a_delayed_attach_undoes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
