/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "ktread/ktread.h"

static const unsigned char zstd[4] = { 0x28, 0xb5, 0x2f, 0xfd };

/* Can it be read anywhere at any time, as it is? */
static bool is_plain(int descriptor)
{
	struct stat status;
	unsigned char first[sizeof(zstd)];

	return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
	       (pread(descriptor, first, sizeof(first), 0) != (ssize_t)sizeof(first) ||
		memcmp(first, zstd, sizeof(zstd)) != 0);
}

/* A file without a name; -1: errno. */
static int open_temporary(void)
{
	FILE *file = tmpfile();
	int descriptor = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;

	if (file)
		fclose(file);
	return descriptor;
}

int hwt_store_open(struct hwt_store *store, const char *path)
{
	struct stat status;

	*store = (struct hwt_store){ .descriptor = -1 };
	/* Opening a pipe would take its only reader's place. */
	if (strcmp(path, "-") == 0)
		store->copies = true;
	else if (stat(path, &status) != 0)
		return KTREAD_E_SYSTEM;
	else if (!S_ISREG(status.st_mode))
		store->copies = true;
	if (!store->copies) {
		store->descriptor = base_open_regular(path, O_RDONLY);
		if (store->descriptor < 0)
			return KTREAD_E_SYSTEM;
		if (is_plain(store->descriptor)) {
			store->size = (uint64_t)status.st_size;
			return 0;
		}
		close(store->descriptor);
		store->copies = true;
	}
	store->descriptor = open_temporary();
	return store->descriptor < 0 ? KTREAD_E_SYSTEM : 0;
}

void hwt_store_close(struct hwt_store *store)
{
	if (store->descriptor >= 0)
		close(store->descriptor);
	store->descriptor = -1;
}

int hwt_store_put(struct hwt_store *store, uint64_t *offset, const void *bytes, size_t size)
{
	const char *from = bytes;

	if (!store->copies)
		return 0;
	*offset = store->size;
	while (size) {
		ssize_t wrote = pwrite(store->descriptor, from, size, (off_t)store->size);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return KTREAD_E_SYSTEM;
		from += wrote;
		size -= (size_t)wrote;
		store->size += (uint64_t)wrote;
	}
	return 0;
}

size_t hwt_store_read(const struct hwt_store *store, uint64_t offset, void *to, size_t size)
{
	size_t done = 0;

	while (done < size && offset + done <= INT64_MAX) {
		ssize_t got =
			pread(store->descriptor, (char *)to + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}
