/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/changed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* maximum size of a line of /proc/self/maps, which has numbers and a path */
#define LINE_BYTES (PATH_MAX + 256)

static char changed[PATH_MAX];
/* true if the file `changed` became shorter; false if it is unknown why it could not be read */
static bool shorter;

/* set while a thread handles a signal */
static atomic_flag busy = ATOMIC_FLAG_INIT;

/* address at which this thread last got the signal, if that address is in a mapping without a file */
static _Thread_local uintptr_t retried;

/* A mapping of this process's memory, as /proc/self/maps describes it. */
struct mapping {
	uintptr_t begin, end;
	int access; /* PROT_* flags */
	bool shared;
	uint64_t offset, inode; /* offset in the mapped file, and its inode */
	const char *path;	/* path of the mapped file; NULL: no file is mapped */
};

/* Parses a hexadecimal number, and skips the character after it. */
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

/* Parses a line of /proc/self/maps: "BEGIN-END rwxp OFFSET DEVICE:DEVICE INODE PATH". */
static void take_line(struct mapping *mapping, const char *line)
{
	*mapping = (struct mapping){ .path = strchr(line, '/') };
	mapping->begin = take_number(&line);
	mapping->end = take_number(&line);
	if (strnlen(line, 5) < 5)
		return;
	mapping->access = (line[0] == 'r' ? PROT_READ : 0) | (line[1] == 'w' ? PROT_WRITE : 0);
	mapping->shared = line[3] == 's';
	line += 5;
	mapping->offset = take_number(&line);
	take_number(&line);
	take_number(&line);
	while (*line >= '0' && *line <= '9')
		mapping->inode = 10 * mapping->inode + (uint64_t)(*line++ - '0');
}

/*
 * Finds the mapping that contains an address. `line`: buffer of LINE_BYTES bytes for the line; mapping->path
 * points into it. Calls only functions that a signal handler may call.
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
			found = address >= mapping->begin && address < mapping->end;
			used = 0;
		}
	}
	if (descriptor >= 0)
		close(descriptor);
	return found;
}

/*
 * Returns true if the path still leads to the mapped file, and the file ends before the part that is mapped
 * at the address.
 */
static bool ends_before(const struct mapping *mapping, uintptr_t address)
{
	struct stat file;

	return stat(mapping->path, &file) == 0 && file.st_ino == mapping->inode &&
	       mapping->offset + (address - mapping->begin) >= (uint64_t)file.st_size;
}

/*
 * Replaces the pages of the mapping from `page` to its end by zeros, so that no later page causes another
 * signal.
 */
static bool replace(const struct mapping *mapping, uintptr_t page)
{
	const bool ends = ends_before(mapping, page);

	if (mmap((void *)page, mapping->end - page, mapping->access,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	if (!changed[0]) {
		shorter = ends;
		memcpy(changed, mapping->path, strnlen(mapping->path, sizeof(changed) - 1));
	}
	retried = 0;
	return true;
}

/*
 * Makes a page readable. Returns false if the signal must end the process. A writable shared mapping is never
 * replaced by zeros, because what is written to such a mapping must reach its file.
 */
static bool mend(uintptr_t page)
{
	struct mapping mapping;
	char line[LINE_BYTES];

	if (!find(&mapping, page, line))
		return false;
	if (mapping.path)
		return !(mapping.shared && mapping.access & PROT_WRITE) && replace(&mapping, page);
	/*
	 * Another thread has already replaced the page. If the signal comes again for this page, the signal
	 * has another cause.
	 */
	if (!(mapping.access & PROT_READ) || retried == page)
		return false;
	retried = page;
	return true;
}

static void survive(int signal_number, siginfo_t *info, void *context)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const int error = errno;
	bool mended = false;

	(void)context;
	if (info->si_code == BUS_ADRERR) {
		while (atomic_flag_test_and_set(&busy))
			sched_yield();
		mended = mend((uintptr_t)info->si_addr & ~(page - 1));
		atomic_flag_clear(&busy);
	}
	if (!mended) {
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

const char *base_changed_how(void)
{
	return shorter ? "the file became shorter while it was read: its end was read as zeros"
		       : "could not be read: it became shorter, or an I/O error occurred: "
			 "the rest of it was read as zeros";
}
