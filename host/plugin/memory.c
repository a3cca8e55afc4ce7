/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

static const char *file;
static uint64_t base, most, length;
static unsigned char *bytes; /* NULL: not mapped */
static pthread_once_t once = PTHREAD_ONCE_INIT;

void memory_use(const char *path, uint64_t address, uint64_t span)
{
	file = path;
	base = address;
	most = span;
}

static void map(void)
{
	struct stat status;
	uint64_t size;
	void *mapped;
	int fd;

	if (file == NULL)
		return;
	fd = open(file, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && status.st_size > 0) {
		size = (uint64_t)status.st_size < most ? (uint64_t)status.st_size : most;
		mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (mapped != MAP_FAILED) {
			bytes = mapped;
			length = size;
		}
	}
	close(fd);
}

void *memory_at(uint64_t physical, uint64_t size)
{
	pthread_once(&once, map);
	if (bytes == NULL || physical < base || physical - base > length || size > length - (physical - base))
		return NULL;
	return bytes + (physical - base);
}
