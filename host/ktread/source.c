/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Memories, which are ranges of addresses that are read from a source of bytes, and files as such sources. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "message.h"
#include "source.h"

static int compare_spans(const void *left, const void *right)
{
	const struct ktread_span *a = left, *b = right;

	return a->physical < b->physical ? -1 : a->physical > b->physical;
}

/*
 * Drops empty ranges. Shortens ranges that wrap around, or that overlap the range before them. Returns the
 * number of ranges kept.
 */
static uint32_t tidy(struct ktread_span *span, uint32_t spans)
{
	uint32_t kept = 0;
	uint64_t end = 0;

	qsort(span, spans, sizeof(*span), compare_spans);
	for (uint32_t i = 0; i < spans; i++) {
		struct ktread_span now = span[i];

		if (now.length > UINT64_MAX - now.physical)
			now.length = UINT64_MAX - now.physical;
		if (now.physical < end) {
			uint64_t cut = end - now.physical;

			if (cut >= now.length)
				continue;
			now.physical += cut;
			now.position += cut;
			now.length -= cut;
		}
		if (now.length == 0)
			continue;
		end = now.physical + now.length;
		span[kept++] = now;
	}
	return kept;
}

int ktread_source_map(struct ktread_memory *memory, const struct ktread_span *span, uint32_t spans)
{
	struct ktread_span *copy = malloc((spans ? spans : 1) * sizeof(*copy));

	if (!copy)
		return ktread_fail_memory();
	memcpy(copy, span, spans * sizeof(*copy));
	free(memory->span);
	memory->span = copy;
	memory->spans = tidy(copy, spans);
	memory->size = 0;
	for (uint32_t i = 0; i < memory->spans; i++)
		memory->size += copy[i].length;
	return 0;
}

int ktread_source_create(struct ktread_memory **memory, const struct ktread_memory_ops *ops, void *context,
			 const struct ktread_span *span, uint32_t spans, const char *name)
{
	struct ktread_memory *created = calloc(1, sizeof(*created));
	int status;

	if (!created) {
		if (ops->close)
			ops->close(context);
		return ktread_fail_memory();
	}
	created->ops = *ops;
	created->context = context;
	created->name = strdup(name);
	status = created->name ? ktread_source_map(created, span, spans) : ktread_fail_memory();
	if (status < 0) {
		ktread_memory_close(created);
		return status;
	}
	*memory = created;
	return 0;
}

int ktread_memory_open(struct ktread_memory **memory, const struct ktread_memory_ops *ops, void *context,
		       const struct ktread_range *ranges, uint32_t range_count)
{
	struct ktread_span *span = malloc((range_count ? range_count : 1) * sizeof(*span));
	int status;

	if (!span) {
		if (ops->close)
			ops->close(context);
		return ktread_fail_memory();
	}
	for (uint32_t i = 0; i < range_count; i++)
		span[i] = (struct ktread_span){ ranges[i].physical, ranges[i].length, ranges[i].physical };
	status = ktread_source_create(memory, ops, context, span, range_count, "memory");
	free(span);
	if (status == 0)
		(*memory)->live = (*memory)->callers = true;
	return status;
}

void ktread_memory_close(struct ktread_memory *memory)
{
	if (!memory)
		return;
	if (memory->ops.close)
		memory->ops.close(memory->context);
	free(memory->span);
	free(memory->name);
	free(memory);
}

int ktread_memory_ended(const struct ktread_memory *memory)
{
	const int ended = memory->ops.ended ? memory->ops.ended(memory->context) : -1;

	return ended < 0 ? KTREAD_E_UNSUPPORTED : ended > 0;
}

uint32_t ktread_memory_ranges(const struct ktread_memory *memory, struct ktread_range *range, uint32_t most)
{
	uint32_t count = memory->spans < most ? memory->spans : most;

	for (uint32_t i = 0; i < count; i++)
		range[i] = (struct ktread_range){ memory->span[i].physical, memory->span[i].length };
	return count;
}

/*
 * Returns the index of the first range that ends after the address `physical`. If there is none, returns the
 * number of ranges.
 */
static uint32_t span_after(const struct ktread_memory *memory, uint64_t physical)
{
	uint32_t low = 0, high = memory->spans;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct ktread_span *span = &memory->span[middle];

		if (span->physical + span->length <= physical)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t ktread_memory_run(const struct ktread_memory *memory, uint64_t physical)
{
	uint64_t end = physical;

	for (uint32_t i = span_after(memory, physical); i < memory->spans; i++) {
		const struct ktread_span *span = &memory->span[i];

		if (span->physical > end)
			break;
		end = span->physical + span->length;
	}
	return end - physical;
}

int ktread_memory_read(struct ktread_memory *memory, uint64_t physical, void *buffer, size_t bytes)
{
	unsigned char *to = buffer;

	while (bytes) {
		uint32_t i = span_after(memory, physical);
		const struct ktread_span *span = &memory->span[i];
		uint64_t skip, part;
		int status;

		if (i == memory->spans || span->physical > physical)
			return ktread_fail(KTREAD_E_FORMAT, "%s: no memory at 0x%" PRIx64, memory->name,
					   physical);
		skip = physical - span->physical;
		part = span->length - skip < bytes ? span->length - skip : bytes;
		status = memory->ops.read(memory->context, span->position + skip, to, part);
		if (status == KTREAD_E_SYSTEM && memory->ops.message)
			return ktread_fail(status, "%s", memory->ops.message(memory->context));
		if (status < 0 && memory->callers)
			return ktread_fail(status, "%s: reading at 0x%" PRIx64 " failed", memory->name,
					   physical);
		if (status < 0)
			return status;
		to += part;
		physical += part;
		bytes -= part;
	}
	return 0;
}

uint64_t ktread_memory_next_data(const struct ktread_memory *memory, uint64_t physical)
{
	for (uint32_t i = span_after(memory, physical); i < memory->spans; i++) {
		const struct ktread_span *span = &memory->span[i];
		uint64_t start = physical > span->physical ? physical : span->physical;
		uint64_t position, next;

		if (!memory->ops.next_data)
			return start;
		position = span->position + (start - span->physical);
		next = memory->ops.next_data(memory->context, position);
		if (next < position)
			return start;
		if (next - span->position < span->length)
			return span->physical + (next - span->position);
	}
	return UINT64_MAX;
}

uint64_t ktread_source_physical(const struct ktread_memory *memory, uint64_t position)
{
	for (uint32_t i = 0; i < memory->spans; i++) {
		const struct ktread_span *span = &memory->span[i];

		if (position >= span->position && position - span->position < span->length)
			return span->physical + (position - span->position);
	}
	return UINT64_MAX;
}

int ktread_source_position(const struct ktread_memory *memory, uint64_t physical, uint64_t bytes,
			   uint64_t *position)
{
	uint32_t i = span_after(memory, physical);
	const struct ktread_span *span = &memory->span[i];

	if (i == memory->spans || span->physical > physical ||
	    span->length - (physical - span->physical) < bytes)
		return ktread_fail(KTREAD_E_FORMAT, "%s: the bytes at 0x%" PRIx64 " are not in one piece",
				   memory->name, physical);
	*position = span->position + (physical - span->physical);
	return 0;
}

/*
 * Files as sources of bytes. They are only read with pread(), and never mapped, for two reasons: an access to
 * a hole of a mapped tmpfs file would allocate memory for it, and a mapped file that shrinks would kill the
 * reader. A file that can only be read sequentially is first copied to an unnamed temporary file.
 */

struct file {
	int descriptor;
	char name[]; /* name that messages use for the memory */
};

static int file_read(void *context, uint64_t position, void *buffer, size_t bytes)
{
	const struct file *file = context;
	unsigned char *to = buffer;

	while (bytes) {
		ssize_t got = pread(file->descriptor, to, bytes, (off_t)position);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ktread_fail_errno("%s: cannot read at offset %" PRIu64, file->name, position);
		if (got == 0)
			return ktread_fail(KTREAD_E_FORMAT,
					   "%s: the file became shorter: it ends at offset %" PRIu64 " now",
					   file->name, position);
		to += got;
		position += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return 0;
}

static uint64_t file_next_data(void *context, uint64_t position)
{
	const struct file *file = context;
	off_t next = lseek(file->descriptor, (off_t)position, SEEK_DATA);

	if (next >= 0)
		return (uint64_t)next;
	return errno == ENXIO ? UINT64_MAX : position;
}

static int file_ended(void *context)
{
	const struct file *file = context;

	return base_file_ended(file->descriptor);
}

static void file_close(void *context)
{
	struct file *file = context;

	close(file->descriptor);
	free(file);
}

static const struct ktread_memory_ops file_ops = {
	.read = file_read, .next_data = file_next_data, .close = file_close, .ended = file_ended
};

int ktread_file_write(int descriptor, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;

	while (size) {
		ssize_t put = write(descriptor, from, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return KTREAD_E_SYSTEM;
		from += put;
		size -= (size_t)put;
	}
	return 0;
}

int ktread_file_temporary(void)
{
	int descriptor = base_temporary_open();

	return descriptor < 0
		       ? ktread_fail_errno("cannot create a temporary file in %s", base_temporary_folder())
		       : descriptor;
}

/*
 * Copies all that can be read from the descriptor `from` to an unnamed temporary file. Returns the file's
 * descriptor, or an error.
 */
static int spool(int from, const char *path)
{
	unsigned char buffer[65536];
	int to = ktread_file_temporary();

	if (to < 0)
		return to;
	for (;;) {
		ssize_t got = read(from, buffer, sizeof(buffer));

		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			return to;
		if (got < 0 || ktread_file_write(to, buffer, (size_t)got) < 0)
			break;
	}
	ktread_fail_errno("%s: cannot copy it to a temporary file", path);
	close(to);
	return KTREAD_E_SYSTEM;
}

/* Opens `path`. Returns a descriptor for which pread() works, or an error. */
static int open_seekable(const char *path, struct stat *state)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (descriptor < 0)
		return ktread_fail_errno("%s", path);
	if (fstat(descriptor, state) < 0) {
		ktread_fail_errno("%s", path);
		close(descriptor);
		return KTREAD_E_SYSTEM;
	}
	if (S_ISDIR(state->st_mode)) {
		close(descriptor);
		return ktread_fail(KTREAD_E_FORMAT, "%s: is a directory, not a trace", path);
	}
	/* a device such as /dev/zero may be endless, and a copy of it would fill the disk */
	if (S_ISCHR(state->st_mode)) {
		close(descriptor);
		return ktread_fail(KTREAD_E_FORMAT, "%s: is a character device, not a trace", path);
	}
	if (!S_ISREG(state->st_mode) && !S_ISBLK(state->st_mode)) {
		int copy = spool(descriptor, path);

		close(descriptor);
		return copy;
	}
	return descriptor;
}

int ktread_source_open_descriptor(struct ktread_memory **memory, int descriptor, const char *name)
{
	struct file *file = malloc(sizeof(*file) + strlen(name) + 1);
	off_t size = lseek(descriptor, 0, SEEK_END);
	struct ktread_span whole = { 0, (uint64_t)size, 0 };

	if (!file || size < 0) {
		int status = file ? ktread_fail_errno("%s", name) : ktread_fail_memory();

		free(file);
		close(descriptor);
		return status;
	}
	file->descriptor = descriptor;
	strcpy(file->name, name);
	return ktread_source_create(memory, &file_ops, file, &whole, 1, name);
}

int ktread_source_open_file(struct ktread_memory **memory, const char *path)
{
	struct stat state;
	int descriptor = open_seekable(path, &state);

	return descriptor < 0 ? descriptor : ktread_source_open_descriptor(memory, descriptor, path);
}

int ktread_source_open_regular(struct ktread_memory **memory, const char *path)
{
	int descriptor = base_open_regular(path, O_RDONLY);

	if (descriptor < 0)
		return ktread_fail(KTREAD_E_SYSTEM, "%s: %s", path, base_open_message(errno));
	return ktread_source_open_descriptor(memory, descriptor, path);
}
