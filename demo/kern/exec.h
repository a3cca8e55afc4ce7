/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions that load programs. */
#ifndef DEMO_EXEC_H
#define DEMO_EXEC_H

#include <stdint.h>

#include "process.h"
#include "vm.h"

/* A loaded program that is ready to run. */
struct image {
	struct vm vm;
	uintptr_t entry, stack;
	struct credentials cred; /* credentials that the process gets with this program */
	/*
	 * True if this program gives the process rights, or access to data, that the caller of execve does
	 * not have.
	 */
	bool gains;
};

/*
 * Loads the program at `path` if `who` has the right to execute it, and puts argv and envp on its stack.
 * `path` may be relative to cwd. path, argv and envp are in kernel memory. Returns 0 or -errno. After an
 * error, nothing remains allocated.
 */
int exec_load(struct image *image, const char *path, char *const argv[], char *const envp[],
	      struct inode *cwd, const struct credentials *who);

/* Returns the last component of a path. */
const char *exec_name(const char *path);

#endif
