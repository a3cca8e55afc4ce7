/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Paths in buffers of PATH_MAX. Functions return 0 or CAPTURE_E_SYSTEM. */
#ifndef CAPTURE_PATH_H
#define CAPTURE_PATH_H

#include <limits.h>

/* Where files go that nobody asked for: TMPDIR, or /tmp. */
const char *capture_path_temporary(void);
/* folder/name */
int capture_path_join(char path[PATH_MAX], const char *folder, const char *name);
/* `name` as seen from the root; nothing has to exist. */
int capture_path_absolute(char path[PATH_MAX], const char *name);
/* The folder that `name` lies in: "." if none is given. */
int capture_path_folder(char path[PATH_MAX], const char *name);

#endif
