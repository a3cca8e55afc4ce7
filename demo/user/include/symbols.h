/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions of a program's file, by name. Nothing in the file is trusted. */
#ifndef USER_SYMBOLS_H
#define USER_SYMBOLS_H

#include <stdint.h>

struct function {
	uint64_t address, size; /* as the file's headers have them */
	uint64_t offset;	/* of its code in the file */
};

/* 0; -ENOENT: the file has no such function (or was stripped of names); -ENOEXEC: it is no program; or -errno. */
int function_find(const char *path, const char *name, struct function *function);

#endif
