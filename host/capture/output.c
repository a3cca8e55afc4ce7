/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "error.h"
#include "workplace.h"

int capture_output_check(const char *path)
{
	char folder[PATH_MAX];
	struct stat status;

	if (capture_path_folder(folder, path) != 0)
		return CAPTURE_E_SYSTEM;
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
		return capture_fail_errno("%s: not a place for a trace", path);
	}
	if (access(folder, W_OK | X_OK) != 0)
		return capture_fail_errno("%s: cannot be written: %s", path, folder);
	return 0;
}

int capture_output_open(struct capture_output *output, const char *path)
{
	output->path = path;
	if (snprintf(output->fresh, sizeof(output->fresh), "%s.%ld.new", path, (long)getpid()) >=
	    (int)sizeof(output->fresh)) {
		errno = ENAMETOOLONG;
		return capture_fail_errno("%s", path);
	}
	unlink(output->fresh);
	output->fd = open(output->fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return output->fd >= 0 ? 0 : capture_fail_errno("%s", path);
}

int capture_output_dump(struct capture_output *output, struct ktread_image *image, const char *note,
			uint64_t frequency)
{
	if (ktread_image_write(image, output->fd, note, frequency) == 0)
		return 0;
	return capture_fail(CAPTURE_E_SYSTEM, "%s: %s", output->path, ktread_image_message());
}

int capture_output_commit(struct capture_output *output)
{
	int failed = close(output->fd);

	output->fd = -1;
	if (!failed && rename(output->fresh, output->path) == 0)
		return 0;
	capture_fail_errno("%s", output->path);
	unlink(output->fresh);
	return CAPTURE_E_SYSTEM;
}

void capture_output_abandon(struct capture_output *output)
{
	close(output->fd);
	output->fd = -1;
	unlink(output->fresh);
}

#define RECORD_MAX (64u << 10)

void capture_record_set(struct capture_record *record, const char *key, const char *format, ...)
{
	va_list arguments;
	char *value = NULL;
	char *grown = NULL;
	size_t size;
	int length;

	va_start(arguments, format);
	length = vasprintf(&value, format, arguments);
	va_end(arguments);
	if (length >= 0) {
		size = strlen(key) + 1 + (size_t)length + 1;
		grown = realloc(record->bytes, record->length + size);
	}
	if (grown) {
		snprintf(grown + record->length, size, "%s=%s", key, value);
		record->bytes = grown;
		record->length += size;
	} else {
		record->failed = true;
	}
	if (length >= 0)
		free(value);
}

const char *capture_record_get(const struct capture_record *record, const char *key)
{
	size_t key_length = strlen(key);

	for (size_t at = 0; at < record->length; at += strlen(record->bytes + at) + 1)
		if (strncmp(record->bytes + at, key, key_length) == 0 &&
		    record->bytes[at + key_length] == '=')
			return record->bytes + at + key_length + 1;
	return "";
}

void capture_record_free(struct capture_record *record)
{
	free(record->bytes);
	*record = (struct capture_record){ 0 };
}

int capture_record_save(const struct capture_record *record, const char *path)
{
	char fresh[PATH_MAX];
	ssize_t written;
	int fd;

	if (record->failed || snprintf(fresh, sizeof(fresh), "%s.new", path) >= (int)sizeof(fresh)) {
		errno = record->failed ? ENOMEM : ENAMETOOLONG;
		return capture_fail_errno("%s", path);
	}
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return capture_fail_errno("%s", fresh);
	written = write(fd, record->bytes, record->length);
	if (close(fd) != 0 || written != (ssize_t)record->length || rename(fresh, path) != 0) {
		capture_fail_errno("%s", path);
		unlink(fresh);
		return CAPTURE_E_SYSTEM;
	}
	return 0;
}

int capture_record_load(struct capture_record *record, const char *path)
{
	char *bytes;
	ssize_t length;
	int fd;

	fd = base_open_regular(path, O_RDONLY);
	if (fd < 0 && errno == ENOENT)
		return capture_fail(CAPTURE_E_ABSENT, "%s is not there", path);
	if (fd < 0)
		return capture_fail(CAPTURE_E_SYSTEM, "%s: %s", path, base_open_message(errno));
	bytes = malloc(RECORD_MAX);
	length = bytes ? read(fd, bytes, RECORD_MAX) : -1;
	close(fd);
	if (length <= 0 || bytes[length - 1] != '\0') {
		free(bytes);
		return capture_fail(CAPTURE_E_FORMAT, "%s: unreadable", path);
	}
	*record = (struct capture_record){ .bytes = bytes, .length = (size_t)length };
	return 0;
}
