/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "symbols_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open.h"

/* libdw asks these two for further files, of which there are none. */
static int find_no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			      const char *file, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
	return -1;
}

static int find_no_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **found,
		       Elf **elf)
{
	(void)module, (void)data, (void)name, (void)base, (void)found, (void)elf;
	return -1;
}

int symbols_file_open(struct symbols_file *file, const char *path)
{
	int fd = base_open_regular(path, O_RDONLY);

	if (fd < 0)
		return SYMBOLS_FILE_E_SYSTEM;
	file->callbacks = (Dwfl_Callbacks){
		.find_elf = find_no_elf,
		.find_debuginfo = find_no_debug_file,
		.section_address = dwfl_offline_section_address,
	};
	file->dwfl = dwfl_begin(&file->callbacks);
	if (file->dwfl) {
		dwfl_report_begin(file->dwfl);
		file->module = dwfl_report_offline(file->dwfl, path, path, fd);
		dwfl_report_end(file->dwfl, NULL, NULL);
	}
	if (file->module)
		return 0;
	close(fd);
	return SYMBOLS_FILE_E_FORMAT;
}

void symbols_file_close(struct symbols_file *file)
{
	dwfl_end(file->dwfl);
	file->dwfl = NULL;
	file->module = NULL;
}

/* Relative to the folder of the module's file, as libdw looks for it. False if the path is too long. */
static bool resolve(Dwfl_Module *module, const char *name, char path[PATH_MAX])
{
	const char *file = NULL;
	char real[PATH_MAX];

	if (name[0] == '/')
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
	if (!file || !realpath(file, real))
		return false;
	*strrchr(real, '/') = '\0';
	return snprintf(path, PATH_MAX, "%s/%s", real, name) < PATH_MAX;
}

static bool may_open_alternate(Dwfl_Module *module)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	const void *build_id;
	const char *name;
	char path[PATH_MAX];
	int fd;

	if (!dwarf || dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &build_id) <= 0)
		return true;
	if (!resolve(module, name, path))
		return false;
	fd = base_open_regular(path, O_RDONLY);
	if (fd < 0)
		return errno == ENOENT; /* nothing to open */
	close(fd);
	return true;
}

Dwarf_Die *symbols_file_next_unit(const struct symbols_file *file, Dwarf_Die *unit, Dwarf_Addr *bias)
{
	if (!unit && !may_open_alternate(file->module))
		return NULL;
	return dwfl_module_nextcu(file->module, unit, bias);
}
