/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *base_temporary_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
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
