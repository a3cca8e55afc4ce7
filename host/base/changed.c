/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/changed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* maximum size of a line of /proc/self/maps: numbers, and a path */
#define LINE_BYTES (PATH_MAX + 256)

static char changed[PATH_MAX];

/* A mapping of a file. */
struct mapping {
	uintptr_t begin, end;
	int access; /* PROT_… */
	const char *path;
};

/* Reads a hexadecimal number and the character after it. */
static uintptr_t take_number(const char **at)
{
	uintptr_t value = 0;
	char c;

	while ((c = *(*at)++)) {
		if (c >= '0' && c <= '9')
			value = value << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uintptr_t)(c - 'a' + 10);
		else
			return value;
	}
	(*at)--;
	return value;
}

/* Reads a line of /proc/self/maps: "BEGIN-END rwxp OFFSET DEVICE INODE PATH". */
static void take_line(struct mapping *mapping, const char *line)
{
	mapping->begin = take_number(&line);
	mapping->end = take_number(&line);
	mapping->access = (line[0] == 'r' ? PROT_READ : 0) | (line[0] && line[1] == 'w' ? PROT_WRITE : 0);
	mapping->path = strchr(line, '/');
}

/*
 * Finds the mapping of a file that contains an address. `line` has LINE_BYTES bytes; it keeps the path. Calls
 * only functions that a signal handler may call.
 */
static bool find(struct mapping *mapping, uintptr_t address, char *line)
{
	int descriptor = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	bool found = false;
	char c;

	while (!found && descriptor >= 0 && read(descriptor, &c, 1) == 1) {
		if (c != '\n' && used < LINE_BYTES - 1) {
			line[used++] = c;
		} else if (c == '\n') {
			line[used] = '\0';
			take_line(mapping, line);
			found = mapping->path && address >= mapping->begin && address < mapping->end;
			used = 0;
		}
	}
	if (descriptor >= 0)
		close(descriptor);
	return found;
}

/* Replaces the rest of the mapping by zeros. One signal is enough for a mapping of any size. */
static void survive(int signal_number, siginfo_t *info, void *context)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t at = (uintptr_t)info->si_addr & ~(page - 1);
	const int error = errno;
	struct mapping mapping;
	char line[LINE_BYTES];

	(void)context;
	if (info->si_code == BUS_ADRERR && find(&mapping, at, line) &&
	    mmap((void *)at, mapping.end - at, mapping.access,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED) {
		if (!changed[0])
			memcpy(changed, mapping.path, strnlen(mapping.path, sizeof(changed) - 1));
	} else {
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
	errno = error;
}

void base_changed_watch(void)
{
	struct sigaction action = { .sa_sigaction = survive, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

const char *base_changed_file(void)
{
	return changed[0] ? changed : NULL;
}
