/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The functions of libdw that are used, found when they are first needed. Built only where libdw's headers are. */
#ifndef ANALYZE_SYMBOLS_LIBRARY_H
#define ANALYZE_SYMBOLS_LIBRARY_H

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#define SYMBOLS_LIBRARY(USE)              \
	USE(dwfl_begin)                   \
	USE(dwfl_end)                     \
	USE(dwfl_errmsg)                  \
	USE(dwfl_report_begin)            \
	USE(dwfl_report_end)              \
	USE(dwfl_report_offline)          \
	USE(dwfl_offline_section_address) \
	USE(dwfl_module_addrinfo)         \
	USE(dwfl_module_build_id)         \
	USE(dwfl_module_getdwarf)         \
	USE(dwfl_module_getelf)           \
	USE(dwfl_module_getsymtab)        \
	USE(dwfl_module_getsym_info)      \
	USE(dwfl_module_info)             \
	USE(dwfl_module_nextcu)           \
	USE(dwarf_attr)                   \
	USE(dwarf_child)                  \
	USE(dwarf_diename)                \
	USE(dwarf_filesrc)                \
	USE(dwarf_formstring)             \
	USE(dwarf_formudata)              \
	USE(dwarf_getsrcfiles)            \
	USE(dwarf_haspc)                  \
	USE(dwarf_siblingof)              \
	USE(dwarf_tag)                    \
	USE(dwarf_getsrc_die)             \
	USE(dwarf_getsrclines)            \
	USE(dwarf_lineaddr)               \
	USE(dwarf_lineendsequence)        \
	USE(dwarf_lineno)                 \
	USE(dwarf_linesrc)                \
	USE(dwarf_onesrcline)             \
	USE(dwelf_dwarf_gnu_debugaltlink) \
	USE(elf_getphdrnum)               \
	USE(elf_nextscn)                  \
	USE(gelf_getehdr)                 \
	USE(gelf_getphdr)                 \
	USE(gelf_getshdr)

struct symbols_library {
	void *handle;
#define MEMBER(name) __typeof__(&name) name;
	SYMBOLS_LIBRARY(MEMBER)
#undef MEMBER
};

/* 0, or -1: the library is not there, or too old. */
int symbols_library_open(struct symbols_library *library);
void symbols_library_close(struct symbols_library *library);
/*
 * The next unit of the module's debug information; the first for NULL. As dwfl_module_nextcu(), but NULL where that would open
 * something else than a regular file: a module may name another file that has its strings, and libdw opens what it finds there.
 */
Dwarf_Die *symbols_library_next_unit(const struct symbols_library *library, Dwfl_Module *module,
				     Dwarf_Die *unit, Dwarf_Addr *bias);

#endif
