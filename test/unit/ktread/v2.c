/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests version 2 dumps: which slots are decoded, which are refused, and that each slot is counted once. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support/ktread_sample.h"

static struct ktread *open_writer(struct writer *writer)
{
	struct bytes dump = { 0 };
	struct ktread *trace;

	writer_dump(writer, &dump);
	trace = open_ok(temporary_bytes(&dump), NULL);
	bytes_free(&dump);
	return trace;
}

static void names_and_texts_come_from_the_trace(void **state)
{
	struct writer writer;
	const struct ktread_event *event;
	struct ktread_value value;
	struct ktread *trace;
	char text[128];

	(void)state;
	begin(&writer, 3);
	bytes_append(&writer.syscalls, "2 open fd, path\n3 \n4  two\nfive 5", 32);
	put_switch(&writer, 1, 1000, 4);
	put_open(&writer, 2, 1001, "/etc/passwd and a path that takes several slots\n");
	put_switch(&writer, 1, 1002, 9);
	writer_record(&writer, 1, 1003, 99, 7, "unknown event", 14);
	trace = open_writer(&writer);
	assert_int_equal(ktread_info(trace)->version, 2);
	assert_int_equal(ktread_info(trace)->types, 2);
	assert_int_equal(ktread_info(trace)->unknown_sections, 1);
	assert_string_equal(ktread_info(trace)->kernel, "test 1.0");
	assert_string_equal(ktread_thread_name(trace, 7), "worker");
	assert_null(ktread_thread_name(trace, 8));
	assert_string_equal(ktread_syscall_name(trace, 1), "write");
	assert_string_equal(ktread_syscall_name(trace, 2), "open");
	for (uint32_t nameless = 3; nameless <= 5; nameless++)
		assert_null(ktread_syscall_name(trace, nameless));
	assert_int_equal(ktread_type_find(trace, "vfs", "open")->id, OPEN);

	assert_int_equal(ktread_next(trace, &event), 1);
	assert_int_equal(event->cpu, 0);
	assert_int_equal(event->thread, 7);
	ktread_format(event, text, sizeof(text));
	assert_string_equal(text, "4 -> 5 after -5 ns");
	assert_int_equal(ktread_next(trace, &event), 1);
	assert_int_equal(event->cpu, 1);
	ktread_format(event, text, sizeof(text));
	assert_string_equal(text, "open(/etc/passwd and a path that takes several slots\\x0a) = -2");
	assert_int_equal(ktread_value_named(event, "result", &value), 0);
	assert_int_equal((int64_t)value.number, -2);
	assert_int_equal(ktread_next(trace, &event), 1);
	assert_int_equal(ktread_next(trace, &event), 1);
	assert_string_equal(event->type->name, "UNKNOWN(99)");
	assert_int_equal(ktread_rewind(trace), 0);
	assert_int_equal(drain_exact(trace, 0), 4);
	writer_close(&writer);
}

static void overwritten_slots_are_counted(void **state)
{
	struct writer writer;
	const struct ktread_event *event;
	struct ktread *trace;

	(void)state;
	begin(&writer, 3);
	for (unsigned i = 0; i < 10 * SLOTS + 77; i++) {
		if (i % 3)
			put_switch(&writer, 1, 1000 + 10 * i, i);
		else
			put_open(&writer, 1, 1000 + 10 * i, "a path that is longer than one slot");
	}
	trace = open_writer(&writer);
	assert_int_equal(ktread_ring(trace, 1)->head, ktread_ring(trace, 1)->overwritten + SLOTS);
	assert_int_equal(ktread_next(trace, &event), 1);
	assert_true(event->lost >= ktread_ring(trace, 1)->overwritten);
	assert_int_equal(ktread_rewind(trace), 0);
	/* The oldest slot may be the second slot of a record whose first slot was overwritten. */
	assert_true(drain_exact(trace, writer_slot_at(&writer, 1, writer.ring[1].head)->word[0] % 8 ==
					       KTRX_KIND_LAST) > SLOTS / 2);
	writer_close(&writer);
}

static void trace_that_needs_a_later_reader_is_refused(void **state)
{
	struct ktread *trace = NULL;

	(void)state;
	for (unsigned bit = 0; bit < 32; bit++) {
		struct bytes dump = { 0 };
		struct writer writer;
		int result;

		begin(&writer, 2);
		put_switch(&writer, 1, 1000, 1);
		writer_dump(&writer, &dump);
		dump.data[offsetof(struct ktrx_root, flags) + bit / 8] |= (unsigned char)(1u << bit % 8);
		result = ktread_open(&trace, temporary_bytes(&dump), NULL);
		assert_int_equal(result, bit < 16 || 1u << bit == KTRX_FLAG_PLACES ? 0 : KTREAD_E_FORMAT);
		if (result == 0)
			assert_int_equal(drain_exact(trace, 0), 1);
		else
			assert_non_null(strstr(ktread_message(NULL), "features of a later version"));
		bytes_free(&dump);
		writer_close(&writer);
	}
}

static void slots_that_are_not_whole_are_invalid(void **state)
{
	struct writer writer;
	struct ktread *trace;
	const struct ktread_event *event;
	uint64_t index;

	(void)state;
	begin(&writer, 2);
	put_switch(&writer, 1, 1000, 1);
	writer_reserve(&writer, 1, 2); /* an incomplete record: 2 invalid slots */
	put_switch(&writer, 1, 1010, 2);
	index = put_open(&writer, 1, 1020, "this takes two slots, of which one is torn");
	writer_slot_at(&writer, 1, index + 1)->word[2] ^= 1; /* 2 invalid slots */
	index = put_open(&writer, 1, 1030, "this takes two slots, the first is too old");
	writer_slot_at(&writer, 1, index)->word[0] ^= 8; /* 2 invalid slots */
	index = put_switch(&writer, 1, 1040, 3);
	/* the two copies of the generation in the slot differ: 1 invalid slot */
	writer_slot_at(&writer, 1, index)->word[1] ^= 1u << 25;
	index = put_switch(&writer, 1, 1050, 4);
	writer_slot_at(&writer, 1, index)->word[0] = KTRX_KIND_VOID; /* 1 invalid slot */
	put_switch(&writer, 1, 1060, 5);
	index = put_open(&writer, 1, 1070, "the last record is not finished: its last slot is missing");
	writer_slot_at(&writer, 1, index + 2)->word[0] = 0; /* 3 invalid slots */
	trace = open_writer(&writer);
	assert_int_equal(ktread_next(trace, &event), 1);
	assert_int_equal(event->lost, 0);
	assert_int_equal(ktread_next(trace, &event), 1);
	assert_int_equal(event->lost, 2);
	assert_int_equal(ktread_next(trace, &event), 1);
	assert_int_equal(event->lost, 6);
	assert_int_equal(event->stamp, 1060);
	assert_int_equal(ktread_rewind(trace), 0);
	assert_int_equal(drain_exact(trace, 11), 3);
	writer_close(&writer);
}

static void stamps_are_extended_by_anchors(void **state)
{
	const uint64_t silence = UINT64_C(1) << 40;
	struct writer writer;
	struct ktread *trace;
	const struct ktread_event *event;

	(void)state;
	begin(&writer, 2);
	for (unsigned i = 0; i < SLOTS; i++)
		put_switch(&writer, 1, UINT64_C(0x123456789abcdef) + i * silence, i);
	trace = open_writer(&writer);
	/*
	 * There is an anchor before each record, so the ring has room for only half of the records. The older
	 * half was overwritten.
	 */
	for (unsigned i = SLOTS / 2; i < SLOTS; i++) {
		assert_int_equal(ktread_next(trace, &event), 1);
		assert_int_equal(event->stamp, UINT64_C(0x123456789abcdef) + i * silence);
	}
	assert_null(ktread_warning(trace));
	assert_int_equal(drain_exact(trace, 0), 0);
	writer_close(&writer);
}

static void missing_anchor_does_no_harm(void **state)
{
	struct writer writer;
	struct ktread *trace;
	const struct ktread_event *event;
	uint64_t index;

	(void)state;
	begin(&writer, 2);
	put_switch(&writer, 1, UINT64_C(0x7000000000000), 1);
	put_switch(&writer, 1, UINT64_C(0x7000000000000) + (UINT64_C(3) << 34), 2);
	index = writer.ring[1].row.anchor_index;
	put_switch(&writer, 1, UINT64_C(0x7000000000000) + (UINT64_C(6) << 34), 3);
	writer_slot_at(&writer, 1, index)->word[0] = KTRX_KIND_VOID;
	trace = open_writer(&writer);
	assert_non_null(strstr(ktread_warning(trace), "a full timestamp is missing"));
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(ktread_next(trace, &event), 1);
		assert_int_equal(event->stamp, UINT64_C(0x7000000000000) + (UINT64_C(3) << 34) * i);
	}
	assert_int_equal(drain_exact(trace, 1), 0);
	writer_close(&writer);
}

static void impossible_frequency_is_unknown(void **state)
{
	struct writer writer;
	struct ktread *trace;

	(void)state;
	begin(&writer, 2);
	put_switch(&writer, 1, 1000, 1);
	writer.root.frequency = KTREAD_FREQUENCY_MOST;
	trace = open_writer(&writer);
	assert_int_equal(ktread_info(trace)->frequency, KTREAD_FREQUENCY_MOST);
	assert_null(ktread_warning(trace));
	drain(trace);
	writer.root.frequency = KTREAD_FREQUENCY_MOST + 1;
	trace = open_writer(&writer);
	assert_int_equal(ktread_info(trace)->frequency, 0);
	assert_non_null(strstr(ktread_warning(trace), "1000000000001 Hz"));
	drain(trace);
	writer_close(&writer);
}

/* Writes two events that are `ticks` apart. Returns true if the reader warns about this distance. */
static bool warns_about_distance(uint64_t frequency, uint64_t ticks)
{
	struct writer writer;
	struct ktread *trace;
	const struct ktread_event *event;
	bool warned = false;

	begin(&writer, 2);
	writer.root.frequency = frequency;
	put_switch(&writer, 1, 1000, 1);
	put_switch(&writer, 1, 1000 + ticks, 1);
	trace = open_writer(&writer);
	while (ktread_next(trace, &event) > 0)
		;
	for (const char *text; (text = ktread_warning(trace));)
		warned |= strstr(text, "more than 292 years after the first") != NULL;
	ktread_close(trace);
	writer_close(&writer);
	return warned;
}

static void times_that_do_not_fit_are_reported(void **state)
{
	(void)state;
	assert_false(warns_about_distance(1000000000, INT64_MAX));
	assert_true(warns_about_distance(1000000000, (uint64_t)INT64_MAX + 1));
	assert_true(warns_about_distance(1000, UINT64_C(10000000000000)));
	assert_false(warns_about_distance(1000, UINT64_C(1000000000000)));
	assert_false(warns_about_distance(UINT64_C(1000000000000), UINT64_MAX - 2000));
	assert_false(warns_about_distance(0, UINT64_MAX - 2000));
}

static void nested_records_are_put_in_order(void **state)
{
	struct writer writer;

	(void)state;
	begin(&writer, 2);
	for (unsigned i = 0; i < 5 * SLOTS; i++)
		put_switch(&writer, 1, 1000 + 10 * (i / 16 * 16 + 15 - i % 16), i);
	assert_true(drain_exact(open_writer(&writer), 0) == SLOTS);
	writer_close(&writer);
}

static void few_records_are_put_in_order(void **state)
{
	(void)state;
	for (unsigned records = 2; records <= 64; records++) {
		struct writer writer;

		begin(&writer, 2);
		for (unsigned i = 0; i < records; i++)
			put_switch(&writer, 1, 1000 + 10 * (records - i), i);
		assert_true(drain_exact(open_writer(&writer), 0) == records);
		writer_close(&writer);
	}
}

static void put_shared(struct writer *writer, uint16_t cpu, uint64_t stamp)
{
	unsigned char payload[20] = { 4, KTRX_EXT_CPU };

	memcpy(payload + 2, &cpu, sizeof(cpu));
	writer_record_extended(writer, 0, stamp, SWITCH, 3, payload, sizeof(payload));
}

/*
 * In a shared ring, CPU `first` records 200 events, and then CPU 2 does, whose clock shows an earlier time.
 * Returns how often the reader returns an event that is earlier than the event before it.
 */
static unsigned descents(uint16_t first)
{
	const struct ktread_event *event;
	struct writer writer;
	struct ktread *trace;
	uint64_t last = 0;
	unsigned found = 0;

	begin(&writer, 2);
	for (unsigned i = 0; i < 200; i++)
		put_shared(&writer, first, 9000 + i);
	for (unsigned i = 0; i < 200; i++)
		put_shared(&writer, 2, 1000 + i);
	trace = open_writer(&writer);
	for (; ktread_next(trace, &event) > 0; last = event->stamp)
		found += event->stamp < last;
	ktread_close(trace);
	writer_close(&writer);
	return found;
}

/* If all records are of one CPU, its clock went back. */
static void records_of_different_cpus_are_put_in_order_in_a_shared_ring(void **state)
{
	(void)state;
	assert_int_equal(descents(1), 0);
	assert_true(descents(2) > 0);
}

static void extension_block_is_decoded(void **state)
{
	struct writer writer;
	struct ktread *trace;
	const struct ktread_event *event;
	char text[64];
	unsigned char payload[64] = { 24, KTRX_EXT_CPU | KTRX_EXT_CALLER1 | KTRX_EXT_CALLER2, 5, 0 };
	uint64_t callers[2] = { 0x1111, 0x2222 };
	uint32_t fields[4] = { 1, 2, 3, 0 };
	int64_t offset[6] = { 0, 0, 0, 0, 0, 100 };

	(void)state;
	begin(&writer, 2);
	bytes_append(&writer.offsets, offset, sizeof(offset));
	memcpy(payload + 4, callers, sizeof(callers));
	memcpy(payload + 24, fields, sizeof(fields));
	writer_record_extended(&writer, 0, 5000, SWITCH, 3, payload, 40);
	trace = open_writer(&writer);
	assert_int_equal(ktread_next(trace, &event), 1);
	assert_int_equal(event->cpu, 5);
	assert_int_equal(event->stamp, 5100);
	assert_int_equal(event->callers, 2);
	assert_int_equal(event->caller[1], 0x2222);
	ktread_format(event, text, sizeof(text));
	assert_string_equal(text, "1 -> 2 after 3 ns");
	assert_int_equal(drain_exact(trace, 0), 0);
	writer_close(&writer);
}

/* Each part of an extension block has a bit. A part that does not fit into the block is ignored. */
static void extension_parts_are_decoded_by_their_bits(void **state)
{
	static const struct {
		unsigned char size, parts;
		uint32_t callers;
		uint64_t caller, site;
	} cases[] = {
		{ 12, KTRX_EXT_SITE, 0, 0, 0x1111 },
		{ 20, KTRX_EXT_CALLER1 | KTRX_EXT_SITE, 1, 0x1111, 0x2222 },
		{ 20, KTRX_EXT_CALLER2 | KTRX_EXT_SITE, 1, 0x1111, 0x2222 },
		{ 16, KTRX_EXT_REPEAT | KTRX_EXT_SITE, 0, 0, UINT64_C(0x222200000000) },
		{ 12, KTRX_EXT_CALLER1 | KTRX_EXT_SITE, 1, 0x1111, 0 },
		{ 4, KTRX_EXT_CALLER1 | KTRX_EXT_SITE, 0, 0, 0 },
		{ 28, KTRX_EXT_SITE | 0xe0, 0, 0, 0x1111 },
	};
	uint64_t words[3] = { 0x1111, 0x2222, 0x3333 };
	struct writer writer;
	struct ktread *trace;
	const struct ktread_event *event;

	(void)state;
	begin(&writer, 2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char payload[64] = { cases[i].size, cases[i].parts };

		memcpy(payload + 4, words, sizeof(words));
		writer_record_extended(&writer, 1, 5000 + i, SWITCH, 3, payload, 48);
	}
	trace = open_writer(&writer);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(ktread_next(trace, &event), 1);
		assert_int_equal(event->callers, cases[i].callers);
		assert_true(event->callers == 0 || event->caller[0] == cases[i].caller);
		assert_int_equal(event->site, cases[i].site);
	}
	assert_int_equal(drain_exact(trace, 0), 0);
	writer_close(&writer);
}

static void truncated_dumps_are_read(void **state)
{
	struct writer writer;
	struct bytes dump = { 0 };
	struct ktread *trace;

	(void)state;
	begin(&writer, 3);
	for (unsigned i = 0; i < 2 * SLOTS; i++)
		put_switch(&writer, 1 + i % 2, 1000 + i, i);
	writer_dump(&writer, &dump);
	for (size_t size = 0; size < dump.size; size += 97) {
		if (ktread_open(&trace, temporary(dump.data, size), NULL) < 0) {
			assert_true(size < sizeof(struct ktrx_root));
			continue;
		}
		assert_non_null(ktread_warning(trace));
		while (ktread_next(trace, &(const struct ktread_event *){ NULL }) > 0)
			;
		for (uint32_t n = 0; n < ktread_info(trace)->rings; n++) {
			const struct ktread_ring *ring = ktread_ring(trace, n);

			assert_int_equal(ring->head, ring->overwritten + ring->decoded + ring->invalid);
		}
		ktread_close(trace);
	}
	bytes_free(&dump);
	writer_close(&writer);
}

/* The last ring is at the end of the file. Without the end of the file its newest slots are unknown. */
static void cut_off_end_is_counted(void **state)
{
	struct writer writer;
	struct bytes dump = { 0 };
	struct ktread *trace;
	uint64_t produced = 0;

	(void)state;
	begin(&writer, 3);
	for (unsigned i = 0; i < SLOTS; i++)
		put_switch(&writer, 1 + i % 2, 1000 + i, i);
	writer_dump(&writer, &dump);
	for (unsigned cut = 0; cut < 2; cut++) {
		size_t missing = cut * (SLOTS - produced + 3) * KTRX_SLOT_SIZE;

		assert_int_equal(ktread_open(&trace, temporary(dump.data, dump.size - missing), NULL), 0);
		while (ktread_next(trace, &(const struct ktread_event *){ NULL }) > 0)
			;
		assert_int_equal(ktread_ring(trace, 1)->cut, 0);
		assert_int_equal(ktread_ring(trace, 2)->cut, cut * 3);
		produced = ktread_ring(trace, 2)->head;
		ktread_close(trace);
	}
	bytes_free(&dump);
	writer_close(&writer);
}

static void last_of_several_dumps_is_used(void **state)
{
	struct writer writer;
	struct bytes dump = { 0 };
	struct ktread *trace;

	(void)state;
	begin(&writer, 2);
	put_switch(&writer, 1, 1000, 1);
	writer_dump(&writer, &dump);
	put_switch(&writer, 1, 1010, 2);
	writer_dump(&writer, &dump);
	trace = open_ok(temporary_bytes(&dump), NULL);
	assert_int_equal(ktread_info(trace)->dumps, 2);
	assert_int_equal(drain_exact(trace, 0), 2);
	trace = open_ok(temporary(dump.data, dump.size - 100), NULL);
	assert_int_equal(ktread_info(trace)->dumps, 1);
	assert_int_equal(drain_exact(trace, 0), 1);
	bytes_free(&dump);
	writer_close(&writer);
}

/*
 * A trace with the maximum number of rings is read, with a warning about the memory that the reader needs. If
 * there are few rings, there is no warning.
 */
static void largest_number_of_rings_is_read(void **state)
{
	(void)state;
	for (uint32_t rings = 65; rings <= KTRX_MAX_RINGS; rings += KTRX_MAX_RINGS - 65) {
		struct writer writer;
		struct ktread *trace;
		const char *warning;

		begin(&writer, rings);
		for (uint32_t ring = 1; ring < rings; ring++)
			for (uint32_t n = 0; n < 64; n++)
				put_switch(&writer, ring, 1000 + n * rings + ring, n);
		trace = open_writer(&writer);
		warning = ktread_warning(trace);
		assert_true(rings == 65 ? !warning : warning && strstr(warning, "MiB of memory"));
		assert_int_equal(drain_exact(trace, 0), (rings - 1) * 64);
		writer_close(&writer);
	}
}

/*
 * Some fields are declared without a name. The name of another field begins like a name that the reader
 * generates.
 */
static void fields_with_the_same_name_are_numbered(void **state)
{
	static const uint8_t types[] = { KTRX_TYPE_U32, KTRX_TYPE_U32, KTRX_TYPE_U32, KTRX_TYPE_U32, 0 };
	static const char strings[] = "old\0forms\0\0old.c\0int\0\0int *\0\0int\0\0#-\0";
	struct writer writer;
	const struct ktread_type *type;
	struct ktread *trace;

	(void)state;
	begin(&writer, 2);
	writer_event(&writer, types, strings, sizeof(strings));
	trace = open_writer(&writer);
	type = ktread_type(trace, 3);
	assert_int_equal(type->fields, 4);
	assert_string_equal(type->field[0].name, "int");
	assert_string_equal(type->field[1].name, "int *");
	assert_string_equal(type->field[2].name, "#3");
	assert_string_equal(type->field[3].name, "#4");
	ktread_close(trace);
	writer_close(&writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_texts_come_from_the_trace),
		cmocka_unit_test(overwritten_slots_are_counted),
		cmocka_unit_test(trace_that_needs_a_later_reader_is_refused),
		cmocka_unit_test(slots_that_are_not_whole_are_invalid),
		cmocka_unit_test(stamps_are_extended_by_anchors),
		cmocka_unit_test(missing_anchor_does_no_harm),
		cmocka_unit_test(impossible_frequency_is_unknown),
		cmocka_unit_test(times_that_do_not_fit_are_reported),
		cmocka_unit_test(nested_records_are_put_in_order),
		cmocka_unit_test(few_records_are_put_in_order),
		cmocka_unit_test(records_of_different_cpus_are_put_in_order_in_a_shared_ring),
		cmocka_unit_test(extension_block_is_decoded),
		cmocka_unit_test(extension_parts_are_decoded_by_their_bits),
		cmocka_unit_test(cut_off_end_is_counted),
		cmocka_unit_test(truncated_dumps_are_read),
		cmocka_unit_test(last_of_several_dumps_is_used),
		cmocka_unit_test(largest_number_of_rings_is_read),
		cmocka_unit_test(fields_with_the_same_name_are_numbered),
	};

	return cmocka_run_group_tests_name("ktread v2", tests, NULL, temporary_teardown);
}
