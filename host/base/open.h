/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Opens files that the user did not name: files that are named in a trace, and temporary files. */
#ifndef BASE_OPEN_H
#define BASE_OPEN_H

#include <fcntl.h>
#include <stdbool.h>

/* ---- Files that are named in a trace ---- */

/*
 * Opens files whose names do not come from the user, but from a trace, a guest, a QMP peer, /proc, or debug
 * information. Such a name may lead to a FIFO, for which open() waits for a writer, or to a device, which may
 * do something when it is opened.
 *
 * Do not use these functions for a file that the user names on the command line, because that file may be a
 * pipe or a terminal. Open it with open().
 *
 * If the environment variable KTRACE_FOLDER is set, these functions open only files below that directory.
 */

/*
 * Opens a regular file. Never waits. Never opens a FIFO, a socket or a device. Follows symbolic links unless
 * `flags` has O_NOFOLLOW.
 *
 * path:  NUL-terminated; relative to the working directory.
 * flags: O_RDONLY or O_RDWR, and O_NOFOLLOW if wanted. O_CLOEXEC, O_NONBLOCK and O_NOCTTY are added. Returns
 * a descriptor that the caller closes, or -1 with errno: EISDIR for a directory, ENOTSUP for anything else
 * that is not a regular file, EACCES for a file outside KTRACE_FOLDER, or what open(2) reports.
 */
int base_open_regular(const char *path, int flags);

/* Returns whether the path names a regular file that base_open_regular() can open for reading. */
bool base_is_readable(const char *path);

/*
 * Returns 1 if no process can write to the open file any more, 0 if some process can, -1 if this is unknown.
 * The kernel grants a read lease only if no process has the file open for writing or mapped for writing. If
 * another process opens the file while this process has the lease, the other process waits until this
 * function gives the lease back. The kernel then sends this process SIGURG, which is ignored by default.
 */
int base_file_ended(int descriptor);

/*
 * Returns a message for errno after one of these functions has failed: "not a regular file" for ENOTSUP,
 * otherwise strerror().
 */
const char *base_open_message(int error);

/* ---- Temporary files ---- */

/* Returns the directory for temporary files: TMPDIR, or /tmp if TMPDIR is unset or empty. */
const char *base_temporary_folder(void);

/* Number of bytes for the path of a private directory. A socket in it may have a short name. */
#define BASE_PRIVATE_ROOM 64u

/*
 * Creates a directory that only this user can enter, in TMPDIR. Uses /tmp instead if TMPDIR is relative or
 * too long for a socket, or contains a blank, a comma, a quote, a backslash, or a character that is not ASCII
 * (QEMU's options cannot contain some of these). Returns 0, or -1 with errno; `path` is then the path that
 * could not be created.
 */
int base_private_folder(char path[BASE_PRIVATE_ROOM]);

/*
 * Creates a file without a name, in the directory for temporary files, for reading and writing. The kernel
 * deletes the file after its last descriptor has been closed. Returns a descriptor that the caller closes, or
 * -1 with errno.
 */
int base_temporary_open(void);

#endif
