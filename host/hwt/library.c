/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "library.h"

#include <dlfcn.h>

void *hwt_library_open(const char *file, void *library, const struct hwt_library_function *functions,
		       size_t count)
{
	void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; handle && i < count; i++) {
		void **function = (void **)((char *)library + functions[i].offset);

		*function = dlsym(handle, functions[i].name);
		if (*function)
			continue;
		dlclose(handle);
		handle = NULL;
	}
	return handle;
}
