/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns 0 if the descriptor refers to a regular file, otherwise an errno. */
static int check_kind(int descriptor)
{
	struct stat status;

	if (fstat(descriptor, &status) < 0)
		return errno;
	if (S_ISREG(status.st_mode))
		return 0;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	return S_ISLNK(status.st_mode) ? ELOOP : ENOTSUP;
}

/*
 * Returns 0 if the file may be opened, otherwise EACCES. `link`: the file's link in /proc, which the kernel
 * resolves to a path without symbolic links.
 */
static int check_folder(const char *link)
{
	const char *folder = getenv("KTRACE_FOLDER");
	const size_t length = folder ? strlen(folder) : 0;
	char path[PATH_MAX];
	ssize_t got;

	if (!length)
		return 0;
	got = readlink(link, path, sizeof(path));
	return got > (ssize_t)length && got < PATH_MAX && memcmp(path, folder, length) == 0 &&
			       (path[length] == '/' || folder[length - 1] == '/')
		       ? 0
		       : EACCES;
}

static int fail(int descriptor, int error)
{
	if (descriptor >= 0)
		close(descriptor);
	errno = error;
	return -1;
}

/*
 * O_PATH finds the file without opening it, so nothing happens if it is a device. After the check, the same
 * file is opened through /proc.
 */
int base_open_regular(const char *path, int flags)
{
	int found = open(path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW)), descriptor, error;
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	if (found < 0)
		return -1;
	error = check_kind(found);
	if (error)
		return fail(found, error);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	error = check_folder(link);
	if (error)
		return fail(found, error);
	flags |= O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	descriptor = open(link, flags & ~O_NOFOLLOW);
	/* /proc is not mounted: open the file by its path */
	if (descriptor < 0 && errno == ENOENT)
		descriptor = open(path, flags);
	error = errno;
	close(found);
	if (descriptor < 0)
		return fail(-1, error);
	error = check_kind(descriptor);
	return error ? fail(descriptor, error) : descriptor;
}

bool base_is_readable(const char *path)
{
	int descriptor = base_open_regular(path, O_RDONLY);

	if (descriptor >= 0)
		close(descriptor);
	return descriptor >= 0;
}

int base_file_ended(int descriptor)
{
	if (fcntl(descriptor, F_SETSIG, SIGURG) < 0)
		return -1;
	if (fcntl(descriptor, F_SETLEASE, F_RDLCK) < 0)
		return errno == EAGAIN ? 0
				       /*
				        * other errors: the file belongs to another user, or its file system
				        * does not support leases
				        */
				       : -1;
	fcntl(descriptor, F_SETLEASE, F_UNLCK);
	return 1;
}

const char *base_open_message(int error)
{
	return error == ENOTSUP ? "not a regular file" : strerror(error);
}

/* ---- Temporary files ---- */

const char *base_temporary_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

/* Returns true if QEMU's options, a script and JSON can contain the text without quoting. */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text >= 0x7f || strchr("\"'\\,", *text))
			return false;
	return true;
}

int base_private_folder(char path[BASE_PRIVATE_ROOM])
{
	const char *folder = base_temporary_folder();

	if (folder[0] != '/' || !is_plain(folder) ||
	    snprintf(path, BASE_PRIVATE_ROOM, "%s/ktrace-XXXXXX", folder) >= (int)BASE_PRIVATE_ROOM)
		snprintf(path, BASE_PRIVATE_ROOM, "/tmp/ktrace-XXXXXX");
	return mkdtemp(path) ? 0 : -1;
}

/* Creates a file with a name, and deletes the name before anything is written. */
static int open_named(const char *folder)
{
	char path[PATH_MAX];
	int descriptor;

	if (snprintf(path, sizeof(path), "%s/ktrace-XXXXXX", folder) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	descriptor = mkostemp(path, O_CLOEXEC);
	if (descriptor >= 0)
		unlink(path);
	return descriptor;
}

/*
 * Some file systems cannot create a file without a name, among them overlayfs, which containers use, before
 * Linux 6.3. A kernel that does not know O_TMPFILE reports EISDIR.
 */
int base_temporary_open(void)
{
	const char *folder = base_temporary_folder();
	int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR) ? open_named(folder) : descriptor;
}
