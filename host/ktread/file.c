/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Files as sources. Read with pread only: mapping a hole of a tmpfs file would allocate it, and a file that
 * shrinks under a mapping kills the reader. What cannot be sought in is copied to an unlinked temporary file.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "message.h"
#include "source.h"

struct file {
	int descriptor;
	char name[]; /* for messages */
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
			return ktread_fail_errno("%s: reading at offset %" PRIu64, file->name, position);
		if (got == 0)
			return ktread_fail(KTREAD_E_FORMAT, "%s: ends at offset %" PRIu64 ", became shorter",
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

/*
 * A lease for reading is given only while nobody has the file open for writing, by descriptor or by mapping.
 * Should somebody open it just then, he is kept waiting for no longer than the next call takes, and the
 * signal that says so is one that is ignored.
 */
static int file_ended(void *context)
{
	const struct file *file = context;

	if (fcntl(file->descriptor, F_SETSIG, SIGURG) < 0)
		return -1;
	if (fcntl(file->descriptor, F_SETLEASE, F_RDLCK) < 0)
		return errno == EAGAIN ? 0
				       : -1; /* else it is another user's, or its file system has no leases */
	fcntl(file->descriptor, F_SETLEASE, F_UNLCK);
	return 1;
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
	const char *folder = getenv("TMPDIR");
	int descriptor = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return descriptor < 0 ? ktread_fail_errno("temporary file in %s", folder && *folder ? folder : "/tmp")
			      : descriptor;
}

/* Copies what `from` yields to a temporary file without a name; returns its descriptor. */
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
	ktread_fail_errno("%s: temporary copy", path);
	close(to);
	return KTREAD_E_SYSTEM;
}

/* Descriptor of something that pread() works on. */
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
