/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* An ELF file and its debug information, by libdw. No other file is opened, whatever this one names. */
#ifndef ANALYZE_SYMBOLS_FILE_H
#define ANALYZE_SYMBOLS_FILE_H

#include <elfutils/libdwfl.h>

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
 * Returns the unit of the debug information after `unit`, the first for NULL, or NULL after the last. *bias is added to its
 * addresses. As dwfl_module_nextcu(), but NULL where libdw would open something else than a regular file: a file may name
 * another one that has its strings, and libdw opens what it finds there.
 */
Dwarf_Die *symbols_file_next_unit(const struct symbols_file *file, Dwarf_Die *unit, Dwarf_Addr *bias);

#endif
