/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that a reader that searches the rings for a time window returns the same events and losses as a
 * reader that reads everything and filters by time.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktread/versions.h"
#include "ktread/trace.h"
#include "ktrx/stream.h"
#include "unit/support/ktread_stream.h"
#include "unit/support/random.h"

#define SPACING 16u /* distance of samples in slots; records may be out of order by 64 slots */
#define WINDOWS 24u

static struct ktread *open_for(const char *path, int window)
{
	struct ktread_options options = { .size = sizeof(options), .window = window };
	struct ktread *trace = open_ok(path, &options);

	trace->seek_spacing = SPACING;
	return trace;
}

static void set_window(struct ktread *trace, uint64_t since, uint64_t until, const uint8_t *cpus)
{
	const struct ktread_filter filter = {
		.size = sizeof(filter),
		.cpus = cpus,
		.cpu_count = 8,
		.thread = -1,
		.since = since,
		.until = until,
	};

	assert_int_equal(ktread_set_filter(trace, &filter), 0);
	assert_int_equal(ktread_rewind(trace), 0);
}

static void assert_same_event(const struct ktread_event *a, const struct ktread_event *b)
{
	assert_int_equal(a->stamp, b->stamp);
	assert_int_equal(a->ring, b->ring);
	assert_int_equal(a->index, b->index);
	assert_int_equal(a->lost, b->lost);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->payload_size, b->payload_size);
	assert_memory_equal(a->payload, b->payload, a->payload_size);
}

/* Returns the number of events in the time window. */
static uint64_t compare(struct ktread *all, struct ktread *part)
{
	const struct ktread_event *a, *b;
	uint64_t events = 0;

	while (ktread_next(all, &a) > 0) {
		assert_int_equal(ktread_next(part, &b), 1);
		assert_same_event(a, b);
		events++;
	}
	assert_int_equal(ktread_next(part, &b), 0);
	assert_int_equal(ktread_first_stamp(all), ktread_first_stamp(part));
	for (uint32_t n = 0; n < ktread_info(all)->rings; n++) {
		const struct ktread_ring *whole = ktread_ring(all, n), *some = ktread_ring(part, n);

		if (!all->selection.cpus)
			assert_int_equal(whole->invalid - whole->outside, some->invalid - some->outside);
	}
	return events;
}

struct bounds {
	uint64_t first, last, events;
};

static struct bounds bounds_of(const char *path)
{
	struct ktread *trace = open_ok(path, NULL);
	struct bounds bounds = { .first = ktread_first_stamp(trace) };
	const struct ktread_event *event;

	bounds.last = bounds.first;
	while (ktread_next(trace, &event) > 0) {
		bounds.last = event->stamp > bounds.last ? event->stamp : bounds.last;
		bounds.events++;
	}
	ktread_close(trace);
	return bounds;
}

/*
 * Compares a time window of two files with the same trace. Returns the number of slots that the reader of the
 * second file has decoded for this window.
 */
static uint64_t compare_files(const char *path, const char *other, uint64_t *seed)
{
	const struct bounds bounds = bounds_of(path);
	struct ktread *all = open_for(path, 0), *part = open_for(other, 1);
	const uint64_t length = bounds.last - bounds.first + 1;
	uint64_t read = 0;

	for (unsigned n = 0; n < WINDOWS; n++) {
		uint64_t width = (length >> random_word(seed) % 12) + 1;
		uint64_t since = bounds.first + random_word(seed) % length;
		uint64_t until = n % 8 == 0 ? 0 : since + random_word(seed) % width;
		uint8_t cpus = (uint8_t)random_word(seed);

		since = n % 8 == 1 ? 0 : since;
		set_window(all, since, until, n % 4 == 2 ? &cpus : NULL);
		set_window(part, since, until, n % 4 == 2 ? &cpus : NULL);
		compare(all, part);
		for (uint32_t ring = 0; ring < ktread_info(part)->rings; ring++)
			read += ktread_ring(part, ring)->decoded;
	}
	ktread_close(all);
	ktread_close(part);
	return read;
}

/*
 * Compares a time window of a dump, and of the stream that is made of it. Returns the larger of two numbers:
 * the slots that were decoded for the dump, and for the stream.
 */
static uint64_t compare_windows(const char *path, uint64_t *seed)
{
	const struct scratch stream = stream_of(path, NULL);
	uint64_t of_dump = compare_files(path, path, seed),
		 of_stream = compare_files(path, stream.path, seed);

	close(stream.descriptor);
	return of_dump > of_stream ? of_dump : of_stream;
}

static void compare_dump(struct writer *writer, uint64_t *seed)
{
	struct bytes dump = { 0 };
	const char *path;
	struct bounds bounds;

	writer_dump(writer, &dump);
	path = temporary_bytes(&dump);
	bounds = bounds_of(path);
	assert_true(bounds.events > 1000);
	assert_true(compare_windows(path, seed) < WINDOWS * bounds.events);
	bytes_free(&dump);
	writer_close(writer);
}

/* Fills rings with records of one slot and of several slots. Some records are out of order. */
static void fill(struct writer *writer, uint64_t *seed, unsigned records, unsigned step)
{
	uint64_t stamp = 100000;

	begin_small(writer, 4, 12);
	for (unsigned n = 0; n < records; n++) {
		uint32_t ring = 1 + (uint32_t)(random_word(seed) % 3);
		uint64_t early = random_word(seed) % 8 == 0 ? random_word(seed) % (6 * step) : 0;

		stamp += random_word(seed) % step;
		if (random_word(seed) % 5 == 0)
			put_open(writer, ring, stamp - early, "a path that is longer than one slot");
		else
			put_switch(writer, ring, stamp - early, n);
	}
}

static void windows_of_version_2_are_exact(void **state)
{
	uint64_t seed = 1;
	struct writer writer;

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		fill(&writer, &seed, 3000 + 9000 * round, 500);
		compare_dump(&writer, &seed);
	}
}

/* The CPUs record nothing for so long that anchors are needed. */
static void windows_between_anchors_are_exact(void **state)
{
	uint64_t seed = 2, stamp = 1 << 20;
	struct writer writer;

	(void)state;
	begin_small(&writer, 3, 11);
	for (unsigned n = 0; n < 6000; n++) {
		stamp += random_word(&seed) % 200 == 0 ? random_word(&seed) >> 26 : random_word(&seed) % 1000;
		put_switch(&writer, 1 + n % 2, stamp, n);
	}
	compare_dump(&writer, &seed);
}

static void invalid_slots_are_counted_in_their_window(void **state)
{
	uint64_t seed = 3;
	struct writer writer;

	(void)state;
	fill(&writer, &seed, 9000, 500);
	for (unsigned n = 0; n < 300; n++) {
		uint32_t ring = 1 + (uint32_t)(random_word(&seed) % 3);
		uint64_t back = random_word(&seed) % 2000 + 1;
		struct writer_slot *slot = writer_slot_at(&writer, ring, writer.ring[ring].head - back);

		/* the checksum does not cover this word, so a record with a changed timestamp is valid */
		if (n % 2)
			slot->word[2] ^= UINT64_C(1) << random_word(&seed) % 64;
		else
			memset(slot, 0, sizeof(*slot));
	}
	for (unsigned n = 0; n < 700; n++)
		memset(writer_slot_at(&writer, 2, writer.ring[2].head - 900 + n), 0,
		       sizeof(struct writer_slot));
	compare_dump(&writer, &seed);
}

static void whole_ring_is_read_if_its_clock_goes_back(void **state)
{
	uint64_t seed = 4, stamp = 1 << 20;
	struct bytes dump = { 0 };
	struct writer writer;

	(void)state;
	begin_small(&writer, 2, 12);
	for (unsigned n = 0; n < 4000; n++) {
		stamp += n == 2500 ? -UINT64_C(200000) : random_word(&seed) % 500;
		put_switch(&writer, 1, stamp, n);
	}
	writer_dump(&writer, &dump);
	compare_windows(temporary_bytes(&dump), &seed);
	bytes_free(&dump);
	writer_close(&writer);
}

#define MHZ UINT64_C(1000000)

/* The clock of CPU 1 is ahead and too fast. */
static void windows_in_corrected_time_are_exact(void **state)
{
	uint64_t seed = 5, stamp = 100 * MHZ;
	struct ktrx_clock rows[3];
	struct writer writer;

	(void)state;
	begin_small(&writer, 4, 11);
	memset(rows, 0, sizeof(rows));
	rows[1].measured = rows[1].samples = 4;
	for (uint32_t i = 0; i < 4; i++) {
		struct ktrx_clock_sample *sample = &rows[1].sample[i];

		sample->stamp = 100 * MHZ + i * MHZ;
		sample->offset = -(int64_t)(sample->stamp / 100);
		sample->error = 20;
		sample->check = ktrx_clock_check(sample);
	}
	bytes_append(&writer.clocks, rows, sizeof(rows));
	for (unsigned n = 0; n < 5000; n++) {
		stamp += random_word(&seed) % 1000;
		put_switch(&writer, 1 + n % 3, n % 3 == 1 ? stamp + stamp / 99 : stamp, n);
	}
	compare_dump(&writer, &seed);
}

/*
 * Makes version 1 rings that begin at any slot, are nearly in order, and have empty slots. In the middle of
 * the rings, the clock goes back by `back` ticks.
 */
static void compare_v1(uint64_t *seed, unsigned disorder, uint64_t back)
{
	enum { RINGS = 3, SLOTS_V1 = 4096 };
	struct bytes dump = { 0 };

	v1_header(&dump, RINGS, SLOTS_V1);
	for (uint32_t cpu = 0; cpu < RINGS; cpu++) {
		uint32_t start = (uint32_t)(random_word(seed) % SLOTS_V1);
		uint64_t stamp[SLOTS_V1], now = 1000000;

		for (uint32_t n = 0; n < SLOTS_V1; n++) {
			now += random_word(seed) % 100 - (n == SLOTS_V1 / 2 ? back : 0);
			stamp[n] = now - (disorder ? random_word(seed) % disorder : 0);
			if (random_word(seed) % 50 == 0)
				stamp[n] = 0;
		}
		for (uint32_t n = 0; n < SLOTS_V1; n++)
			v1_record(&dump, stamp[(n + SLOTS_V1 - start) % SLOTS_V1], KTRX1_CTX_SWITCH, cpu,
				  cpu + 5, n);
	}
	compare_windows(temporary_bytes(&dump), seed);
	bytes_free(&dump);
}

static void windows_of_version_1_are_exact(void **state)
{
	uint64_t seed = 6;

	(void)state;
	compare_v1(&seed, 0, 0);
	compare_v1(&seed, 300, 0);
	compare_v1(&seed, 0, 50000);
}

/* Returns whether the reader of a time window reports that it does not use the index. */
static bool is_refused(const char *path)
{
	struct ktread *trace = open_for(path, 1);
	const char *warning;
	bool found = false;

	while ((warning = ktread_warning(trace)))
		found |= strstr(warning, "the index is not used") != NULL;
	ktread_close(trace);
	return found;
}

static void damaged_index_is_not_used(void **state)
{
	uint64_t seed = 8;
	struct bytes dump = { 0 }, bytes;
	struct ktrx_stream_index index;
	struct scratch stream, damaged;
	struct writer writer;

	(void)state;
	fill(&writer, &seed, 12000, 500);
	writer_dump(&writer, &dump);
	stream = stream_of(temporary_bytes(&dump), NULL);
	bytes = scratch_bytes(&stream);
	assert_false(is_refused(stream.path));
	memcpy(&index, bytes.data + bytes.size - sizeof(index), sizeof(index));
	for (size_t at = index.offset; at < bytes.size; at++) {
		bool in_magic = at >= bytes.size - sizeof(index.magic);

		bytes.data[at] ^= (unsigned char)(1u << random_word(&seed) % 8);
		damaged = scratch_of(bytes.data, bytes.size);
		/*
		 * Damage must be detected, with two exceptions. Without its magic, the index is not
		 * recognized. A bit of the descriptor in the frame's header has no meaning (RFC 8878, section
		 * 3.1.1.1.1).
		 */
		if (at != index.offset + 4)
			assert_int_equal(is_refused(damaged.path), !in_magic);
		if (at % 50 == 0 || at == index.offset + 4)
			compare_files(stream.path, damaged.path, &seed);
		close(damaged.descriptor);
		assert_int_equal(pread(stream.descriptor, &bytes.data[at], 1, (off_t)at), 1);
	}
	/* an index of another stream */
	bytes.data[index.offset - 1] ^= 1;
	damaged = scratch_of(bytes.data, bytes.size);
	assert_true(is_refused(damaged.path));
	close(damaged.descriptor);
	close(stream.descriptor);
	bytes_free(&bytes);
	bytes_free(&dump);
	writer_close(&writer);
}

enum { BACK = 100000 };

/*
 * A ring that contains a record for every 10 ticks. Its clock may go back once. `read` counts the slots that
 * the search reads.
 */
struct large_ring {
	uint64_t slots, read;
	/* the clock goes back before this slot, by the time of BACK slots; if equal to `slots`: never */
	uint64_t step;
};

static int stamps_of_large(void *context, uint64_t at, uint64_t *stamp, uint32_t count)
{
	struct large_ring *ring = context;

	for (uint64_t n = 0; n < count; n++)
		stamp[n] = 1 + 10 * (at + n - (at + n < ring->step ? 0 : BACK));
	ring->read += count;
	return 0;
}

/*
 * Searches a ring of 2^26 slots for 1000 records in its middle. If `steps` is true, the clock goes back by
 * the time of BACK slots. Then these times occur twice: BACK / 2 slots before the step, and BACK / 2 slots
 * after it. Returns the number of slots that were read.
 */
static uint64_t search_large(bool steps)
{
	const uint64_t slots = UINT64_C(1) << 26, middle = slots / 2 + 12345;
	struct large_ring ring = { .slots = slots, .step = steps ? middle + BACK / 2 : slots };
	struct ktread_seek seek = { .slots = slots, .stamps = stamps_of_large, .context = &ring };

	assert_int_equal(ktread_seek_run(&seek, 10 * middle, 10 * middle + 10000), 1);
	assert_in_range(seek.first, middle - 20 * BACK, middle);
	assert_in_range(seek.end, middle + 1000 + (steps ? BACK : 0), middle + 20 * BACK);
	return ring.read;
}

static void search_reads_little_of_a_large_ring(void **state)
{
	(void)state;
	assert_in_range(search_large(false), 1, 64 << 10);
}

static void search_finds_a_window_on_both_sides_of_a_step_of_the_clock(void **state)
{
	(void)state;
	assert_in_range(search_large(true), 2 * BACK, 4 << 20);
}

/* Sorting may change only the order of events with equal timestamps, so no two timestamps are equal here. */
static void real_traces_have_exact_windows(void **state)
{
	static const char *const patterns[] = { "test/corpus/*/*.ktrx.zst", "test/corpus/*/*.v1.zst",
						"test/corpus/*/*.kts.zst" };
	uint64_t seed = 7;

	(void)state;
	for (size_t n = 0; n < sizeof(patterns) / sizeof(patterns[0]); n++) {
		glob_t found;

		assert_int_equal(glob(patterns[n], 0, NULL, &found), 0);
		for (size_t i = 0; i < found.gl_pathc; i++)
			compare_windows(found.gl_pathv[i], &seed);
		globfree(&found);
	}
}

/* Returns whether the reader tries to copy the rings of this RAM file. Copying fails, which gives a warning. */
static bool copies_rings(const char *path, int window)
{
	struct ktread_options options = { .size = sizeof(options), .window = window };
	char *folder = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
	const char *warning;
	struct ktread *trace;
	bool copies = false;

	setenv("TMPDIR", "/nonexistent", 1);
	trace = open_ok(path, &options);
	while ((warning = ktread_warning(trace)))
		copies |= strstr(warning, "no copy can be made") != NULL;
	ktread_close(trace);
	unsetenv("TMPDIR");
	if (folder)
		setenv("TMPDIR", folder, 1);
	free(folder);
	return copies;
}

/* A guest whose RAM file is open for writing may still run, and may overwrite what a slow reader reads. */
static void windows_of_a_guest_that_has_ended_need_no_copy(void **state)
{
	unsigned char *memory = calloc(1, WRITER_MEMORY_SIZE);
	struct writer writer;
	const char *path;
	int file;

	(void)state;
	assert_non_null(memory);
	begin(&writer, 3);
	for (unsigned i = 0; i < 2000; i++)
		put_switch(&writer, 1 + i % 2, 1000 + i, i);
	writer_memory(&writer, memory, 0);
	path = temporary(memory, WRITER_MEMORY_SIZE);
	assert_true(copies_rings(path, 0));
	assert_false(copies_rings(path, 1));
	file = open(path, O_RDWR);
	assert_true(file >= 0);
	assert_true(copies_rings(path, 1));
	close(file);
	free(memory);
	writer_close(&writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(windows_of_version_2_are_exact, temporary_teardown),
		cmocka_unit_test_teardown(windows_between_anchors_are_exact, temporary_teardown),
		cmocka_unit_test_teardown(invalid_slots_are_counted_in_their_window, temporary_teardown),
		cmocka_unit_test_teardown(whole_ring_is_read_if_its_clock_goes_back, temporary_teardown),
		cmocka_unit_test_teardown(windows_in_corrected_time_are_exact, temporary_teardown),
		cmocka_unit_test_teardown(windows_of_version_1_are_exact, temporary_teardown),
		cmocka_unit_test_teardown(damaged_index_is_not_used, temporary_teardown),
		cmocka_unit_test_teardown(windows_of_a_guest_that_has_ended_need_no_copy, temporary_teardown),
		cmocka_unit_test(search_reads_little_of_a_large_ring),
		cmocka_unit_test(search_finds_a_window_on_both_sides_of_a_step_of_the_clock),
		cmocka_unit_test(real_traces_have_exact_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
