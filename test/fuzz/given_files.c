/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* given_files DIRECTORY: writes small ELF files and lists of symbols, which the fuzz tests damage. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/support/hwt_write.h"

#define FILE_MOST 65536u

static void save(const char *directory, const char *name, const void *bytes, size_t size)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

/*
 * Writes a program at fixed addresses, and a position-independent one, whose segment contains the whole file.
 */
static void save_programs(const char *directory)
{
	static uint8_t bytes[FILE_MOST];
	char path[64];
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	size_t size;
	FILE *file;

	program_write(path, program);
	file = fopen(path, "rb");
	size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	if (!file || fclose(file) != 0 || size < sizeof(head)) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	unlink(path);
	save(directory, "program", bytes, size);
	memcpy(&head, bytes, sizeof(head));
	memcpy(&segment, bytes + head.e_phoff, sizeof(segment));
	head.e_type = ET_DYN;
	segment.p_offset = segment.p_vaddr = 0;
	segment.p_filesz = segment.p_memsz = size;
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + head.e_phoff, &segment, sizeof(segment));
	save(directory, "anywhere", bytes, size);
}

int main(int argc, char **argv)
{
	static const char map[] =
		"ffffffff81000000 T start\nffffffff81000010 t second\nffffffff81000020 W third\n"
		"ffffffff81000040 T fourth\n",
			  modules[] = "ffffffff81000000 T start\nffffffffc0000000 t init\t[ext4]\n"
				      "ffffffffc0000100 t exit\t[ext4]\n";

	if (argc != 2)
		return EXIT_FAILURE;
	save_programs(argv[1]);
	save(argv[1], "map", map, sizeof(map) - 1);
	save(argv[1], "modules", modules, sizeof(modules) - 1);
	return EXIT_SUCCESS;
}
