/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* From a program's path to memory that it can run in. */
#ifndef DEMO_EXEC_H
#define DEMO_EXEC_H

#include <stdint.h>

#include "process.h"
#include "vm.h"

/* A program ready to run. */
struct image {
	struct vm vm;
	uintptr_t entry, stack;
	struct credentials cred; /* whom it runs as */
	bool gains;		 /* it may do, or knows, what who started it may not */
};

/*
 * Loads the program at path, seen from cwd, for who; its words lie on its stack. Strings and pointers are kernel
 * copies. 0 or -errno, with nothing left behind.
 */
int exec_load(struct image *image, const char *path, char *const argv[], char *const envp[],
	      struct inode *cwd, const struct credentials *who);

/* The last part of a path. */
const char *exec_name(const char *path);

#endif
