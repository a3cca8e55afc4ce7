/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * zstd_raw FILE OUT: compresses a file as `zstd -3` does, but with the library that ktrace uses. It is the
 * reference for the cost of streams.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "ktread/source.h"

#define LEVEL 3

int main(int argc, char **argv)
{
	struct stat state;
	int from = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	int to = argc == 3 ? open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
	void *bytes, *packed;
	ZSTD_CCtx *compressor;
	size_t size, room;

	if (from < 0 || to < 0 || fstat(from, &state) < 0) {
		fprintf(stderr, "usage: zstd_raw FILE OUT\n");
		return EXIT_FAILURE;
	}
	size = (size_t)state.st_size;
	room = size + size / 128 + 1024;
	bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, from, 0);
	packed = malloc(room);
	compressor = ZSTD_createCCtx();
	if (bytes == MAP_FAILED || !packed || !compressor)
		return EXIT_FAILURE;
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, LEVEL);
	size = ZSTD_compress2(compressor, packed, room, bytes, size);
	if (ZSTD_isError(size) || ktread_file_write(to, packed, size) < 0)
		return EXIT_FAILURE;
	return close(to) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
