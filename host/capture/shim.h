/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The shim: how `ktrace run` gets into the QEMU that a make or a script starts.
 *
 *  1. capture_shim_plant() fills a private directory: bin/ with a qemu-system-* for each one in PATH, real/
 *     with links to the real ones. bin/ goes first in PATH; a command word that is itself a path to a QEMU is
 *     replaced.
 *  2. Started, a shim calls `ktrace run --shim DIRECTORY NAME …`, and that capture_shim_become(): it reads
 *     the plan, adds to the line, leaves a `guest` record and becomes the real QEMU in the same process.
 *  3. Whoever started it waits for the shim, not for ktrace run; so that QEMU's status is known all the same,
 *     a shim that was started by others stays as QEMU's parent, and ends as QEMU ended:
 *     capture_shim_attend().
 *  4. Only the first QEMU that has a guest is claimed; later ones run as they were written, and are counted.
 */
#ifndef CAPTURE_SHIM_H
#define CAPTURE_SHIM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "qemu_line.h"

/* What the shim tells ktrace run before it becomes QEMU. */
struct capture_guest {
	pid_t pid;
	bool refused; /* `error` says why; there is no QEMU */
	char error[1024];
	bool starts;   /* QEMU waits for ktrace to start the guest */
	bool own_path; /* `path` is a file of the QEMU line, not ours */
	char path[PATH_MAX];
	char backend[64];	       /* id of the memory backend */
	struct capture_qemu_line line; /* architecture, machine and marks only */
};

/* Words of `command` may be replaced (the old ones are not freed). 0 or CAPTURE_E_SYSTEM. */
int capture_shim_plant(const char *directory, const char *self, char **command);
/* PATH for the command; to be freed. NULL without memory. */
char *capture_shim_path(const char *directory);
void capture_shim_remove(const char *directory);

/* words[0] is the name or path of the QEMU. Returns only to fail. */
int capture_shim_become(const char *directory, char *const *words);

/*
 * Splits the process. 1 in the new one, which is to become QEMU. 0 in the old one, once the new one has
 * ended:
 * *wait_status is for the caller to pass on, and known to ktrace run if that was its QEMU. Or
 * CAPTURE_E_SYSTEM.
 */
int capture_shim_attend(const char *directory, int *wait_status);
/* How QEMU ended, from the shim that attended it; as capture_shim_guest(). */
int capture_shim_status(const char *directory, int *wait_status);

/* 0, CAPTURE_E_ABSENT if no QEMU came by, or an error. */
int capture_shim_guest(const char *directory, struct capture_guest *guest);
/* QEMUs with a guest that ran untraced. */
unsigned capture_shim_untraced(const char *directory);

#endif
