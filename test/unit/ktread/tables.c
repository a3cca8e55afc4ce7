/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the tables of CPUs and of threads: valid tables, tables with smaller or larger entries, and tables
 * with wrong sizes in the dump.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/support/ktread_sample.h"

#define CPUS	3u
#define HOLDERS 5u

/* Fills a dump with both tables. Each entry contains its number. */
static void fill(struct bytes *dump)
{
	struct writer writer;

	begin(&writer, CPUS + 1);
	put_switch(&writer, 1, 1000, 0);
	for (uint32_t n = 0; n < CPUS; n++) {
		struct ktrx_cpu cpu = { .heartbeats = n + 10, .online = 1, .sample = { [7] = n + 20 } };

		bytes_append(&writer.cpus, &cpu, sizeof(cpu));
	}
	for (uint32_t n = 0; n < HOLDERS; n++) {
		struct ktrx_holder holder = { .id = n + 1, .held_count = 255, .held[5].pc = n + 30 };

		memset(holder.object_name, 'x', sizeof(holder.object_name));
		bytes_append(&writer.holders, &holder, sizeof(holder));
	}
	writer_dump(&writer, dump);
	writer_close(&writer);
}

/* Returns the section of this type of the dump. */
static struct ktrx_section *section_of(struct bytes *dump, uint32_t type)
{
	struct ktrx_root *root = (struct ktrx_root *)(void *)dump->data;

	for (uint32_t n = 0; n < KTRX_SECTIONS; n++)
		if (root->section[n].type == type)
			return &root->section[n];
	fail_msg("no section %u", type);
	return NULL;
}

static struct ktread *open_and_free(struct bytes *dump)
{
	struct ktread *trace = open_ok(temporary_bytes(dump), NULL);

	bytes_free(dump);
	return trace;
}

static void rows_are_read(void **state)
{
	struct bytes dump = { 0 };
	struct ktrx_holder holder[HOLDERS + 1];
	struct ktrx_cpu cpu[CPUS + 1];
	struct ktread *trace;

	(void)state;
	fill(&dump);
	trace = open_and_free(&dump);
	assert_int_equal(ktread_cpus(trace, 0, cpu, CPUS + 1), CPUS);
	assert_int_equal(ktread_holders(trace, 0, holder, HOLDERS + 1), HOLDERS);
	for (uint32_t n = 0; n < CPUS; n++)
		assert_true(cpu[n].heartbeats == n + 10 && cpu[n].sample[7] == n + 20);
	for (uint32_t n = 0; n < HOLDERS; n++) {
		assert_true(holder[n].id == n + 1 && holder[n].held[5].pc == n + 30);
		assert_int_equal(strlen(holder[n].object_name), sizeof(holder[n].object_name) - 1);
	}
	assert_int_equal(ktread_holders(trace, HOLDERS - 1, holder, 2), 1);
	assert_int_equal(holder[0].id, HOLDERS);
	assert_int_equal(ktread_holders(trace, HOLDERS, holder, 1), 0);
	assert_int_equal(ktread_holders(trace, UINT32_MAX, holder, 1), 0);
	assert_int_equal(ktread_cpus(trace, UINT32_MAX, cpu, 2), 0);
	ktread_close(trace);
}

/*
 * CPU 1's clock is 700 ticks ahead. CPU 2's clock is ahead by more than the timestamps in this test, so that
 * its corrected timestamps would be negative.
 */
static void stamps_are_corrected_as_those_of_events(void **state)
{
	const int64_t offsets[CPUS] = { 0, -700, -5000 };
	const struct ktrx_holder rows[] = {
		{ .id = KTRX_HOLDER_CPU | 1u, .wait_stamp = 1701, .held[0] = { .stamp = 1702 } },
		{ .id = 5, .cpu = 1, .state_stamp = 1703, .deadline = 1704 },
		{ .id = 6, .cpu = 0, .state_stamp = 1705 },
		{ .id = 7, .cpu = UINT16_MAX, .state_stamp = 1706 },
	};
	struct ktrx_holder holder[4];
	struct ktrx_cpu cpu[CPUS];
	struct writer writer;
	struct bytes dump = { 0 };
	struct ktread *trace;

	(void)state;
	begin(&writer, CPUS + 1);
	bytes_append(&writer.offsets, offsets, sizeof(offsets));
	for (uint32_t n = 0; n < CPUS; n++) {
		struct ktrx_cpu row = { .heartbeat_stamp = 1700, .now = 1800, .ipi_answered = 1900 };

		bytes_append(&writer.cpus, &row, sizeof(row));
	}
	bytes_append(&writer.holders, rows, sizeof(rows));
	writer_dump(&writer, &dump);
	writer_close(&writer);
	trace = open_and_free(&dump);
	assert_int_equal(ktread_cpus(trace, 1, &cpu[1], 2), 2);
	assert_true(cpu[1].heartbeat_stamp == 1000 && cpu[1].now == 1100 && cpu[1].ipi_answered == 1200);
	assert_true(cpu[1].irq_stamp == 0 && cpu[2].irq_stamp == 0);
	assert_int_equal(cpu[2].now, 1);
	assert_int_equal(ktread_holders(trace, 0, holder, 4), 4);
	assert_true(holder[0].wait_stamp == 1001 && holder[0].held[0].stamp == 1002);
	assert_true(holder[1].state_stamp == 1003 && holder[1].deadline == 1004 && holder[1].wait_stamp == 0);
	assert_true(holder[2].state_stamp == 1705 && holder[3].state_stamp == 1706);
	ktread_close(trace);
}

static void trace_without_tables_has_no_rows(void **state)
{
	struct ktrx_holder holder;
	struct ktrx_cpu cpu;
	struct writer writer;
	struct bytes dump = { 0 };
	struct ktread *trace;

	(void)state;
	begin(&writer, 2);
	writer_dump(&writer, &dump);
	writer_close(&writer);
	trace = open_and_free(&dump);
	assert_int_equal(ktread_cpus(trace, 0, &cpu, 1), 0);
	assert_int_equal(ktread_holders(trace, 0, &holder, 1), 0);
	ktread_close(trace);
}

static void rows_of_other_sizes_are_read(void **state)
{
	struct bytes dump = { 0 };
	struct ktrx_cpu cpu[8];
	struct ktread *trace;

	(void)state;
	fill(&dump);
	section_of(&dump, KTRX_SECTION_CPUS)->entry_size = 64;
	trace = open_and_free(&dump);
	assert_int_equal(ktread_cpus(trace, 0, cpu, 8), 8);
	assert_int_equal(cpu[0].heartbeats, 10);
	assert_int_equal(cpu[0].sample[7], 0);
	/*
	 * the entries in the dump have 320 bytes, but are read as entries of 64 bytes, so the entry of CPU 1
	 * is read as entry 5
	 */
	assert_int_equal(cpu[5].heartbeats, 11);
	ktread_close(trace);

	fill(&dump);
	section_of(&dump, KTRX_SECTION_CPUS)->entry_size = 2 * sizeof(struct ktrx_cpu);
	trace = open_and_free(&dump);
	assert_int_equal(ktread_cpus(trace, 0, cpu, 8), 1);
	assert_int_equal(cpu[0].sample[7], 20);
	ktread_close(trace);
}

/* Reads all entries, as tools do. Reading must end. Returns the number of entries. */
static uint64_t count_rows(const struct ktread *trace)
{
	static struct ktrx_holder rows[4096];
	uint32_t first = 0;
	int got;

	while ((got = ktread_holders(trace, first, rows, 4096)) > 0)
		first += (uint32_t)got;
	assert_int_equal(got, 0);
	return first;
}

static void wrong_lengths_do_not_read_forever(void **state)
{
	static const uint64_t lengths[] = { 1, 255, UINT64_MAX, UINT64_C(1) << 62 };
	static const uint16_t sizes[] = { 0, 1, 255, 256, UINT16_MAX };

	(void)state;
	for (size_t length = 0; length < 4; length++)
		for (size_t size = 0; size < 5; size++) {
			struct bytes dump = { 0 };
			struct ktread *trace;

			fill(&dump);
			section_of(&dump, KTRX_SECTION_HOLDERS)->length = lengths[length];
			section_of(&dump, KTRX_SECTION_HOLDERS)->entry_size = sizes[size];
			if (ktread_open(&trace, temporary_bytes(&dump), NULL) == 0) {
				assert_true(count_rows(trace) <= UINT32_C(1) << 20);
				ktread_close(trace);
			}
			bytes_free(&dump);
		}
}

/* If extents overlap, copies of a section would need far more memory than the file has bytes. */
static void overlapping_extents_are_refused(void **state)
{
	const uint32_t extents = 1000;
	struct ktrx_section *section;
	struct bytes dump = { 0 };
	struct ktread *trace;
	uint64_t list;

	(void)state;
	fill(&dump);
	list = dump.size;
	for (uint32_t n = 0; n < extents; n++) {
		const struct ktrx_extent extent = { 0, list };

		bytes_append(&dump, &extent, sizeof(extent));
	}
	section = section_of(&dump, KTRX_SECTION_EVENTS);
	section->extents = extents;
	section->address = list;
	section->length = extents * list;
	assert_int_equal(ktread_open(&trace, temporary_bytes(&dump), NULL), KTREAD_E_FORMAT);
	assert_non_null(strstr(ktread_message(NULL), "ktrace root at 0x0: extents overlap: the list at 0x"));
	bytes_free(&dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read),
		cmocka_unit_test(stamps_are_corrected_as_those_of_events),
		cmocka_unit_test(trace_without_tables_has_no_rows),
		cmocka_unit_test(rows_of_other_sizes_are_read),
		cmocka_unit_test(wrong_lengths_do_not_read_forever),
		cmocka_unit_test(overlapping_extents_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, temporary_teardown);
}
