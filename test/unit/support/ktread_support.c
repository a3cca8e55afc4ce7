/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/support/ktread_support.h"

static char path[64];

/* Doubles the capacity, so that an array that grows in many steps is copied rarely. */
static size_t capacity(size_t size)
{
	size_t room = 64;

	while (room < size)
		room *= 2;
	return size ? room : 0;
}

void bytes_grow(struct bytes *bytes, size_t size)
{
	if (size <= bytes->size)
		return;
	if (capacity(size) > capacity(bytes->size))
		bytes->data = realloc(bytes->data, capacity(size));
	assert_non_null(bytes->data);
	memset(bytes->data + bytes->size, 0, size - bytes->size);
	bytes->size = size;
}

void bytes_append(struct bytes *bytes, const void *data, size_t size)
{
	size_t at = bytes->size;

	bytes_grow(bytes, at + size);
	if (size)
		memcpy(bytes->data + at, data, size);
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	bytes->data = NULL;
	bytes->size = 0;
}

int temporary_teardown(void **state)
{
	(void)state;
	if (path[0])
		unlink(path);
	path[0] = '\0';
	return 0;
}

const char *temporary(const void *data, size_t size)
{
	FILE *file;
	int descriptor;

	temporary_teardown(NULL);
	strcpy(path, "/tmp/ktread-test-XXXXXX");
	descriptor = mkstemp(path);
	assert_true(descriptor >= 0);
	file = fdopen(descriptor, "wb");
	assert_non_null(file);
	if (size)
		assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	return path;
}

const char *temporary_bytes(const struct bytes *bytes)
{
	return temporary(bytes->data, bytes->size);
}

void v1_header(struct bytes *bytes, uint32_t cpus, uint32_t slots)
{
	struct ktrx1_header header = { .magic = { 'K', 'T', 'R', 'X' },
				       .version = KTRX1_VERSION,
				       .frequency = 1000000,
				       .cpus = cpus,
				       .slots = slots,
				       .record_size = KTRX1_RECORD_SIZE };

	bytes_append(bytes, &header, sizeof(header));
}

void v1_record(struct bytes *bytes, uint64_t stamp, uint32_t event, uint32_t cpu, uint32_t pid,
	       uint32_t data0)
{
	struct ktrx1_record record = { .stamp = stamp,
				       .header = KTRX1_HEADER(event, cpu, pid, 0),
				       .data = { data0, 1, 2, 3, 4 } };

	bytes_append(bytes, &record, sizeof(record));
}

struct ktread *open_ok(const char *file, const struct ktread_options *options)
{
	struct ktread *trace;

	if (ktread_open(&trace, file, options) < 0)
		fail_msg("%s", ktread_message(NULL));
	return trace;
}

uint64_t drain(struct ktread *trace)
{
	const struct ktread_event *event;
	uint64_t count = 0, last = 0;
	int status;

	while ((status = ktread_next(trace, &event)) > 0) {
		assert_true(event->stamp >= last);
		assert_non_null(event->type);
		last = event->stamp;
		count++;
	}
	assert_int_equal(status, 0);
	ktread_close(trace);
	return count;
}
