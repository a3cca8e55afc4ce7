/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The folder of a run, and paths in it. */
#ifndef CAPTURE_WORKPLACE_H
#define CAPTURE_WORKPLACE_H

#include <limits.h>
#include <stdbool.h>

#include "plan.h"

/*
 * What a run needs on disk and takes away again: a private directory (plan, shim, QMP socket) and beside the
 * output the file for the guest's RAM or dump. Should ktrace be killed, that file stays, under a name that
 * says whose it is.
 */

struct capture_workplace {
	char directory[64];
	char qmp[PATH_MAX];
	char file[PATH_MAX]; /* absolute; of the guest's RAM, or of what the guest sends */
	bool keep;	     /* the file stays behind */
};

/*
 * `out` is where the trace will go, `folder` where the file goes (NULL: beside `out`). Fills in the plan's
 * paths and saves it; plants the shim, which may replace words of `command`.
 */
int capture_workplace_open(struct capture_workplace *place, struct capture_plan *plan, const char *out,
			   const char *folder, const char *self, char **command);
void capture_workplace_close(struct capture_workplace *place);

/* Paths in buffers of PATH_MAX. Functions return 0 or CAPTURE_E_SYSTEM. */

/* Where files go that nobody asked for: TMPDIR, or /tmp. */
const char *capture_path_temporary(void);
/* folder/name */
int capture_path_join(char path[PATH_MAX], const char *folder, const char *name);
/* `name` as seen from the root; nothing has to exist. */
int capture_path_absolute(char path[PATH_MAX], const char *name);
/* The folder that `name` lies in: "." if none is given. */
int capture_path_folder(char path[PATH_MAX], const char *name);

#endif
