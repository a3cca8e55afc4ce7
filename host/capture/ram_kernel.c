/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "ram_kernel.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROCESS 300u /* size, in bytes, of a buffer for a path such as "/proc/123/fd" */

/* Returns whether the process has the file open. */
static bool has_open(const char *process, const struct stat *file)
{
	char path[PROCESS];
	struct dirent *entry;
	struct stat status;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%.32s/fd", process);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder)))
		found = fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 &&
			status.st_dev == file->st_dev && status.st_ino == file->st_ino;
	if (folder)
		closedir(folder);
	return found;
}

/*
 * Converts the path `word` to an absolute path. A relative path is relative to the process's working
 * directory. Returns false if the result does not fit or that directory is unknown.
 */
static bool make_absolute(const char *process, const char *word, char *path, size_t size)
{
	char link[PROCESS], folder[PATH_MAX];
	ssize_t length;

	if (*word == '/')
		return snprintf(path, size, "%s", word) < (int)size;
	snprintf(link, sizeof(link), "/proc/%.32s/cwd", process);
	length = readlink(link, folder, sizeof(folder));
	return length > 0 && length < (ssize_t)sizeof(folder) &&
	       snprintf(path, size, "%.*s/%s", (int)length, folder, word) < (int)size;
}

/* Stores the argument of -kernel on the process's command line, as an absolute path. */
static bool find_kernel(const char *process, char *path, size_t size)
{
	bool wanted = false, found = false;
	char file[PROCESS], *word = NULL;
	size_t room = 0;
	FILE *words;

	snprintf(file, sizeof(file), "/proc/%.32s/cmdline", process);
	words = fopen(file, "re");
	while (words && !found && getdelim(&word, &room, '\0', words) > 0) {
		found = wanted && make_absolute(process, word, path, size);
		wanted = strcmp(word, "-kernel") == 0 || strcmp(word, "--kernel") == 0;
	}
	free(word);
	if (words)
		fclose(words);
	return found;
}

bool capture_ram_kernel(const char *ram, char *path, size_t size)
{
	struct dirent *entry;
	struct stat file;
	bool found = false;
	DIR *processes;

	if (stat(ram, &file) != 0 || !S_ISREG(file.st_mode))
		return false;
	processes = opendir("/proc");
	while (processes && !found && (entry = readdir(processes)))
		found = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			has_open(entry->d_name, &file) && find_kernel(entry->d_name, path, size);
	if (processes)
		closedir(processes);
	return found;
}
