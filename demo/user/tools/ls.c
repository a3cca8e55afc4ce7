/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ls [-la] [FILE…]: prints a line for each file: kind, permissions, owner, size, name. For a directory,
 * prints a line for each file in it. The options are accepted and have no effect.
 */
#include <option.h>
#include <program.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES 32

static void show(const char *name, const struct abi_stat *stat)
{
	char mode[] = "-rwxrwxrwx";

	switch (stat->mode & S_IFMT) {
	case S_IFDIR:
		mode[0] = 'd';
		break;
	case S_IFCHR:
		mode[0] = 'c';
		break;
	}
	for (unsigned i = 0; i < 9; i++)
		if (!(stat->mode & 0400u >> i))
			mode[1 + i] = '-';
	printf("%s %3u %4u %8lu %s\n", mode, stat->nlink, stat->uid, stat->size, name);
}

static int show_path(const char *path, const char *name)
{
	struct abi_stat stat_of;
	int error = stat(path, &stat_of);

	if (error) {
		dprintf(STDERR, "ls: %s: error %d\n", path, -error);
		return 1;
	}
	show(name, &stat_of);
	return 0;
}

static int show_directory(const char *path)
{
	struct abi_dirent entries[ENTRIES];
	char full[PATH_MAX];
	int fd = open(path, O_RDONLY, 0), failed = fd < 0;
	int64_t n;

	while (!failed && (n = getdents(fd, entries, sizeof(entries))) != 0) {
		for (int64_t i = 0; i < n / (int64_t)sizeof(entries[0]); i++) {
			format(full, sizeof(full), "%s/%s", path, entries[i].name);
			failed |= show_path(full, entries[i].name);
		}
		failed |= n < 0;
	}
	if (fd >= 0)
		close(fd);
	return failed;
}

static int show_any(const char *path)
{
	struct abi_stat stat_of;

	if (stat(path, &stat_of) == 0 && (stat_of.mode & S_IFMT) == S_IFDIR)
		return show_directory(path);
	return show_path(path, path);
}

int main(int argc, char **argv)
{
	struct options options = { .words = argv, .next = 1, .letters = "la" };
	int letter, failed = 0;

	while ((letter = next_option(&options)))
		if (letter == '?') {
			dprintf(STDERR, "usage: ls [-la] [FILE...]\n");
			return 2;
		}
	if (options.next == argc)
		return show_any(".");
	for (int i = options.next; i < argc; i++)
		failed |= show_any(argv[i]);
	return failed;
}
