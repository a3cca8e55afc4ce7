/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests version 1 dumps that are complete, concatenated, truncated, damaged or out of order, and records
 * without a dump header.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/support/ktread_support.h"
#include "ktread/versions.h"

#define SLOTS 16u

/* Makes a ring whose oldest record is in slot `start`. The timestamps begin at `first` and increase by 10. */
static void ring(struct bytes *dump, uint32_t cpu, uint64_t first, uint32_t start)
{
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		v1_record(dump, first + 10 * ((slot + SLOTS - start) % SLOTS), KTRX1_CTX_SWITCH, cpu, cpu + 5,
			  slot);
}

static void two_rings(struct bytes *dump, uint64_t first)
{
	v1_header(dump, 2, SLOTS);
	ring(dump, 0, first, 5);
	ring(dump, 1, first + 5, 0);
}

static uint64_t count_events(const struct bytes *bytes)
{
	return drain(open_ok(temporary_bytes(bytes), NULL));
}

static void rotated_rings_are_merged(void **state)
{
	struct bytes dump = { 0 };
	const struct ktread_event *event;
	struct ktread *trace;

	(void)state;
	two_rings(&dump, 1000);
	trace = open_ok(temporary_bytes(&dump), NULL);
	assert_int_equal(ktread_info(trace)->frequency, 1000000);
	assert_int_equal(ktread_info(trace)->cpus, 2);
	assert_int_equal(ktread_first_stamp(trace), 1000);
	for (unsigned i = 0; i < 2 * SLOTS; i++) {
		assert_int_equal(ktread_next(trace, &event), 1);
		assert_int_equal(event->stamp, 1000 + 5 * i);
		assert_int_equal(event->cpu, i % 2);
		assert_int_equal(event->thread, 5 + i % 2);
		assert_int_equal(event->index, i / 2);
		assert_string_equal(event->type->name, "CTX_SWITCH");
	}
	assert_int_equal(ktread_next(trace, &event), 0);
	assert_int_equal(ktread_ring(trace, 0)->head, SLOTS);
	assert_int_equal(ktread_ring(trace, 0)->decoded, SLOTS);
	assert_int_equal(ktread_rewind(trace), 0);
	assert_int_equal(drain(trace), 2 * SLOTS);
	bytes_free(&dump);
}

static void last_complete_dump_is_used(void **state)
{
	struct bytes dump = { 0 };
	struct ktread *trace;

	(void)state;
	two_rings(&dump, 1000);
	two_rings(&dump, 9000);
	trace = open_ok(temporary_bytes(&dump), NULL);
	assert_int_equal(ktread_info(trace)->dumps, 2);
	assert_int_equal(ktread_first_stamp(trace), 9000);
	ktread_close(trace);

	/* A third dump is truncated, so the second dump is used. */
	two_rings(&dump, 20000);
	trace = open_ok(temporary(dump.data, dump.size - 100), NULL);
	assert_int_equal(ktread_info(trace)->dumps, 2);
	assert_int_equal(ktread_first_stamp(trace), 9000);
	ktread_close(trace);
	bytes_free(&dump);
}

static void dump_cut_short_by_the_next_one_is_skipped(void **state)
{
	struct bytes dump = { 0 };
	struct ktread *trace;

	(void)state;
	two_rings(&dump, 1000);
	dump.size = 200;
	two_rings(&dump, 9000);
	trace = open_ok(temporary_bytes(&dump), NULL);
	assert_int_equal(ktread_info(trace)->dumps, 1);
	assert_int_equal(ktread_info(trace)->offset, 200);
	assert_int_equal(ktread_first_stamp(trace), 9000);
	assert_int_equal(drain(trace), 2 * SLOTS);
	bytes_free(&dump);
}

static void truncated_tail_is_read(void **state)
{
	struct bytes dump = { 0 };
	struct ktread *trace;

	(void)state;
	two_rings(&dump, 1000);
	for (size_t size = 0; size < dump.size; size++) {
		const char *path = temporary(dump.data, size);

		if (size < sizeof(struct ktrx1_header)) {
			assert_int_equal(ktread_open(&trace, path, NULL), KTREAD_E_FORMAT);
			assert_non_null(strstr(ktread_message(NULL), path));
			continue;
		}
		trace = open_ok(path, NULL);
		assert_non_null(ktread_warning(trace));
		assert_int_equal(drain(trace), (size - sizeof(struct ktrx1_header)) / 32);
	}
	bytes_free(&dump);
}

static void magic_in_a_payload_is_no_header(void **state)
{
	struct bytes dump = { 0 };
	struct ktrx1_header header = { { 'K', 'T', 'R', 'X' }, 1, 1, 1, 1, 32, 0, { 0 } };
	struct ktread *trace;

	(void)state;
	two_rings(&dump, 1000);
	memcpy(dump.data + sizeof(header) + 12, &header, 20);
	/* The last two records of a ring contain bytes that together look like a valid header. */
	memcpy(dump.data + dump.size - 64, &header, sizeof(header));
	trace = open_ok(temporary_bytes(&dump), NULL);
	assert_int_equal(ktread_info(trace)->dumps, 1);
	assert_int_equal(ktread_info(trace)->offset, 0);
	assert_int_equal(ktread_ring(trace, 1)->slots, SLOTS);
	ktread_close(trace);
	bytes_free(&dump);
}

static void empty_slots_are_skipped(void **state)
{
	struct bytes dump = { 0 };

	(void)state;
	v1_header(&dump, 2, SLOTS);
	for (unsigned i = 0; i < 4; i++)
		v1_record(&dump, i == 2 ? 0 : 100 + i, KTRX1_WAITQ_SLEEP, 0, 1, 0);
	bytes_grow(&dump, sizeof(struct ktrx1_header) + 2 * SLOTS * 32);
	assert_int_equal(count_events(&dump), 3);
	bytes_free(&dump);
}

static void unsorted_ring_is_sorted(void **state)
{
	struct bytes dump = { 0 };
	struct ktread *trace;

	(void)state;
	v1_header(&dump, 1, SLOTS);
	for (unsigned i = 0; i < SLOTS; i++)
		v1_record(&dump, 1000 + i * 7 % SLOTS, KTRX1_WAITQ_SLEEP, 0, 1, 0);
	trace = open_ok(temporary_bytes(&dump), NULL);
	assert_non_null(strstr(ktread_warning(trace), "not in order"));
	assert_int_equal(drain(trace), SLOTS);
	bytes_free(&dump);
}

static void damaged_headers_are_explained(void **state)
{
	struct bytes dump = { 0 };
	struct ktread *trace;

	(void)state;
	two_rings(&dump, 1000);
	((struct ktrx1_header *)dump.data)->record_size = 48;
	assert_int_equal(ktread_open(&trace, temporary_bytes(&dump), NULL), KTREAD_E_FORMAT);
	assert_non_null(strstr(ktread_message(NULL), "records of 48 bytes"));
	((struct ktrx1_header *)dump.data)->version = 9;
	assert_int_equal(ktread_open(&trace, temporary_bytes(&dump), NULL), KTREAD_E_FORMAT);
	assert_non_null(strstr(ktread_message(NULL), "unknown version 9"));
	assert_int_equal(ktread_open(&trace, temporary("abc", 3), NULL), KTREAD_E_FORMAT);
	assert_int_equal(ktread_open(&trace, temporary("", 0), NULL), KTREAD_E_FORMAT);
	assert_non_null(strstr(ktread_message(NULL), "empty"));
	assert_int_equal(ktread_open(&trace, "/tmp", NULL), KTREAD_E_FORMAT);
	assert_non_null(strstr(ktread_message(NULL), "directory"));
	assert_int_equal(ktread_open(&trace, "/nonexistent", NULL), KTREAD_E_SYSTEM);
	assert_int_equal(ktread_open(&trace, temporary("\x1f\x8b a compressed file", 20), NULL),
			 KTREAD_E_UNSUPPORTED);
	assert_non_null(strstr(ktread_message(NULL), "gzip"));
	bytes_free(&dump);
}

static void bytes_before_the_first_dump_are_counted(void **state)
{
	struct bytes dump = { 0 };
	struct ktread *trace;

	(void)state;
	bytes_append(&dump, "boot messages", 13);
	two_rings(&dump, 1000);
	trace = open_ok(temporary_bytes(&dump), NULL);
	assert_int_equal(ktread_info(trace)->skipped_bytes, 13);
	assert_int_equal(ktread_info(trace)->offset, 13);
	assert_int_equal(drain(trace), 2 * SLOTS);
	bytes_free(&dump);
}

static void padding_is_no_damage(void **state)
{
	struct bytes dump = { 0 };
	struct ktread *trace;

	(void)state;
	two_rings(&dump, 1000);
	bytes_grow(&dump, 1 << 20);
	trace = open_ok(temporary_bytes(&dump), NULL);
	assert_null(ktread_warning(trace));
	assert_int_equal(ktread_info(trace)->dumps, 1);
	assert_int_equal(drain(trace), 2 * SLOTS);
	bytes_free(&dump);
}

static void briefs_have_the_same_events(void **state)
{
	struct bytes dump = { 0 };
	struct ktread_brief brief[5];
	struct ktread *trace;
	int got, count = 0;

	(void)state;
	two_rings(&dump, 1000);
	trace = open_ok(temporary_bytes(&dump), NULL);
	while ((got = ktread_next_briefs(trace, brief, 5)) > 0) {
		assert_int_equal(brief[0].id, KTRX1_CTX_SWITCH);
		assert_int_equal(brief[got - 1].cpu, count >= (int)SLOTS);
		count += got;
	}
	assert_int_equal(got, 0);
	assert_int_equal(count, 2 * SLOTS);
	assert_int_equal(ktread_rewind(trace), 0);
	assert_int_equal(drain(trace), 2 * SLOTS);
	bytes_free(&dump);
}

static void layout_option_selects_the_fields(void **state)
{
	struct bytes dump = { 0 };
	struct ktread_options options = { .size = sizeof(options) };
	struct ktread *trace;
	const struct ktread_event *event;
	struct ktread_value value;
	char text[64];

	(void)state;
	v1_header(&dump, 1, 2);
	v1_record(&dump, 1, KTRX1_NET_SEND, 0, 1, 77);
	v1_record(&dump, 2, 900, 0, 1, 255);
	trace = open_ok(temporary_bytes(&dump), &options);
	assert_int_equal(ktread_next(trace, &event), 1);
	assert_int_equal(ktread_value_named(event, "len", &value), 0);
	assert_int_equal(value.number, 1);
	ktread_format(event, text, sizeof(text));
	assert_string_equal(text, "fd=77 len=1 result=2");
	assert_int_equal(event->type->state, KTRX_STATE_RECORD);
	assert_int_equal(event->type->wanted, KTRX_STATE_RECORD);
	assert_int_equal(event->type->thread_bits, KTRX1_PID_MASK);
	assert_int_equal(ktread_next(trace, &event), 1);
	assert_string_equal(event->type->name, "UNKNOWN(900)");
	assert_null(ktread_type(trace, 900));
	ktread_format(event, text, sizeof(text));
	assert_string_equal(text, "d0=0xff d1=0x1 d2=0x2 d3=0x3 d4=0x4");
	ktread_close(trace);

	options.v1_layout = KTREAD_V1_SPEC;
	trace = open_ok(temporary_bytes(&dump), &options);
	assert_int_equal(ktread_next(trace, &event), 1);
	assert_int_equal(ktread_value_named(event, "len", &value), 0);
	assert_int_equal(value.number, 77);
	ktread_close(trace);
	bytes_free(&dump);
}

static void bare_records_need_a_frequency(void **state)
{
	struct bytes stream = { 0 };
	struct ktread_options options = { .size = sizeof(options), .form = KTREAD_FORM_BARE };
	struct ktread *trace;

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		v1_record(&stream, 100 + (i ^ 1), KTRX1_WAITQ_SLEEP, i % 2, 1, 0);
	bytes_append(&stream, "cut", 3);
	assert_int_equal(ktread_open(&trace, temporary_bytes(&stream), &options), KTREAD_E_ARGUMENT);
	options.frequency = 1000;
	trace = open_ok(temporary_bytes(&stream), &options);
	assert_int_equal(ktread_info(trace)->skipped_bytes, 3);
	assert_int_equal(drain(trace), 10);
	bytes_free(&stream);
}

/*
 * In a large dump, the reader searches for the oldest slot by probes. This test applies that search to a
 * small dump.
 */
static void probes_find_the_start_of_a_ring(void **state)
{
	const unsigned slots = 256;

	(void)state;
	for (unsigned start = 0; start < slots; start++) {
		struct bytes records = { 0 };
		struct ktread_memory *memory;
		struct ktread_v1_ring ring = { .slots = slots };

		for (unsigned slot = 0; slot < slots; slot++)
			v1_record(&records, 1000 + (slot + slots - start) % slots, 0, 0, 0, 0);
		if (start > slots / 2) /* the ring is not full: its last slots are empty */
			memset(records.data + start * sizeof(struct ktrx1_record), 0,
			       (slots - start) * sizeof(struct ktrx1_record));
		assert_int_equal(ktread_source_open_file(&memory, temporary_bytes(&records)), 0);
		ring.memory = memory;
		assert_int_equal(ktread_v1_ring_survey(&ring, false), 0);
		assert_int_equal(ring.start, start > slots / 2 ? 0 : start);
		assert_false(ring.unsorted);
		ktread_memory_close(memory);
		bytes_free(&records);
	}
}

static void places_are_known_after_an_empty_window(void **state)
{
	struct ktrx1_record window[8];
	struct bytes records = { 0 };
	struct ktread_v1_ring ring = { .slots = 24, .end = 24, .window = window, .window_slots = 8 };

	(void)state;
	for (unsigned slot = 0; slot < 24; slot++)
		v1_record(&records, slot < 8 ? 0 : 1000 + slot, 0, 0, 0, 0);
	assert_int_equal(ktread_source_open_file(&ring.memory, temporary_bytes(&records)), 0);
	assert_int_equal(ktread_v1_ring_read(&ring), 8);
	assert_int_equal(ktread_v1_ring_place(&ring, 0), 8);
	assert_int_equal(ktread_v1_ring_place(&ring, 7), 15);
	assert_int_equal(ktread_v1_ring_read(&ring), 8);
	assert_int_equal(ktread_v1_ring_place(&ring, 0), 16);
	ktread_v1_ring_forget(&ring);
	ktread_memory_close(ring.memory);
	bytes_free(&records);
}

static void filters_select_by_cpu_thread_and_time(void **state)
{
	struct bytes dump = { 0 };
	struct ktread_filter filter = { .size = sizeof(filter), .thread = -1 };
	const uint8_t cpu1 = 2;
	struct ktread *trace;

	(void)state;
	two_rings(&dump, 1000);
	filter.cpus = &cpu1;
	filter.cpu_count = 2;
	trace = open_ok(temporary_bytes(&dump), NULL);
	assert_int_equal(ktread_set_filter(trace, &filter), 0);
	assert_int_equal(drain(trace), SLOTS);
	filter = (struct ktread_filter){ .size = sizeof(filter), .thread = 5, .since = 1010, .until = 1030 };
	trace = open_ok(temporary_bytes(&dump), NULL);
	assert_int_equal(ktread_set_filter(trace, &filter), 0);
	assert_int_equal(drain(trace), 3);
	bytes_free(&dump);
}

static void pipes_are_read(void **state)
{
	struct bytes dump = { 0 };
	char fifo[] = "/tmp/ktread-fifo-XXXXXX";
	struct ktread *trace;
	FILE *writer;

	(void)state;
	two_rings(&dump, 1000);
	assert_non_null(mkdtemp(fifo));
	assert_int_equal(rmdir(fifo), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	if (fork() == 0) {
		writer = fopen(fifo, "wb");
		fwrite(dump.data, 1, dump.size, writer);
		fclose(writer);
		_exit(0);
	}
	trace = open_ok(fifo, NULL);
	unlink(fifo);
	assert_int_equal(drain(trace), 2 * SLOTS);
	bytes_free(&dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rotated_rings_are_merged),
		cmocka_unit_test(last_complete_dump_is_used),
		cmocka_unit_test(dump_cut_short_by_the_next_one_is_skipped),
		cmocka_unit_test(truncated_tail_is_read),
		cmocka_unit_test(magic_in_a_payload_is_no_header),
		cmocka_unit_test(empty_slots_are_skipped),
		cmocka_unit_test(unsorted_ring_is_sorted),
		cmocka_unit_test(damaged_headers_are_explained),
		cmocka_unit_test(bytes_before_the_first_dump_are_counted),
		cmocka_unit_test(padding_is_no_damage),
		cmocka_unit_test(briefs_have_the_same_events),
		cmocka_unit_test(layout_option_selects_the_fields),
		cmocka_unit_test(bare_records_need_a_frequency),
		cmocka_unit_test(probes_find_the_start_of_a_ring),
		cmocka_unit_test(places_are_known_after_an_empty_window),
		cmocka_unit_test(filters_select_by_cpu_thread_and_time),
		cmocka_unit_test(pipes_are_read),
	};

	return cmocka_run_group_tests_name("ktread v1", tests, NULL, temporary_teardown);
}
