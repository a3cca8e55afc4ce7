/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes small ELF files that look like kernels: sections, a segment for each section, and symbols. */
#ifndef TEST_ELF_FILE_H
#define TEST_ELF_FILE_H

#include <stdint.h>

#define ELF_FILE_CODE 1u /* flag: the section contains code */
#define ELF_FILE_DATA 2u
#define ELF_FILE_BOTH 4u /* flag: the segment of the section is writable and executable */

struct elf_file_section {
	const char *name;
	uint64_t address, size;
	uint32_t flags;
};

struct elf_file_symbol {
	const char *name;
	uint64_t address, size;
	uint8_t type;	  /* an STT_* constant */
	uint32_t section; /* number of the symbol's section, counted from 1 */
};

struct elf_file {
	uint16_t machine, type;			/* EM_* and ET_* constants */
	const struct elf_file_section *section; /* an entry without a name ends the list */
	const struct elf_file_symbol *symbol;	/* an entry without a name ends the list */
};

/*
 * Makes a file in /tmp, and stores its path in `path`, which has room for 32 bytes. The caller unlinks the
 * file.
 */
void elf_file_write(const struct elf_file *file, char *path);

#endif
