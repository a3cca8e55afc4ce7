/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The functions of this file must produce exactly the bytes of the files in test/golden/ktread and
 * test/golden/bad. So a change of the format is detected. With KTREAD_GOLDEN=write in the environment, they
 * write these files again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support/ktread_sample.h"
#include "ktrx/stream.h"

#define FOLDER	    "test/golden/"
#define SMALL_SHIFT 4u

static void make_v1(struct bytes *bytes)
{
	v1_header(bytes, 2, 8);
	for (unsigned slot = 0; slot < 8; slot++)
		v1_record(bytes, 1000 + 10 * ((slot + 5) % 8),
			  slot % 2 ? KTRX1_SYSCALL_ENTER : KTRX1_SYSCALL_EXIT, 0, 5, slot);
	v1_record(bytes, 1003, KTRX1_PAGE_FAULT, 1, 6, 0x1000);
	v1_record(bytes, 1013, 777, 1, 6, 0x1000);
	bytes_grow(bytes, sizeof(struct ktrx1_header) + 2 * 8 * 32);
}

static void make_v1_twice(struct bytes *bytes)
{
	make_v1(bytes);
	bytes->size -= 96;
	make_v1(bytes);
	make_v1(bytes);
}

/*
 * Makes a trace that contains a ring that has wrapped around, records of one slot and of several slots, an
 * incomplete record, anchors, and a shared ring whose records contain callers.
 */
static void make_v2(struct bytes *bytes)
{
	unsigned char extended[40] = { 24,  KTRX_EXT_CPU | KTRX_EXT_CALLER1 | KTRX_EXT_CALLER2, 1, 0, 0x11,
				       0x22 };
	struct writer writer;

	begin_small(&writer, 2, SMALL_SHIFT);
	writer_record_extended(&writer, 0, 500, SWITCH, 3, extended, sizeof(extended));
	for (unsigned i = 0; i < 20; i++)
		put_switch(&writer, 1, 1000 + 10 * i, i);
	put_open(&writer, 1, 2000, "/a/path/of/two/slots");
	writer_reserve(&writer, 1, 1);
	put_switch(&writer, 1, UINT64_C(1) << 36, 21);
	writer_dump(&writer, bytes);
	writer_close(&writer);
}

static void make_v2_twice(struct bytes *bytes)
{
	make_v2(bytes);
	make_v2(bytes);
}

static void make_bare(struct bytes *bytes)
{
	for (unsigned i = 0; i < 6; i++)
		v1_record(bytes, 100 + (i ^ 1), KTRX1_WAITQ_WAKE, i % 2, 9, i);
}

/* Bad inputs: the reader must refuse each one, or read it with a warning. */

static void make_v1_of_many_cpus(struct bytes *bytes)
{
	make_v1(bytes);
	((struct ktrx1_header *)(void *)bytes->data)->cpus = UINT32_MAX;
}

static void make_v1_of_large_records(struct bytes *bytes)
{
	make_v1(bytes);
	((struct ktrx1_header *)(void *)bytes->data)->record_size = 48;
}

static void make_v1_of_many_slots(struct bytes *bytes)
{
	make_v1(bytes);
	((struct ktrx1_header *)(void *)bytes->data)->slots = 1u << 30;
}

static struct ktrx_root *make_root(struct bytes *bytes)
{
	make_v2(bytes);
	return (struct ktrx_root *)(void *)bytes->data;
}

static void make_v2_of_wrong_checksum(struct bytes *bytes)
{
	make_root(bytes)->checksum ^= 1;
}

static void make_v2_of_many_sections(struct bytes *bytes)
{
	struct ktrx_root *root = make_root(bytes);

	root->sections = UINT32_MAX;
	root->checksum = ktrx_root_checksum(root);
}

static void make_v2_of_odd_thread_rows(struct bytes *bytes)
{
	make_root(bytes)->section[2].entry_size = 33;
}

static void make_v2_of_far_events(struct bytes *bytes)
{
	make_root(bytes)->section[1].address = UINT64_MAX - 8;
}

/* The trace has a table of 64 rings that all use the same memory. */
static void make_v2_of_overlapping_rings(struct bytes *bytes)
{
	struct ktrx_root *root = make_root(bytes);
	const struct ktrx_ring ring =
		*(struct ktrx_ring *)(void *)(bytes->data + root->section[0].address + 128);

	root->section[0].address = bytes->size;
	root->section[0].length = 64 * sizeof(ring);
	for (unsigned i = 0; i < 64; i++)
		bytes_append(bytes, &ring, sizeof(ring));
	((struct ktrx_root *)(void *)bytes->data)->length = bytes->size;
}

static void make_three_bytes(struct bytes *bytes)
{
	bytes_append(bytes, "KTR", 3);
}

static void make_core_of_nothing(struct bytes *bytes)
{
	bytes_append(bytes, "\177ELF\2\1\1", 7);
	bytes_grow(bytes, 64);
}

/*
 * Makes bad streams from a valid stream in a file. A stream that is compressed anew could differ, because the
 * bytes depend on the version of the compressor.
 */
static struct ktrx_stream *make_stream(struct bytes *bytes)
{
	unsigned char chunk[4096];
	FILE *file = fopen(FOLDER "ktread/v2.kts", "rb");
	size_t got;

	assert_non_null(file);
	while ((got = fread(chunk, 1, sizeof(chunk), file)) > 0)
		bytes_append(bytes, chunk, got);
	fclose(file);
	return (struct ktrx_stream *)(void *)bytes->data;
}

static void seal_stream(struct ktrx_stream *stream)
{
	stream->check = ktrx_stream_check(stream, offsetof(struct ktrx_stream, check));
}

static void seal_first_block(struct ktrx_stream_block *block)
{
	block->check = ktrx_stream_check(&block->coding, sizeof(*block) - sizeof(block->check));
}

static void make_stream_of_endless_dump(struct bytes *bytes)
{
	struct ktrx_stream *stream = make_stream(bytes);

	stream->length = INT64_MAX;
	seal_stream(stream);
}

static void make_stream_of_no_dump(struct bytes *bytes)
{
	struct ktrx_stream *stream = make_stream(bytes);

	stream->length = 0;
	seal_stream(stream);
}

static void make_stream_of_large_block(struct bytes *bytes)
{
	struct ktrx_stream_block *block = (struct ktrx_stream_block *)(void *)(make_stream(bytes) + 1);

	block->length = UINT32_MAX;
	block->size = UINT32_MAX;
	seal_first_block(block);
}

/* According to the head of a block, its data are columns, but the data are plain bytes. */
static void make_stream_of_wrong_coding(struct bytes *bytes)
{
	struct ktrx_stream_block *block = (struct ktrx_stream_block *)(void *)(make_stream(bytes) + 1);

	block->coding = KTRX_STREAM_SLOTS_V2;
	seal_first_block(block);
}

static void make_stream_of_damaged_ring(struct bytes *bytes)
{
	make_stream(bytes);
	bytes->data[bytes->size - sizeof(struct ktrx_stream_block) - 20] ^= 0x10;
}

static void make_cut_stream(struct bytes *bytes)
{
	make_stream(bytes);
	bytes->size -= sizeof(struct ktrx_stream_block) + 10;
}

static void make_zstd_of_nothing(struct bytes *bytes)
{
	bytes_append(bytes, "\x28\xb5\x2f\xfd and no frame", 17);
}

static void compare(const char *name, void (*make)(struct bytes *bytes))
{
	const char *wanted = getenv("KTREAD_GOLDEN");
	struct bytes made = { 0 }, found = { 0 };
	char path[128];
	FILE *file;

	make(&made);
	snprintf(path, sizeof(path), FOLDER "%s", name);
	if (wanted && strcmp(wanted, "write") == 0) {
		file = fopen(path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(made.data, 1, made.size, file), made.size);
		fclose(file);
	}
	file = fopen(path, "rb");
	if (!file)
		fail_msg("%s is missing", path);
	bytes_grow(&found, made.size + 1);
	assert_int_equal(fread(found.data, 1, found.size, file), made.size);
	fclose(file);
	assert_memory_equal(found.data, made.data, made.size);
	bytes_free(&made);
	bytes_free(&found);
}

static void version_1_files_are_unchanged(void **state)
{
	(void)state;
	compare("ktread/v1.ktrx", make_v1);
	compare("ktread/v1-three-one-cut.ktrx", make_v1_twice);
	compare("ktread/bare.ktrx", make_bare);
}

static void version_2_files_are_unchanged(void **state)
{
	(void)state;
	compare("ktread/v2.ktrx", make_v2);
	compare("ktread/v2-two.ktrx", make_v2_twice);
}

static void expect_refusal(const char *name, int error)
{
	char path[128];
	struct ktread *trace;

	snprintf(path, sizeof(path), FOLDER "%s", name);
	assert_int_equal(ktread_open(&trace, path, NULL), error);
	assert_non_null(strstr(ktread_message(NULL), name));
}

static void expect_warning(const char *name, const char *text)
{
	char path[128];
	struct ktread *trace;
	const char *warning;

	snprintf(path, sizeof(path), FOLDER "%s", name);
	trace = open_ok(path, NULL);
	warning = ktread_warning(trace);
	assert_non_null(warning);
	assert_non_null(strstr(warning, text));
	drain(trace);
}

static void bad_inputs_are_refused_or_warned_of(void **state)
{
	(void)state;
	compare("bad/v1-cpus.ktrx", make_v1_of_many_cpus);
	expect_refusal("bad/v1-cpus.ktrx", KTREAD_E_FORMAT);
	compare("bad/v1-record-size.ktrx", make_v1_of_large_records);
	expect_refusal("bad/v1-record-size.ktrx", KTREAD_E_FORMAT);
	compare("bad/v1-slots.ktrx", make_v1_of_many_slots);
	expect_warning("bad/v1-slots.ktrx", "cut short");
	compare("bad/v2-checksum.ktrx", make_v2_of_wrong_checksum);
	expect_refusal("bad/v2-checksum.ktrx", KTREAD_E_FORMAT);
	compare("bad/v2-sections.ktrx", make_v2_of_many_sections);
	expect_refusal("bad/v2-sections.ktrx", KTREAD_E_FORMAT);
	compare("bad/v2-thread-rows.ktrx", make_v2_of_odd_thread_rows);
	drain(open_ok(FOLDER "bad/v2-thread-rows.ktrx", NULL));
	compare("bad/v2-far-events.ktrx", make_v2_of_far_events);
	drain(open_ok(FOLDER "bad/v2-far-events.ktrx", NULL));
	compare("bad/v2-overlapping-rings.ktrx", make_v2_of_overlapping_rings);
	expect_warning("bad/v2-overlapping-rings.ktrx", "overlap");
	compare("bad/three-bytes.ktrx", make_three_bytes);
	expect_refusal("bad/three-bytes.ktrx", KTREAD_E_FORMAT);
	compare("bad/core-of-nothing.elf", make_core_of_nothing);
	expect_refusal("bad/core-of-nothing.elf", KTREAD_E_FORMAT);
}

/*
 * Checks that file `name` has the same events as file `original`. `name` is a stream written by an earlier
 * version, or a dump compressed with the zstd tool.
 */
static void check_same_events(const char *name, const char *original)
{
	char path[128];
	const struct ktread_event *a, *b;
	struct ktread *x, *y;

	snprintf(path, sizeof(path), FOLDER "%s", name);
	x = open_ok(path, NULL);
	snprintf(path, sizeof(path), FOLDER "%s", original);
	y = open_ok(path, NULL);
	while (ktread_next(y, &b) > 0) {
		assert_int_equal(ktread_next(x, &a), 1);
		assert_int_equal(a->stamp, b->stamp);
		assert_int_equal(a->index, b->index);
		assert_int_equal(a->lost, b->lost);
		assert_int_equal(a->id, b->id);
		assert_int_equal(a->payload_size, b->payload_size);
		assert_memory_equal(a->payload, b->payload, a->payload_size);
	}
	assert_int_equal(ktread_next(x, &a), 0);
	ktread_close(x);
	ktread_close(y);
}

static void write_stream_anew(const char *name, const char *original)
{
	const char *wanted = getenv("KTREAD_GOLDEN");
	char path[128];
	struct ktread *trace;
	FILE *file;
	int error;

	if (!wanted || strcmp(wanted, "write") != 0)
		return;
	snprintf(path, sizeof(path), FOLDER "%s", original);
	trace = open_ok(path, NULL);
	snprintf(path, sizeof(path), FOLDER "%s", name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(ktread_write_stream(trace, fileno(file), &error), 0);
	fclose(file);
	ktread_close(trace);
}

static void golden_streams_read_as_their_dumps(void **state)
{
	(void)state;
	write_stream_anew("ktread/v1.kts", "ktread/v1.ktrx");
	write_stream_anew("ktread/v2.kts", "ktread/v2.ktrx");
	check_same_events("ktread/v1.kts", "ktread/v1.ktrx");
	check_same_events("ktread/v2.kts", "ktread/v2.ktrx");
	check_same_events("ktread/v2.ktrx.zst", "ktread/v2.ktrx");
	check_same_events("ktread/v2.kts.zst", "ktread/v2.ktrx");
}

static void bad_streams_are_refused_or_warned_of(void **state)
{
	(void)state;
	compare("bad/stream-endless.kts", make_stream_of_endless_dump);
	/* the reader reads the missing bytes as zeros */
	drain(open_ok(FOLDER "bad/stream-endless.kts", NULL));
	compare("bad/stream-no-dump.kts", make_stream_of_no_dump);
	expect_refusal("bad/stream-no-dump.kts", KTREAD_E_FORMAT);
	compare("bad/stream-large-block.kts", make_stream_of_large_block);
	expect_refusal("bad/stream-large-block.kts", KTREAD_E_FORMAT);
	compare("bad/stream-coding.kts", make_stream_of_wrong_coding);
	expect_refusal("bad/stream-coding.kts", KTREAD_E_FORMAT);
	compare("bad/stream-damaged-ring.kts", make_stream_of_damaged_ring);
	expect_warning("bad/stream-damaged-ring.kts", "damaged");
	compare("bad/stream-cut.kts", make_cut_stream);
	expect_warning("bad/stream-cut.kts", "cut short");
	compare("bad/zstd-of-nothing.zst", make_zstd_of_nothing);
	expect_refusal("bad/zstd-of-nothing.zst", KTREAD_E_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_1_files_are_unchanged),
		cmocka_unit_test(version_2_files_are_unchanged),
		cmocka_unit_test(bad_inputs_are_refused_or_warned_of),
		cmocka_unit_test(golden_streams_read_as_their_dumps),
		cmocka_unit_test(bad_streams_are_refused_or_warned_of),
	};

	return cmocka_run_group_tests_name("ktread golden", tests, NULL, NULL);
}
