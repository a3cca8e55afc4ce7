/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A kernel's ELF file: which addresses it has, and its debug information. Nothing beside it is opened. */
#ifndef ANALYZE_SYMBOLS_FILE_H
#define ANALYZE_SYMBOLS_FILE_H

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdint.h>

/* Which addresses a kernel's ELF file has, and which of them are code. All addresses are as linked. */

#define SYMBOLS_SEGMENTS 32u /* of a file; more are not looked at */

struct symbols_segment {
	uint64_t begin, end;
	int is_code;
};

struct symbols_section {
	uint64_t begin, end;
	uint32_t number; /* in the file */
	int is_code;
};

struct symbols_image {
	uint32_t segments, sections;
	struct symbols_segment segment[SYMBOLS_SEGMENTS];
	struct symbols_section *section; /* that can be loaded, by address */
};

/*
 * `bias` is what libdw adds to the addresses of the file. `image` is zero before; symbols_image_free() is
 * needed in any case. 0, or -1: out of memory.
 */
int symbols_image_read(struct symbols_image *image, Elf *elf, uint64_t bias);
void symbols_image_free(struct symbols_image *image);

/* Does it lie in a segment that is loaded? */
int symbols_image_has(const struct symbols_image *image, uint64_t address);

/*
 * Does it lie in a section of code? In a file without sections the segment decides; where a section says
 * nothing of the address, it is no code.
 */
int symbols_image_has_code(const struct symbols_image *image, uint64_t address);

/* The section's number in the file, 0 unknown. */
uint32_t symbols_image_section(const struct symbols_image *image, uint64_t address);

/* An ELF file and its debug information, by libdw. No other file is opened, whatever this one names. */

struct symbols_file {
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;
};

enum {
	SYMBOLS_FILE_E_SYSTEM = -1, /* it cannot be opened: base_open_message(errno) says why */
	SYMBOLS_FILE_E_FORMAT = -2, /* libdw cannot read it: dwfl_errmsg(-1) says why */
};

/* Returns 0 or an error. `file` is zero before; symbols_file_close() is needed in both cases. */
int symbols_file_open(struct symbols_file *file, const char *path);
void symbols_file_close(struct symbols_file *file);

/*
 * Returns the unit of the debug information after `unit`, the first for NULL, or NULL after the last. *bias
 * is added to its addresses. As dwfl_module_nextcu(), but NULL where libdw would open something else than a
 * regular file: a file may name another one that has its strings, and libdw opens what it finds there.
 */
Dwarf_Die *symbols_file_next_unit(const struct symbols_file *file, Dwarf_Die *unit, Dwarf_Addr *bias);

#endif
