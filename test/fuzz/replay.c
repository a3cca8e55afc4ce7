/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Passes files, and all files of directories, to a fuzz target. Prints TAP. With --truncate, it also passes
 * copies of each file: truncated at every fourth length, and with one changed bit in each byte. With
 * --mutate, the copies are truncated at every length, and each bit is changed once.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static unsigned tests;

/*
 * Which changed copies of a file are tried in addition to the file: none, the copies of --truncate, or the
 * copies of --mutate.
 */
enum mutation { NONE, ONE_BIT, EVERY_BIT };

static void flip(uint8_t *bytes, size_t size, size_t at, unsigned bit)
{
	bytes[at] ^= (uint8_t)(1u << bit);
	LLVMFuzzerTestOneInput(bytes, size);
	bytes[at] ^= (uint8_t)(1u << bit);
}

static void mutate(uint8_t *bytes, size_t size, enum mutation mutation)
{
	for (size_t i = 0; i < size && mutation != NONE; i++) {
		if (mutation == EVERY_BIT || i % 4 == 0)
			LLVMFuzzerTestOneInput(bytes, i);
		for (unsigned bit = 0; bit < 8; bit++)
			if (mutation == EVERY_BIT || bit == i % 8)
				flip(bytes, size, i, bit);
	}
}

static int replay_file(const char *path, enum mutation mutation)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	size_t size = 0, got = 0;

	if (!file)
		return -1;
	do {
		uint8_t *grown = realloc(bytes, size + 65536);

		if (!grown)
			break;
		bytes = grown;
		got = fread(bytes + size, 1, 65536, file);
		size += got;
	} while (got);
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, size);
	mutate(bytes, size, mutation);
	free(bytes);
	printf("ok %u - %s\n", ++tests, path);
	return 0;
}

static int replay(const char *path, enum mutation mutation)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int status = 0;

	if (!folder)
		return replay_file(path, mutation);
	while ((entry = readdir(folder)) != NULL && status == 0) {
		char inner[4096];

		if (entry->d_type == DT_DIR)
			continue;
		snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
		status = replay_file(inner, mutation);
	}
	closedir(folder);
	return status;
}

int main(int count, char **argument)
{
	enum mutation mutation = NONE;
	int i = 1;

	if (count > 1 && strcmp(argument[1], "--truncate") == 0)
		mutation = ONE_BIT;
	else if (count > 1 && strcmp(argument[1], "--mutate") == 0)
		mutation = EVERY_BIT;
	for (i += mutation != NONE; i < count; i++) {
		if (replay(argument[i], mutation) == 0)
			continue;
		printf("not ok %u - cannot read %s\n", ++tests, argument[i]);
		return 1;
	}
	printf("1..%u\n", tests);
	return 0;
}
