/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds functions by name in the symbols of a program's file. The file is not trusted. */
#ifndef USER_SYMBOLS_H
#define USER_SYMBOLS_H

#include <stdint.h>

struct function {
	uint64_t address, size; /* address of the function, as in the file's headers */
	uint64_t offset;	/* file offset of the function's code */
};

/*
 * Finds a function. Returns 0; -ENOENT if the file has no such function or no symbols; -ENOEXEC if the file
 * is not a program; or -errno.
 */
int function_find(const char *path, const char *name, struct function *function);

#endif
