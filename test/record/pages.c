/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Accesses pages for the first time, at known addresses: 64 pages in the main thread, 8 in another thread,
 * and 4 in the kernel, by read(2) into them. Then it accesses as many pages as the first argument states,
 * with no system call in between. If there is a second argument, a fault then kills the program.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u

static char *pages(uintptr_t address, size_t count)
{
	char *at = mmap((void *)address, count * PAGE, PROT_READ | PROT_WRITE,
			MAP_ANON | MAP_PRIVATE | MAP_FIXED_NOREPLACE, -1, 0);

	if (at == MAP_FAILED || madvise(at, count * PAGE, MADV_NOHUGEPAGE) != 0)
		exit(2);
	return at;
}

static void touch(volatile char *at, size_t count)
{
	for (size_t n = 0; n < count; n++)
		at[n * PAGE + n % PAGE] = 1;
}

static void *thread(void *at)
{
	touch(at, 8);
	return NULL;
}

int main(int argc, char **argv)
{
	const size_t many = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	int fd = open("/dev/zero", O_RDONLY);
	char *at = pages(0x10000000, 64);
	pthread_t other;

	touch(at, 64);
	at = pages(0x20000000, 8);
	if (pthread_create(&other, NULL, thread, at) != 0 || pthread_join(other, NULL) != 0)
		return 1;
	at = pages(0x30000000, 4);
	if (read(fd, at, 4 * (size_t)PAGE) != 4 * PAGE)
		return 1;
	if (many > 0)
		touch(pages(0x40000000, many), many);
	if (argc > 2)
		*(volatile char *)16 = 1;
	return 0;
}
