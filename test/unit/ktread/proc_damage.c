/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests process traces that were truncated or damaged. The reader must return all readable records, and
 * report the unreadable part with its offset.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/support/ktread_proc_support.h"
#include "unit/support/random.h"

static void outline_of(const void *bytes, size_t size, unsigned format, struct proc_outline *outline)
{
	struct ktread_proc *trace = proc_open(temporary(bytes, size), proc_format[format]);

	proc_read_outline(trace, outline);
	ktread_proc_close(trace);
}

/* A copy of a golden trace. Tests damage this copy while the reader has it open. */
struct copy {
	struct bytes bytes;
	struct proc_outline whole;
	struct ktread_proc *trace;
	int descriptor;
};

static void begin_copy(struct copy *copy, unsigned format)
{
	const char *path;

	memset(copy, 0, sizeof(*copy));
	proc_load(proc_golden[format], &copy->bytes);
	path = temporary_bytes(&copy->bytes);
	copy->descriptor = open(path, O_WRONLY);
	assert_true(copy->descriptor >= 0);
	copy->trace = proc_open(path, proc_format[format]);
	proc_read_outline(copy->trace, &copy->whole);
	copy->whole.offset[copy->whole.records] = copy->bytes.size;
}

static void end_copy(struct copy *copy)
{
	ktread_proc_close(copy->trace);
	close(copy->descriptor);
	bytes_free(&copy->bytes);
}

static void read_again(struct copy *copy, struct proc_outline *outline)
{
	if (ktread_proc_rewind(copy->trace) < 0)
		fail_msg("%s", ktread_proc_message(copy->trace));
	proc_read_outline(copy->trace, outline);
}

/* Reads the trace with one bit flipped. */
static void read_flipped(struct copy *copy, size_t bit, struct proc_outline *outline)
{
	const unsigned char right = copy->bytes.data[bit / 8], wrong = right ^ (unsigned char)(1u << bit % 8);

	assert_int_equal(pwrite(copy->descriptor, &wrong, 1, (off_t)(bit / 8)), 1);
	read_again(copy, outline);
	assert_int_equal(pwrite(copy->descriptor, &right, 1, (off_t)(bit / 8)), 1);
}

/*
 * The trace is truncated at each offset. The reader must return all complete records, and then report an
 * incomplete record if there is one.
 */
static void cut_trace_keeps_the_records_before_the_cut(void **state)
{
	(void)state;
	for (unsigned format = 0; format < PROC_FORMATS; format++) {
		struct proc_outline outline;
		struct copy copy;
		unsigned records;

		begin_copy(&copy, format);
		records = copy.whole.records;
		for (size_t size = copy.bytes.size; size-- > 0;) {
			const uint64_t *offset = copy.whole.offset;
			char words[64];

			while (records > 0 && offset[records] > size)
				records--;
			assert_int_equal(ftruncate(copy.descriptor, (off_t)size), 0);
			read_again(&copy, &outline);
			assert_int_equal(outline.records, records);
			assert_memory_equal(outline.offset, offset, records * sizeof(*offset));
			assert_int_equal(outline.errors, size != 0 && size != offset[records]);
			snprintf(words, sizeof(words), "offset %u: cut short",
				 size < offset[0] ? 0 : (unsigned)offset[records]);
			if (outline.errors && !strstr(outline.last_error, words))
				fail_msg("cut at %zu: %s", size, outline.last_error);
		}
		end_copy(&copy);
	}
}

/*
 * Returns the index of the record that contains this byte, or the number of records if no record contains it.
 */
static unsigned record_at(const struct proc_outline *outline, size_t at)
{
	unsigned n = outline->records;

	while (n > 0 && outline->offset[n - 1] > at)
		n--;
	return n ? n - 1 : outline->records;
}

/*
 * If a bit is flipped, the reader loses at most the record that contains the bit, and returns no false
 * record.
 */
static void flipped_bit_loses_at_most_its_record(void **state)
{
	struct proc_outline outline;
	struct copy copy;

	(void)state;
	begin_copy(&copy, PUT_KTRX);
	for (size_t bit = 0; bit < copy.bytes.size * 8; bit++) {
		unsigned hit = record_at(&copy.whole, bit / 8), seen = 0;

		read_flipped(&copy, bit, &outline);
		for (unsigned n = 0; n < copy.whole.records; n++) {
			if (seen < outline.records && outline.offset[seen] == copy.whole.offset[n])
				seen++;
			else if (n != hit)
				fail_msg("bit %zu of %zu: the record at %u is missing: %s", bit % 8, bit / 8,
					 (unsigned)copy.whole.offset[n], outline.last_error);
		}
		assert_int_equal(seen, outline.records);
		assert_true(outline.errors <= 1);
	}
	end_copy(&copy);
}

/*
 * In some formats, records do not begin with a mark. Then the reader returns all records before the damage,
 * and stops at the damage.
 */
static void flipped_bit_keeps_the_records_before_it(void **state)
{
	(void)state;
	for (unsigned format = PUT_DRAGONFLY; format < PROC_FORMATS; format++) {
		struct proc_outline outline;
		struct copy copy;

		begin_copy(&copy, format);
		for (size_t bit = 0; bit < copy.bytes.size * 8; bit++) {
			unsigned hit = record_at(&copy.whole, bit / 8);

			read_flipped(&copy, bit, &outline);
			assert_true(outline.records >= hit);
			assert_memory_equal(outline.offset, copy.whole.offset,
					    hit * sizeof(outline.offset[0]));
		}
		end_copy(&copy);
	}
}

static void outline_of_bad(const char *name, struct proc_outline *outline)
{
	struct ktread_proc *trace;
	char path[128];

	snprintf(path, sizeof(path), PROC_FOLDER "bad/%s.ktrace", name);
	trace = proc_open(path, KTREAD_PROC_AUTO);
	proc_read_outline(trace, outline);
	ktread_proc_close(trace);
}

static void damage_is_skipped(void **state)
{
	struct proc_outline outline;

	(void)state;
	outline_of_bad("damaged", &outline);
	assert_int_equal(outline.records, 14);
	assert_int_equal(outline.errors, 4);
	assert_int_equal(outline.stepped_over, 56 + 88 + 16 + 56);
	assert_non_null(strstr(outline.last_error, "offset 864: damaged: 56 bytes skipped"));
	outline_of_bad("first-head", &outline);
	assert_int_equal(outline.records, 3);
	assert_int_equal(outline.errors, 1);
}

/*
 * The file contains a session that was truncated at an unaligned offset, and after it another session. No
 * record of the second session may be lost.
 */
static void session_after_a_torn_one_is_found(void **state)
{
	struct proc_outline outline;

	(void)state;
	outline_of_bad("sessions", &outline);
	assert_int_equal(outline.records, 9);
	assert_int_equal(outline.errors, 2);
	assert_int_equal(outline.offset[2] % 8, 3);
}

/*
 * A traced program has written a process trace to a file, so a record contains a trace as data. The reader
 * must not return records of this inner trace, even if the record that contains it is torn.
 */
static void inner_traces_are_data(void **state)
{
	struct proc_outline outline;

	(void)state;
	outline_of_bad("trace-in-a-trace", &outline);
	assert_int_equal(outline.records, 6);
	assert_int_equal(outline.errors, 0);
	outline_of_bad("torn-trace-in-a-trace", &outline);
	assert_int_equal(outline.records, 3);
	assert_int_equal(outline.errors, 1);
	assert_non_null(strstr(outline.last_error, "cut short"));
}

static void impossible_lengths_are_reported(void **state)
{
	struct proc_outline outline;

	(void)state;
	outline_of_bad("negative", &outline);
	assert_int_equal(outline.records, 2);
	assert_non_null(strstr(outline.last_error, "offset 176: impossible record of -5 bytes"));
	outline_of_bad("negative-i386", &outline);
	assert_int_equal(outline.records, 2);
	assert_non_null(strstr(outline.last_error, "impossible record of -2147483648 bytes"));
	outline_of_bad("beyond-the-end", &outline);
	assert_int_equal(outline.records, 2);
	assert_non_null(strstr(outline.last_error, "offset 160: cut short"));
	outline_of_bad("into-the-next", &outline);
	assert_int_equal(outline.errors, 1);
}

/* The damaged part is larger than the reader's window, and full of marks with no record after them. */
static void damage_longer_than_the_window_is_skipped(void **state)
{
	const size_t length = 9 << 20;
	struct put put = put_trace(PUT_KTRX);
	struct proc_outline outline;
	unsigned char *noise = malloc(length);
	uint64_t seed = 1;

	(void)state;
	put_line(&put, 3, "/before");
	for (size_t i = 0; i < length; i++) {
		noise[i] = (unsigned char)random_below(&seed, 256);
		if (i % 32 == 26)
			noise[i] = 0x4b;
		if (i % 32 == 27)
			noise[i] = 0x9e;
		if (i % 32 == 2 || i % 32 == 3)
			noise[i] = i % 32 == 2 ? noise[i] & 15 : 0;
	}
	put_bytes(&put, noise, length);
	free(noise);
	put_line(&put, 3, "/behind");
	outline_of(put.bytes.data, put.bytes.size, PUT_KTRX, &outline);
	assert_int_equal(outline.offset[0], 64);
	assert_true(outline.records >= 2);
	assert_int_equal(outline.offset[outline.records - 1], 64 + 40 + length);
	bytes_free(&put.bytes);
}

static void payload_above_the_limit_is_damage(void **state)
{
	const size_t most = 1 << 20;
	unsigned char *data = calloc(1, most);
	struct proc_outline outline;
	struct put put = put_trace(PUT_KTRX);

	(void)state;
	put_io(&put, 1, 1, data, most - 16);
	put_line(&put, 3, "/");
	put_io(&put, 1, 1, data, most - 15);
	put_line(&put, 3, "/");
	outline_of(put.bytes.data, put.bytes.size, PUT_KTRX, &outline);
	assert_int_equal(outline.records, 3);
	assert_int_equal(outline.errors, 1);
	bytes_free(&put.bytes);
	free(data);
}

/* A program cannot forge records, even if it chooses the data that the kernel records. */
static void programs_cannot_forge_records(void **state)
{
	struct put put = put_trace(PUT_KTRX), forged = { .format = PUT_KTRX };
	struct proc_outline outline;

	(void)state;
	for (int i = 0; i < 20; i++)
		put_ret(&forged, 33, 0, 4711);
	for (size_t cut = 0; cut < 2; cut++) {
		put.flags = cut ? KTRX_PROC_CUT : 0;
		put_io(&put, 1, 1, forged.bytes.data, forged.bytes.size);
		put_over(&put, 40, forged.bytes.size + cut, 8);
		put_begin(&put, 7);
		put_bytes(&put, forged.bytes.data, forged.bytes.size);
		put_end(&put);
		put_struct(&put, "1234567", forged.bytes.data, forged.bytes.size);
		put_array(&put, "1234567", 48, forged.bytes.data, forged.bytes.size);
		put_begin(&put, 77);
		put_bytes(&put, forged.bytes.data, forged.bytes.size);
		put_end(&put);
	}
	outline_of(put.bytes.data, put.bytes.size, PUT_KTRX, &outline);
	assert_int_equal(outline.records, 10);
	assert_int_equal(outline.errors, 0);
	bytes_free(&forged.bytes);
	bytes_free(&put.bytes);
}

/*
 * A traced program has written a process trace to a file, and the session that records this ends in the
 * middle of the written data. The next session in the file looks like more of these data.
 */
static void session_after_torn_data_is_found(void **state)
{
	struct put put = put_trace(PUT_KTRX), inner = put_trace(PUT_KTRX);
	struct proc_outline outline;
	size_t begin;

	(void)state;
	for (int i = 0; i < 100; i++)
		put_line(&inner, 3, "/inner");
	put_io(&put, 1, 1, inner.bytes.data, inner.bytes.size);
	put.bytes.size -= 2001;
	begin = put.bytes.size;
	put_head(&put);
	put_line(&put, 3, "/outer");
	outline_of(put.bytes.data, put.bytes.size, PUT_KTRX, &outline);
	assert_int_equal(outline.errors, 1);
	assert_int_equal(outline.records, 1);
	assert_int_equal(outline.offset[0], begin + 64);
	bytes_free(&inner.bytes);
	bytes_free(&put.bytes);
}

/* A payload that is full of false records must be read as fast as any other payload. */
static void false_records_do_not_slow_the_reader(void **state)
{
	struct put put = put_trace(PUT_KTRX), inner = { .format = PUT_KTRX };
	struct proc_outline outline;

	(void)state;
	while (inner.bytes.size < 1000000) {
		put_begin(&inner, 7);
		put_end(&inner);
	}
	put_zeroes(&inner, 1000);
	for (int i = 0; i < 20; i++) {
		put_io(&put, 1, 1, inner.bytes.data, inner.bytes.size);
		put_zeroes(&put, 64);
		put_line(&put, 3, "/");
	}
	outline_of(put.bytes.data, put.bytes.size, PUT_KTRX, &outline);
	assert_int_equal(outline.records, 40);
	assert_int_equal(outline.errors, 20);
	bytes_free(&inner.bytes);
	bytes_free(&put.bytes);
}

/* A BSD kernel may record a single write that is larger than the maximum payload that the reader keeps. */
static void large_writes_are_cut(void **state)
{
	const size_t size = 5 << 20;
	unsigned char *data = calloc(1, size);
	struct put put = put_trace(PUT_DRAGONFLY);
	const struct ktread_proc_record *record;
	struct ktread_proc *trace;

	(void)state;
	data[100] = 'x';
	put_io(&put, 1, 1, data, size);
	put_line(&put, 3, "/");
	put_io(&put, 1, 1, data, size);
	put.bytes.size -= 7;
	free(data);
	trace = proc_open_put(&put);
	record = proc_next(trace);
	assert_int_equal(record->genio.size, size);
	assert_int_equal(record->flags, KTRX_PROC_CUT);
	assert_true(record->data_size < size && record->data_size > 1000000);
	assert_int_equal(record->data[100], 'x');
	assert_int_equal(proc_next(trace)->type, KTRX_PROC_NAMEI);
	assert_int_equal(proc_next(trace)->genio.size, size);
	proc_fails(trace, "7 bytes of the payload are missing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_trace_keeps_the_records_before_the_cut),
		cmocka_unit_test(flipped_bit_loses_at_most_its_record),
		cmocka_unit_test(flipped_bit_keeps_the_records_before_it),
		cmocka_unit_test(damage_is_skipped),
		cmocka_unit_test(session_after_a_torn_one_is_found),
		cmocka_unit_test(inner_traces_are_data),
		cmocka_unit_test(impossible_lengths_are_reported),
		cmocka_unit_test(damage_longer_than_the_window_is_skipped),
		cmocka_unit_test(payload_above_the_limit_is_damage),
		cmocka_unit_test(programs_cannot_forge_records),
		cmocka_unit_test(session_after_torn_data_is_found),
		cmocka_unit_test(false_records_do_not_slow_the_reader),
		cmocka_unit_test(large_writes_are_cut),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
