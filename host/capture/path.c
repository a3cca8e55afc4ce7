/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "path.h"

static int too_long(const char *name)
{
	errno = ENAMETOOLONG;
	return capture_fail_errno("%.200s", name);
}

const char *capture_path_temporary(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

int capture_path_join(char path[PATH_MAX], const char *folder, const char *name)
{
	return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX ? 0 : too_long(folder);
}

int capture_path_absolute(char path[PATH_MAX], const char *name)
{
	char current[PATH_MAX];

	if (name[0] == '/')
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX ? 0 : too_long(name);
	if (!getcwd(current, sizeof(current)))
		return capture_fail_errno("current directory");
	return capture_path_join(path, current, name);
}

int capture_path_folder(char path[PATH_MAX], const char *name)
{
	const char *slash = strrchr(name, '/');
	int length = slash ? (int)(slash - name) : 0;

	if (length >= PATH_MAX)
		return too_long(name);
	if (slash)
		snprintf(path, PATH_MAX, "%.*s", length ? length : 1, name);
	else
		snprintf(path, PATH_MAX, ".");
	return 0;
}
