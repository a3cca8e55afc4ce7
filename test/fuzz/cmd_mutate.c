/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * cmd_mutate FILE COUNT DIRECTORY: writes COUNT damaged copies of FILE. In each copy, bits are flipped,
 * machine words get extreme values, ranges of bytes are replaced, or the end is missing. Most changes are in
 * the first kilobytes, which contain headers and tables. The copies are the same in each run.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (1u << 20)

static unsigned char original[BYTES_MAX], copy[BYTES_MAX];
static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(state >> 33) % below;
}

static void damage(size_t size)
{
	static const uint32_t extremes[] = { 0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
	static const uint32_t reaches[] = { 64, 704, 2048, BYTES_MAX };
	uint32_t reach = reaches[draw(4)];
	size_t at = draw(reach < size ? reach : (uint32_t)size);
	uint32_t word = extremes[draw(6)];

	switch (draw(3)) {
	case 0:
		copy[at] ^= (unsigned char)(1u << draw(8));
		break;
	case 1:
		memcpy(copy + at, &word, at + sizeof(word) <= size ? sizeof(word) : size - at);
		break;
	default:
		for (uint32_t length = draw(200); length > 0 && at < size; length--)
			copy[at++] = (unsigned char)draw(256);
	}
}

static int write_copy(const char *directory, unsigned n, size_t size)
{
	char path[512];
	FILE *file;
	int failed;

	snprintf(path, sizeof(path), "%s/%u", directory, n);
	file = fopen(path, "wb");
	if (!file)
		return -1;
	failed = fwrite(copy, 1, size, file) != size;
	return fclose(file) || failed ? -1 : 0;
}

int main(int argc, char **argv)
{
	FILE *file = argc == 4 ? fopen(argv[1], "rb") : NULL;
	unsigned count = argc == 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	size_t size;

	if (!file) {
		fprintf(stderr, "usage: cmd_mutate FILE COUNT DIRECTORY\n");
		return EXIT_FAILURE;
	}
	size = fread(original, 1, sizeof(original), file);
	fclose(file);
	for (unsigned n = 0; n < count && size > 0; n++) {
		state = n;
		memcpy(copy, original, size);
		for (uint32_t times = 1 + draw(8); times > 0; times--)
			damage(size);
		if (write_copy(argv[3], n, draw(8) ? size : draw((uint32_t)size)) < 0) {
			perror(argv[3]);
			return EXIT_FAILURE;
		}
	}
	return EXIT_SUCCESS;
}
