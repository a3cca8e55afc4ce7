/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/ktread_stream.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/support/random.h"

struct scratch scratch_open(void)
{
	struct scratch scratch;

	scratch.descriptor = memfd_create("scratch", MFD_CLOEXEC);
	assert_true(scratch.descriptor >= 0);
	snprintf(scratch.path, sizeof(scratch.path), "/proc/self/fd/%d", scratch.descriptor);
	return scratch;
}

struct scratch scratch_of(const void *bytes, size_t size)
{
	struct scratch scratch = scratch_open();

	assert_int_equal(write(scratch.descriptor, bytes, size), size);
	return scratch;
}

struct bytes scratch_bytes(const struct scratch *scratch)
{
	struct bytes bytes = { 0 };

	bytes_grow(&bytes, (size_t)lseek(scratch->descriptor, 0, SEEK_END));
	assert_int_equal(pread(scratch->descriptor, bytes.data, bytes.size, 0), bytes.size);
	return bytes;
}

static void write_stream(struct ktread *trace, const struct scratch *to)
{
	int error;

	if (ktread_write_stream(trace, to->descriptor, &error) < 0)
		fail_msg("%s", ktread_message(trace));
	assert_int_equal(error, 0);
}

struct scratch stream_of(const char *path, const struct ktread_options *options)
{
	struct ktread *trace = open_ok(path, options);
	struct scratch stream = scratch_open();

	write_stream(trace, &stream);
	ktread_close(trace);
	return stream;
}

void stream_fill_v2(struct writer *writer)
{
	unsigned char extended[40] = { 24,  KTRX_EXT_CPU | KTRX_EXT_CALLER1 | KTRX_EXT_CALLER2, 1, 0, 0x11,
				       0x22 };
	static const int64_t offsets[2] = { 0, -17 };
	uint64_t seed = 2;

	begin(writer, 3);
	bytes_append(&writer->offsets, offsets, sizeof(offsets));
	for (uint32_t n = 0; n < 40; n++)
		writer_record_extended(writer, 0, 500 + n, SWITCH, 3, extended, sizeof(extended));
	for (uint32_t n = 0; n < 3000; n++) {
		uint32_t ring = 1 + random_below(&seed, 2), what = random_below(&seed, 16);
		uint64_t stamp = 1000 + 10 * (uint64_t)n - random_below(&seed, 40);

		if (what == 0)
			writer_reserve(writer, ring, 1 + n % 3);
		else if (what == 1)
			writer_record(writer, ring, stamp, 300 + n % 5, n % 99, &seed, sizeof(seed));
		else if (what < 5)
			put_open(writer, ring, stamp, &"/a/long/path/of/several/slots/to/some/file"[n % 40]);
		else
			put_switch(writer, ring, stamp, n % 50);
	}
	put_switch(writer, 1, UINT64_C(1) << 40, 1);
	/* a slot that a writer has abandoned because it was delayed by a lap */
	writer_slot_at(writer, 1, writer->ring[1].head - 5)->word[0] ^= 8;
	writer_slot_at(writer, 1, writer->ring[1].head - 9)->word[1] ^= UINT64_C(1) << 25;
	writer_slot_at(writer, 2, writer->ring[2].head - 3)->word[0] = KTRX_KIND_VOID;
}
