/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Creates temporary files. */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

/* Returns the directory for temporary files: TMPDIR, or /tmp if TMPDIR is unset or empty. */
const char *base_temporary_folder(void);

/*
 * Creates a file without a name, in the directory for temporary files, for reading and writing. The kernel
 * deletes the file after its last descriptor has been closed. Returns a descriptor that the caller closes, or
 * -1 with errno.
 */
int base_temporary_open(void);

#endif
