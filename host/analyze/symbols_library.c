/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#if __has_include(<elfutils/libdwfl.h>)

#include "symbols_library.h"

#include <dlfcn.h>
#include <stddef.h>

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

#endif
