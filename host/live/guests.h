/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds the guests of this user by the command lines of all running QEMUs. */
#ifndef LIVE_GUESTS_H
#define LIVE_GUESTS_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define LIVE_GUESTS 64u

struct live_found {
	pid_t pid;
	char path[PATH_MAX]; /* absolute path of the RAM file */
	/* argument of QEMU's -kernel; "" if there is none; not escaped, may be truncated */
	char kernel[256];
};

struct live_guests {
	uint32_t count;
	struct live_found guest[LIVE_GUESTS];
};

/*
 * Finds all processes of this user that have the RAM of a guest in a file: their command line contains
 * memory-backend-file with a mem-path, and this file belongs to the user. The newest process comes first.
 * `proc` is /proc, or a directory of a test.
 */
void live_guests_find(struct live_guests *guests, const char *proc);
/* Writes a line for each guest: `indent`, the path of its RAM file, its pid, and its kernel; escaped. */
void live_guests_write(const struct live_guests *guests, FILE *file, const char *indent);

#endif
