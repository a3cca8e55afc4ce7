/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <dlfcn.h>

#include "hwt/etm4_library.h"

#define FILE_NAME "libopencsd_c_api.so.1"

#define FUNCTION(name) { #name, offsetof(struct etm4_library, name) },
static const struct hwt_library_function functions[] = { ETM4_FUNCTIONS(FUNCTION) };

int etm4_library_open(struct etm4_library *library, const char **message)
{
	library->handle =
		hwt_library_open(FILE_NAME, library, functions, sizeof(functions) / sizeof(functions[0]));
	if (library->handle) {
		/* It would print what it finds wrong in a stream. */
		library->ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
		return 0;
	}
	*message = "ETMv4 streams are decoded by OpenCSD: " FILE_NAME " is not there, or too old";
	return -1;
}

void etm4_library_close(struct etm4_library *library)
{
	if (library->handle)
		dlclose(library->handle);
}
