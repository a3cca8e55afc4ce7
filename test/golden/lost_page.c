/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A library for LD_PRELOAD. When the program installs a handler for SIGBUS, the library reads a mapped
 * page after the end of the file LOST_PAGE. A command reads such a page if a file that it has mapped becomes
 * shorter.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	int (*real)(int, const struct sigaction *, struct sigaction *);
	const char *path = getenv("LOST_PAGE");
	int descriptor, error;
	volatile char *page;

	*(void **)&real = dlsym(RTLD_NEXT, "sigaction");
	error = real(number, action, before);
	if (number != SIGBUS || !action || !path)
		return error;
	unsetenv("LOST_PAGE");
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, descriptor, 0);
	if (page == MAP_FAILED || *page)
		abort();
	close(descriptor);
	return error;
}
