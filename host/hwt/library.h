/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Decoders that others have written, in libraries that are loaded when the first stream of their kind is decoded:
 *
 *	struct pt_library {
 *		HWT_LIBRARY_MEMBERS(PT_FUNCTIONS)	PT_FUNCTIONS(USE) is a list of USE(name) …
 *	};
 *	static const struct hwt_library_function functions[] = {	… as are these: { "name", its offset }
 *	…
 *	void *handle = hwt_library_open("libipt.so.2", &library, functions, sizeof(functions) / sizeof(functions[0]));
 *
 * The header that declares the functions must be included.
 */
#ifndef HWT_LIBRARY_H
#define HWT_LIBRARY_H

#include <stddef.h>

struct hwt_library_function {
	const char *name;
	size_t offset; /* of its pointer in the struct */
};

#define HWT_LIBRARY_MEMBER(name)       __typeof__(&name) name;
#define HWT_LIBRARY_MEMBERS(FUNCTIONS) FUNCTIONS(HWT_LIBRARY_MEMBER)

/* NULL: it is not there, or one of the functions is not in it. To be closed by dlclose(). */
void *hwt_library_open(const char *file, void *library, const struct hwt_library_function *functions,
		       size_t count);

#endif
