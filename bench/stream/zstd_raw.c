/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* zstd_raw FILE OUT: what `zstd -3` makes of a file, by the same library that ktrace uses; to hold streams against. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ktread/libzstd.h"
#include "ktread/source.h"

#define LEVEL 3

int main(int argc, char **argv)
{
	const struct ktread_zstd *zstd;
	struct stat state;
	int from = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	int to = argc == 3 ? open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
	void *bytes, *packed, *compressor;
	size_t size, room;

	if (from < 0 || to < 0 || fstat(from, &state) < 0 || ktread_zstd_load(&zstd, argv[1]) < 0) {
		fprintf(stderr, "usage: zstd_raw FILE OUT, and libzstd must be there\n");
		return EXIT_FAILURE;
	}
	size = (size_t)state.st_size;
	room = size + size / 128 + 1024;
	bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, from, 0);
	packed = malloc(room);
	compressor = zstd->create_writer();
	if (bytes == MAP_FAILED || !packed || !compressor)
		return EXIT_FAILURE;
	zstd->set(compressor, KTREAD_ZSTD_LEVEL, LEVEL);
	size = zstd->compress(compressor, packed, room, bytes, size);
	if (zstd->is_error(size) || ktread_file_write(to, packed, size) < 0)
		return EXIT_FAILURE;
	return close(to) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
