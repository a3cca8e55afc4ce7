/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#if __has_include(<elfutils/libdwfl.h>)

#include "symbols_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open.h"

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define ENTRY(name) { #name, offsetof(struct symbols_library, name) },
	SYMBOLS_LIBRARY(ENTRY)
#undef ENTRY
};

int symbols_library_open(struct symbols_library *library)
{
	library->handle = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return -1;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void **function = (void **)((char *)library + functions[i].offset);

		*function = dlsym(library->handle, functions[i].name);
		if (*function)
			continue;
		symbols_library_close(library);
		return -1;
	}
	return 0;
}

void symbols_library_close(struct symbols_library *library)
{
	if (library->handle)
		dlclose(library->handle);
	library->handle = NULL;
}

/* Relative to the folder of the module's file, as libdw looks for it. False if the path is too long. */
static bool resolve(const struct symbols_library *library, Dwfl_Module *module, const char *name,
		    char path[PATH_MAX])
{
	const char *file = NULL;
	char real[PATH_MAX];

	if (name[0] == '/')
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	library->dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
	if (!file || !realpath(file, real))
		return false;
	*strrchr(real, '/') = '\0';
	return snprintf(path, PATH_MAX, "%s/%s", real, name) < PATH_MAX;
}

static bool may_open_alternate(const struct symbols_library *library, Dwfl_Module *module)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = library->dwfl_module_getdwarf(module, &bias);
	const void *build_id;
	const char *name;
	char path[PATH_MAX];
	int fd;

	if (!dwarf || library->dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &build_id) <= 0)
		return true;
	if (!resolve(library, module, name, path))
		return false;
	fd = base_open_regular(path, O_RDONLY);
	if (fd < 0)
		return errno == ENOENT; /* nothing to open */
	close(fd);
	return true;
}

Dwarf_Die *symbols_library_next_unit(const struct symbols_library *library, Dwfl_Module *module,
				     Dwarf_Die *unit, Dwarf_Addr *bias)
{
	if (!unit && !may_open_alternate(library, module))
		return NULL;
	return library->dwfl_module_nextcu(module, unit, bias);
}

#endif
