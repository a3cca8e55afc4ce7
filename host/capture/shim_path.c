/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The part of the shim that plants itself and finds what it stands for. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "workplace.h"
#include "shim.h"

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

int capture_shim_real(char path[PATH_MAX], const char *directory, const char *typed)
{
	char link[PATH_MAX];
	ssize_t length;

	if (strchr(typed, '/') && snprintf(path, PATH_MAX, "%s", typed) < PATH_MAX)
		return 0;
	if (snprintf(link, sizeof(link), "%s/real/%s", directory, typed) >= (int)sizeof(link))
		return capture_fail(CAPTURE_E_ABSENT, "%s: name too long", typed);
	length = readlink(link, path, PATH_MAX - 1);
	if (length < 0)
		return capture_fail(CAPTURE_E_ABSENT, "%s: not found in PATH", typed);
	path[length] = '\0';
	return 0;
}

char *capture_shim_path(const char *directory)
{
	const char *path = getenv("PATH");
	char *with;

	return asprintf(&with, "%s/bin%s%s", directory, path && *path ? ":" : "", path ? path : "") < 0
		       ? NULL
		       : with;
}

int capture_shim_leave_path(const char *directory)
{
	const char *path = getenv("PATH");
	size_t length = strlen(directory);

	if (!path || strncmp(path, directory, length) != 0 || strncmp(path + length, "/bin", 4) != 0)
		return 0;
	path += length + 4;
	if (setenv("PATH", *path == ':' ? path + 1 : path, 1) != 0)
		return capture_fail_errno("PATH");
	return 0;
}

/* bin/NAME for a real QEMU at `path`; the first of a name stays unless it was asked for by its path. */
static int plant_one(const char *directory, const char *path, bool by_path)
{
	const char *name = strrchr(path, '/') + 1;
	char link[PATH_MAX], shim[PATH_MAX];

	if (snprintf(link, sizeof(link), "%s/real/%s", directory, name) >= (int)sizeof(link) ||
	    snprintf(shim, sizeof(shim), "%s/bin/%s", directory, name) >= (int)sizeof(shim))
		return 0;
	if (by_path)
		unlink(link);
	if (symlink(path, link) != 0)
		return errno == EEXIST ? 0 : capture_fail_errno("%s", link);
	if (symlink("../shim", shim) != 0 && errno != EEXIST)
		return capture_fail_errno("%s", shim);
	return 0;
}

static int plant_folder(const char *directory, const char *folder)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];
	int error = 0;

	if (!stream)
		return 0;
	while (!error && (entry = readdir(stream)))
		if (capture_qemu_program(entry->d_name) &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < (int)sizeof(path) &&
		    is_program(path))
			error = plant_one(directory, path, false);
	closedir(stream);
	return error;
}

static int plant_folders(const char *directory)
{
	const char *path = getenv("PATH");
	char folder[PATH_MAX];
	int error = 0;

	while (!error && path && *path) {
		size_t length = strcspn(path, ":");

		/* Relative folders mean something else wherever the command goes: left alone. */
		if (*path == '/' && length < sizeof(folder)) {
			memcpy(folder, path, length);
			folder[length] = '\0';
			error = plant_folder(directory, folder);
		}
		path += length + (path[length] == ':');
	}
	return error;
}

/* A quote in a path would end the script's word; mkdtemp() and an installed ktrace have none. */
static int write_script(const char *directory, const char *self)
{
	char path[PATH_MAX];
	FILE *script;
	int error = capture_path_join(path, directory, "shim");

	if (error)
		return error;
	if (strchr(self, '\'') || strchr(directory, '\''))
		return capture_fail(CAPTURE_E_USAGE, "%s: a quote in this path is not supported",
				    strchr(self, '\'') ? self : directory);
	script = fopen(path, "we");
	if (!script)
		return capture_fail_errno("%s", path);
	fprintf(script, "#!/bin/sh\nexec '%s' run --shim '%s' \"${0##*/}\" \"$@\"\n", self, directory);
	if (fchmod(fileno(script), 0700) != 0 || ferror(script)) {
		fclose(script);
		return capture_fail_errno("%s", path);
	}
	return fclose(script) == 0 ? 0 : capture_fail_errno("%s", path);
}

int capture_shim_plant(const char *directory, const char *self, char **command)
{
	char path[PATH_MAX], folder[PATH_MAX];
	int error;

	if (capture_path_join(folder, directory, "bin") != 0 || mkdir(folder, 0700) != 0 ||
	    capture_path_join(folder, directory, "real") != 0 || mkdir(folder, 0700) != 0)
		return capture_fail_errno("%s", folder);
	error = write_script(directory, self);
	for (size_t i = 0; !error && command[i]; i++) {
		char *replaced;

		if (!strchr(command[i], '/') || !capture_qemu_program(command[i]))
			continue;
		if (!is_program(command[i])) {
			if (i == 0)
				return capture_fail(CAPTURE_E_ABSENT, "%s: there is no such program",
						    command[i]);
			continue;
		}
		error = capture_path_absolute(path, command[i]);
		if (!error)
			error = plant_one(directory, path, true);
		if (asprintf(&replaced, "%s/bin/%s", directory, capture_qemu_program(command[i])) < 0)
			error = capture_fail(CAPTURE_E_SYSTEM, "out of memory");
		else
			command[i] = replaced;
	}
	return error ? error : plant_folders(directory);
}

static void empty_folder(const char *directory, const char *name)
{
	char folder[PATH_MAX], path[PATH_MAX];
	struct dirent *entry;
	DIR *stream;

	if (capture_path_join(folder, directory, name) != 0 || !(stream = opendir(folder)))
		return;
	while ((entry = readdir(stream)))
		if (entry->d_type != DT_DIR &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < (int)sizeof(path))
			unlink(path);
	closedir(stream);
	rmdir(folder);
}

void capture_shim_remove(const char *directory)
{
	empty_folder(directory, "bin");
	empty_folder(directory, "real");
	empty_folder(directory, ".");
	rmdir(directory);
}
