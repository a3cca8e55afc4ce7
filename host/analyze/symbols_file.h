/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A kernel's ELF file: its addresses and its debug information. Opens no other file. */
#ifndef ANALYZE_SYMBOLS_FILE_H
#define ANALYZE_SYMBOLS_FILE_H

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdint.h>

#include "analyze/symbols.h"

/*
 * The address ranges of a kernel's ELF file, and which of these ranges are code. All addresses are as linked.
 */

#define SYMBOLS_SEGMENTS 32u /* maximum number of segments of a file; further segments are ignored */

struct symbols_segment {
	uint64_t begin, end;
	int is_code;
};

struct symbols_section {
	uint64_t begin, end;
	uint32_t number; /* index of the section in the file's section table */
	int is_code;
};

struct symbols_image {
	uint32_t segments, sections;
	struct symbols_segment segment[SYMBOLS_SEGMENTS];
	struct symbols_section *section; /* allocated sections, sorted by address */
};

/*
 * Reads segments and sections. `bias`: what libdw adds to the addresses of the file. Requires: `image` is
 * zero. Returns 0, or -1 if out of memory. Call symbols_image_free() in either case.
 */
int symbols_image_read(struct symbols_image *image, Elf *elf, uint64_t bias);
void symbols_image_free(struct symbols_image *image);

/* Returns whether the address is in a loaded segment. */
int symbols_image_has(const struct symbols_image *image, uint64_t address);

/*
 * Returns whether the address is in a section of code. In a file without sections, returns whether its
 * segment is code. An address outside of all sections is not code.
 */
int symbols_image_has_code(const struct symbols_image *image, uint64_t address);

/*
 * An ELF file and its debug information, read by libdw. No other file is opened, even if this file names
 * other files.
 */

struct symbols_file {
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;
};

enum {
	SYMBOLS_FILE_E_SYSTEM = -1, /* the file cannot be opened; base_open_message(errno) has the reason */
	SYMBOLS_FILE_E_FORMAT = -2, /* libdw cannot read the file; dwfl_errmsg(-1) has the reason */
};

/* Returns 0 or an error. Requires: `file` is zero. Call symbols_file_close() in both cases. */
int symbols_file_open(struct symbols_file *file, const char *path);
void symbols_file_close(struct symbols_file *file);

/* Copies code at a linked address. Returns 0, or -1 if the file does not contain all of it in one section. */
int symbols_file_code(const struct symbols_file *file, const struct symbols_image *image, uint64_t address,
		      void *bytes, size_t size);

/* Returns whether a symbol names a place in this file, not a value or a place in another file. */
int symbols_file_is_place(const char *name, const GElf_Sym *symbol);

/*
 * Returns the name of a linked address, or NULL, and stores the distance from the name in *offset. Uses the
 * name that libdw finds, if it fits. A name does not fit if it is in another section, if it ends before the
 * address, if its symbol has no size, or if it names data and `is_code` is set. In these cases returns the
 * nearest fitting name below the address; if there is none, the name of the data.
 */
const char *symbols_file_name(const struct symbols_file *file, const struct symbols_image *image,
			      uint64_t address, int is_code, GElf_Off *offset);

/*
 * Iterates over the compilation units of the debug information: returns the unit after `unit`, the first unit
 * if `unit` is NULL, or NULL after the last unit. Sets *bias to the number to add to the unit's addresses.
 * Works like dwfl_module_nextcu(), but returns NULL if libdw would open a file that is not regular: debug
 * information may name another file for its strings, and libdw opens that file without a check.
 */
Dwarf_Die *symbols_file_next_unit(const struct symbols_file *file, Dwarf_Die *unit, Dwarf_Addr *bias);

/*
 * Reads the file's call frame information (.debug_frame, .eh_frame) for an address as linked. `machine`: ELF
 * e_machine. Returns 0; or -1 if the file has no such information for this address, or if struct
 * symbols_frame cannot represent it.
 */
int symbols_file_frame(const struct symbols_file *file, uint16_t machine, uint64_t address,
		       struct symbols_frame *frame);

#endif
