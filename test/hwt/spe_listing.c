/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Turns a listing of SPE packets, as printed by `perf report --dump-raw-trace` (an offset, the bytes, and
 * their meaning), into a file of hardware trace of CPU 0.
 *
 *	spe_listing LISTING OUTPUT
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support/hwt_write.h"

#define BYTES_MOST (16u << 20)

/*
 * Reads the bytes of a line. Each byte is two hexadecimal digits and a blank. The bytes end before the
 * first word that is not two hexadecimal digits.
 */
static size_t take_line(const char *line, uint8_t *to, size_t room)
{
	const char *at = strchr(line, ':') ? strchr(line, ':') + 1 : line;
	size_t size = 0;

	for (at += strspn(at, " "); size < room && isxdigit(at[0]) && isxdigit(at[1]) && isspace(at[2]);
	     at += 2, at += strspn(at, " "))
		to[size++] = (uint8_t)strtoul(at, NULL, 16);
	return size;
}

static void write_file(const uint8_t *bytes, size_t size, const char *path)
{
	const struct ktrx_hwt_context context = { .ident = 1,
						  .mode = KTRX_HWT_MODE_CPU,
						  .encoding = KTRX_HWT_ENCODING_SPE,
						  .backend = KTRX_HWT_BACKEND_SPE,
						  .level = KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL };
	struct hwt_file_writer writer;
	FILE *file = fopen(path, "wb");

	file_begin(&writer);
	file_record(&writer, KTRX_HWT_CONTEXT, 0, &context, sizeof(context), NULL, 0);
	file_data(&writer, 1, 0, 0, bytes, size);
	if (!file || fwrite(writer.bytes, 1, writer.size, file) != writer.size || fclose(file) != 0) {
		perror(path);
		exit(2);
	}
	free(writer.bytes);
}

int main(int argc, char **argv)
{
	static uint8_t bytes[BYTES_MOST];
	char line[4096];
	size_t size = 0;
	FILE *listing = argc == 3 ? fopen(argv[1], "r") : NULL;

	if (!listing) {
		fprintf(stderr, "usage: spe_listing LISTING OUTPUT\n");
		return 2;
	}
	while (fgets(line, sizeof(line), listing))
		size += take_line(line, bytes + size, sizeof(bytes) - size);
	fclose(listing);
	write_file(bytes, size, argv[2]);
	return 0;
}
