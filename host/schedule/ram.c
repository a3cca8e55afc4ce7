/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)

static char message[SCHEDULE_PATH + 200];

__attribute__((format(printf, 1, 2))) static const char *explain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return message;
}

const char *ram_map_word(const char *path, uint64_t position, const _Atomic uint64_t **word)
{
	const uint64_t begin = position / PAGE * PAGE;
	const unsigned char *page = MAP_FAILED;
	struct stat status = { 0 };
	int fd, error;

	if (position % sizeof(**word) != 0)
		return explain("%s: offset 0x%" PRIx64 " of the watched word is not a multiple of 8", path,
			       position);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0 &&
	    position >= (uint64_t)status.st_size) {
		close(fd);
		return explain("%s: offset 0x%" PRIx64 " of the watched word is after the end of the file, "
			       "which has 0x%" PRIx64 " bytes",
			       path, position, (uint64_t)status.st_size);
	}
	if (fd >= 0)
		page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, (off_t)begin);
	error = errno;
	if (fd >= 0)
		close(fd);
	if (page == MAP_FAILED)
		return explain("%s: cannot map the watched word at offset 0x%" PRIx64 ": %s", path, position,
			       strerror(error));
	*word = (const void *)(page + (position - begin));
	return NULL;
}
