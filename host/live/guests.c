/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/live.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"

#define FILE_NAME 400u

/*
 * Copies the value of a property from a QEMU argument such as "a,mem-path=VALUE,b". A double comma in the
 * value means a single one.
 */
static bool take_value(const char *word, const char *name, char value[PATH_MAX])
{
	const char *from = strstr(word, name);
	size_t length = 0;

	if (!from)
		return false;
	for (from += strlen(name); *from && length < PATH_MAX - 1; from++) {
		if (*from == ',' && *++from != ',')
			break;
		value[length++] = *from;
	}
	value[length] = '\0';
	return length > 0 && length < PATH_MAX - 1;
}

/* Makes a path absolute. A relative path is relative to the current directory of the process. */
static bool make_absolute(const char *process, const char *value, char path[PATH_MAX])
{
	char link[FILE_NAME], folder[PATH_MAX];
	ssize_t length;

	if (*value == '/')
		return snprintf(path, PATH_MAX, "%s", value) < PATH_MAX;
	snprintf(link, sizeof(link), "%s/cwd", process);
	length = readlink(link, folder, sizeof(folder) - 1);
	return length > 0 && snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, value) < PATH_MAX;
}

/* Parses a command line. Returns true if the command line names a RAM file that belongs to this user. */
static bool read_process(const char *process, struct live_found *found)
{
	char file[FILE_NAME], value[PATH_MAX], *word = NULL;
	bool kernel = false, has_file = false;
	struct stat status;
	size_t room = 0;
	FILE *words;

	snprintf(file, sizeof(file), "%s/cmdline", process);
	words = fopen(file, "re");
	found->kernel[0] = '\0';
	while (words && getdelim(&word, &room, '\0', words) > 0) {
		if (kernel)
			snprintf(found->kernel, sizeof(found->kernel), "%s", word);
		kernel = strcmp(word, "-kernel") == 0 || strcmp(word, "--kernel") == 0;
		if (strncmp(word, "memory-backend-file,", 20) == 0 && take_value(word, ",mem-path=", value))
			has_file = make_absolute(process, value, found->path);
	}
	free(word);
	if (words)
		fclose(words);
	return has_file && stat(found->path, &status) == 0 && S_ISREG(status.st_mode) &&
	       status.st_uid == geteuid();
}

static int newest_first(const void *a, const void *b)
{
	const struct live_found *left = a, *right = b;

	return (left->pid < right->pid) - (left->pid > right->pid);
}

/*
 * Adds a guest. A program that started QEMU may have the same arguments on its command line, but its process
 * is older than QEMU's. So of several processes with the same RAM file, only the newest is the guest.
 */
static void add(struct live_guests *guests, const struct live_found *found)
{
	for (uint32_t n = 0; n < guests->count; n++)
		if (strcmp(guests->guest[n].path, found->path) == 0) {
			if (guests->guest[n].pid < found->pid)
				guests->guest[n] = *found;
			return;
		}
	if (guests->count < LIVE_GUESTS)
		guests->guest[guests->count++] = *found;
}

void live_guests_find(struct live_guests *guests, const char *proc)
{
	char process[FILE_NAME - 32];
	struct dirent *entry;
	struct stat status;
	DIR *folder = opendir(proc);

	guests->count = 0;
	while (folder && (entry = readdir(folder))) {
		struct live_found found;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(process, sizeof(process), "%.300s/%.32s", proc, entry->d_name);
		found.pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (stat(process, &status) == 0 && status.st_uid == geteuid() &&
		    read_process(process, &found))
			add(guests, &found);
	}
	if (folder)
		closedir(folder);
	qsort(guests->guest, guests->count, sizeof(guests->guest[0]), newest_first);
}

void live_guests_write(const struct live_guests *guests, FILE *file, const char *indent)
{
	char path[4 * PATH_MAX], kernel[1024];

	for (uint32_t n = 0; n < guests->count; n++) {
		const struct live_found *found = &guests->guest[n];

		*base_escape_utf8(path, found->path, strlen(found->path), sizeof(path) - 1) = '\0';
		*base_escape_utf8(kernel, found->kernel, strlen(found->kernel), sizeof(kernel) - 1) = '\0';
		fprintf(file, "%s%s\t%ld\t%s\n", indent, path, (long)found->pid, kernel);
	}
}
