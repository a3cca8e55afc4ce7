/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/curses_library.h"

#include <dlfcn.h>
#include <stddef.h>

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define ENTRY(name) { #name, offsetof(struct curses_library, name) },
	CURSES_LIBRARY(ENTRY)
#undef ENTRY
};

int curses_library_open(struct curses_library *library)
{
	library->handle = dlopen("libncursesw.so.6", RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return -1;
	library->window = dlsym(library->handle, "stdscr");
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]) && library->window; i++) {
		void **function = (void **)((char *)library + functions[i].offset);

		*function = dlsym(library->handle, functions[i].name);
		if (!*function)
			library->window = NULL;
	}
	if (library->window)
		return 0;
	curses_library_close(library);
	return -1;
}

void curses_library_close(struct curses_library *library)
{
	if (library->handle)
		dlclose(library->handle);
	library->handle = NULL;
}
