/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds files below the directory that a server may read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/escape.h"
#include "mcp/tools.h"

int mcp_folder_open(struct mcp_folder *folder, const char *path)
{
	if (!realpath(path, folder->path))
		return errno;
	folder->descriptor = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder->descriptor < 0 ? errno : 0;
}

/* Returns the part of an absolute path after the directory; NULL if the path is not below the directory. */
static const char *below(const struct mcp_folder *folder, const char *path)
{
	const size_t length = strcmp(folder->path, "/") == 0 ? 0 : strlen(folder->path);

	return strncmp(path, folder->path, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

int mcp_folder_find(const struct mcp_folder *folder, const char *name, char to[PATH_MAX], char why[MCP_WHY])
{
	char joined[2 * PATH_MAX], real[PATH_MAX];
	struct stat status;
	const char *rest;
	/* truncate the path only between characters, because a message must be UTF-8 */
	const int shown = (int)base_utf8_cut(name, strlen(name), MCP_SHOWN);

	if (strlen(name) >= PATH_MAX || *name == '\0') {
		snprintf(why, MCP_WHY, "a file name is empty or too long");
		return -1;
	}
	snprintf(joined, sizeof(joined), "%s/%s", *name == '/' ? "" : folder->path, name);
	if (!realpath(joined, real) || stat(real, &status) != 0) {
		snprintf(why, MCP_WHY, "%.*s: %s", shown, name, strerror(errno));
		return -1;
	}
	rest = below(folder, real);
	if (!rest) {
		snprintf(why, MCP_WHY, "%.*s: is not below the directory that this server may read", shown,
			 name);
		return -1;
	}
	if (!S_ISREG(status.st_mode)) {
		snprintf(why, MCP_WHY, "%.*s: is not a regular file", shown, name);
		return -1;
	}
	snprintf(to, PATH_MAX, "%s%s", *rest == '-' ? "./" : "", rest);
	return 0;
}
