/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/dump_support.h"

static const struct ktrx1_header *header_of(const struct dump_sink *dump)
{
	return (const struct ktrx1_header *)(const void *)dump->bytes;
}

static const struct ktrx1_record *records_of(const struct dump_sink *dump)
{
	return (const struct ktrx1_record *)(const void *)(dump->bytes + sizeof(struct ktrx1_header));
}

static unsigned filled(const struct dump_sink *dump)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < header_of(dump)->slots; i++)
		count += records_of(dump)[i].stamp != 0;
	return count;
}

static void the_header_has_the_documented_fields(void **state)
{
	static const uint8_t zero[32];
	struct dump_sink *dump = dump_sink_fresh(4096);
	uint32_t omitted;

	(void)state;
	assert_int_equal(ktrace_dump_v1(&ktrace_root, &dump->sink, &omitted), 0);
	assert_memory_equal(header_of(dump)->magic, "KTRX", 4);
	assert_int_equal(header_of(dump)->version, 1);
	assert_int_equal(header_of(dump)->frequency, 1000000000);
	assert_int_equal(header_of(dump)->cpus, 1);
	assert_int_equal(header_of(dump)->record_size, 32);
	assert_int_equal(header_of(dump)->flags, 0);
	assert_memory_equal(header_of(dump)->reserved, zero, 32);
	assert_int_equal(dump->count, 64 + 32 * header_of(dump)->slots);
	assert_int_equal(dump->announced, dump->count);
}

/*
 * Each record in the boot ring has an extension block. So the arguments of a system call need a second slot.
 */
static void a_system_call_in_the_boot_ring_keeps_its_arguments(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(4096);
	const struct ktrx1_record *record = records_of(dump);
	uint32_t omitted;

	(void)state;
	assert_int_equal(ktrace_dump_v1(&ktrace_root, &dump->sink, &omitted), 0);
	assert_int_equal(omitted, 1); /* the event "text" has no id in version 1 */
	assert_int_equal(filled(dump), 1);
	assert_int_equal(record->header, KTRX1_HEADER(KTRX1_SYSCALL_ENTER, 0, 0, 0));
	assert_int_equal(record->data[0], 59);
	assert_int_equal(record->data[1], 0x55667788);
	assert_int_equal(record->data[2], 0x11223344);
	assert_int_equal(record->data[3], 2);
	assert_int_equal(record->data[4], 0);
}

static void rings_are_a_power_of_two_and_padded_with_empty_records(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(4096);
	uint32_t omitted;

	(void)state;
	dump_trace_switches(99);
	assert_int_equal(ktrace_dump_v1(&ktrace_root, &dump->sink, &omitted), 0);
	assert_int_equal(filled(dump), 100);
	assert_int_equal(header_of(dump)->slots, 128);
	assert_int_equal(records_of(dump)[1].header, KTRX1_HEADER(KTRX1_CTX_SWITCH, 0, 0, 0));
	assert_int_equal(records_of(dump)[1].data[1], records_of(dump)[1].data[0] + 1);
	for (unsigned i = 1; i < 100; i++)
		assert_true(records_of(dump)[i].stamp >= records_of(dump)[i - 1].stamp);
}

static void a_full_ring_gives_its_newest_records(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(4096);
	uint32_t omitted, last;

	(void)state;
	dump_trace_switches(5000);
	assert_int_equal(ktrace_dump_v1(&ktrace_root, &dump->sink, &omitted), 0);
	assert_in_range(filled(dump), DUMP_RING_SLOTS, DUMP_RING_SLOTS + 1);
	last = filled(dump) - 1;
	assert_int_equal(records_of(dump)[last].data[0], records_of(dump)[1].data[0] + last - 1);
}

static void record_laps(void)
{
	dump_trace_switches(3 * DUMP_RING_SLOTS);
}

static void slots_overwritten_during_the_dump_are_empty(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(2048);
	uint32_t omitted;

	(void)state;
	dump->during_write = record_laps;
	assert_int_equal(ktrace_dump_v1(&ktrace_root, &dump->sink, &omitted), 0);
	assert_int_equal(dump->count, 64 + 32 * header_of(dump)->slots);
	assert_in_range(filled(dump), 1, 200);
	for (unsigned i = 2; i < filled(dump); i++)
		assert_int_equal(records_of(dump)[i].data[0], records_of(dump)[i - 1].data[0] + 1);
}

static void a_long_system_call_is_read_from_the_cpus_ring(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(4096);
	const struct ktrx1_record *last;
	uint32_t omitted;

	(void)state;
	dump_trace_syscall(0x1ff, UINT64_C(0xfffffffffffffffe), UINT64_C(0x123456789abcdef0));
	assert_int_equal(ktrace_dump_v1(&ktrace_root, &dump->sink, &omitted), 0);
	last = &records_of(dump)[filled(dump) - 1];
	assert_int_equal(last->data[0], 0x1ff);
	assert_int_equal(last->data[1], 0xfffffffe);
	assert_int_equal(last->data[2], 0xffffffff);
	assert_int_equal(last->data[3], 0x9abcdef0);
	assert_int_equal(last->data[4], 0x12345678);
}

static void events_without_a_v1_id_are_counted(void **state)
{
	struct dump_sink *dump = dump_sink_fresh(4096);
	uint32_t before, after;

	(void)state;
	assert_int_equal(ktrace_dump_v1(&ktrace_root, &dump->sink, &before), 0);
	for (unsigned i = 0; i < 7; i++)
		dump_trace_text("left out");
	dump = dump_sink_fresh(4096);
	assert_int_equal(ktrace_dump_v1(&ktrace_root, &dump->sink, &after), 0);
	assert_int_equal(after, before + 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_has_the_documented_fields),
		cmocka_unit_test(a_system_call_in_the_boot_ring_keeps_its_arguments),
		cmocka_unit_test(rings_are_a_power_of_two_and_padded_with_empty_records),
		cmocka_unit_test(a_full_ring_gives_its_newest_records),
		cmocka_unit_test(slots_overwritten_during_the_dump_are_empty),
		cmocka_unit_test(a_long_system_call_is_read_from_the_cpus_ring),
		cmocka_unit_test(events_without_a_v1_id_are_counted),
	};

	return cmocka_run_group_tests(tests, dump_trace_start, NULL);
}
