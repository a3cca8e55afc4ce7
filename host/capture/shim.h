/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The shim lets `ktrace run` trace a QEMU that a make or a script starts.
 *
 *  1. capture_shim_plant() fills a private directory: bin/ has a script for each qemu-system-* in PATH, and
 *     real/ has links to the real programs. bin/ is put first in PATH. An argument of the command that is
 *     itself a path of a QEMU is replaced.
 *  2. When a shim is started, it runs `ktrace run --shim DIRECTORY NAME …`, which calls
 *     capture_shim_become(). That function reads the plan, adds options to QEMU's command line, writes a
 *     record `guest`, and executes the real QEMU in the same process.
 *  3. If a make or a script has started the shim, ktrace run is not the parent of this process and cannot
 *     get its status. So the shim stays as QEMU's parent, records QEMU's status, and ends as QEMU ended:
 *     capture_shim_attend().
 *  4. Only the first QEMU that has a guest is traced. Later ones run unchanged and are counted.
 */
#ifndef CAPTURE_SHIM_H
#define CAPTURE_SHIM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "qemu_line.h"

/* The shim's report to ktrace run, written before the shim executes QEMU. */
struct capture_guest {
	pid_t pid;
	bool refused; /* the shim did not start QEMU; `error` is the reason */
	char error[1024];
	bool starts;   /* ktrace must start the guest */
	bool own_path; /* `path` is from the QEMU command line; ktrace did not create that file */
	char path[PATH_MAX];
	char backend[64];   /* id of the memory backend of the guest's RAM */
	char hazards[2048]; /* list of options that make runs with a schedule differ; "" if none is known */
	/* contents of the command line; only architecture, machine, kernel path and some flags are set */
	struct capture_qemu_line line;
};

/*
 * Creates the shim in `directory`. `self`: absolute path of this program. Arguments in `command` may be
 * replaced (the old strings are not freed). Returns 0 or an error.
 */
int capture_shim_plant(const char *directory, const char *self, char **command);
/*
 * Returns the value of PATH for the command: bin/ of `directory` is first. The caller frees it. Returns NULL
 * if memory runs out.
 */
char *capture_shim_path(const char *directory);
/* Removes `directory` with all that is in it. */
void capture_shim_remove(const char *directory);

/*
 * Executes QEMU in this process, with the command line `words`; words[0] is its name or path. Returns only on
 * failure, with an error.
 */
int capture_shim_become(const char *directory, char *const *words);

/*
 * Creates a child process for QEMU, by fork(). Returns 1 in the child, which then executes QEMU. Returns 0 in
 * the parent after the child has ended. *wait_status: QEMU's status; the caller must end with the same
 * status. If this QEMU is traced, the status is also recorded for ktrace run. Returns CAPTURE_E_SYSTEM if
 * there is no child.
 */
int capture_shim_attend(const char *directory, int *wait_status);
/*
 * Reads the status of QEMU that the shim, QEMU's parent, has recorded. Returns 0, CAPTURE_E_ABSENT if there
 * is none yet, or an error.
 */
int capture_shim_status(const char *directory, int *wait_status);

/*
 * Reads the record of the traced QEMU. Returns 0, CAPTURE_E_ABSENT if no QEMU was started yet, or an error.
 */
int capture_shim_guest(const char *directory, struct capture_guest *guest);
/* Returns the number of QEMUs that ran a guest but were not traced. */
unsigned capture_shim_untraced(const char *directory);

#endif
