/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Files whose names and contents come from a guest. A file is either complete or does not appear: it is
 * written under another name in the same directory, and renamed when it is complete. Existing files are
 * replaced only if the user asked for that.
 *
 * Functions that can fail print a message and return -1.
 */
#ifndef CMD_TAKE_FILE_H
#define CMD_TAKE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* maximum number of bytes of a name given by the guest that are used */
#define TAKE_NAME_MOST 64u
#define TAKE_NAME_ROOM (NAME_MAX + 32u) /* size of a buffer for a name, a suffix, and a NUL */

struct take_folder {
	const char *command; /* text that begins each message */
	char path[PATH_MAX];
	int descriptor;	 /* descriptor of the directory; -1: not open */
	bool made;	 /* take_folder_make() has created the directory */
	bool replace;	 /* existing files may be replaced */
	struct stat log; /* the input file, which is never replaced; st_ino is 0 if the input is not a file */
};

/* Opens an existing directory. */
int take_folder_open(struct take_folder *folder, const char *path);
/*
 * Creates a directory `name` in the working directory. If a file of that name exists, creates `name.2`, or
 * `name.` with the next free number.
 */
int take_folder_make(struct take_folder *folder, const char *name);
/* Closes the directory. Removes it if take_folder_make() created it and it is empty. */
void take_folder_close(struct take_folder *folder);

struct take_file {
	struct take_folder *folder; /* directory of the file; NULL: the file is temporary and has no name */
	FILE *stream;		    /* the open file; NULL: not open */
	char fresh[32];		    /* temporary name of the file until it is complete */
};

/*
 * Creates a file in an open directory. If `folder` is NULL, creates a temporary file that never gets a name.
 */
int take_file_begin(struct take_file *file, struct take_folder *folder, const char *command);
/* Renames the complete file to `name`, which must not contain a slash. On failure the file is removed. */
int take_file_commit(struct take_file *file, const char *name);
/* Copies an unnamed file to standard output and closes it. */
int take_file_print(struct take_file *file, const char *command);
/* Closes and removes the file. */
void take_file_abandon(struct take_file *file);

/*
 * Makes a safe file name from a name given by the guest. Keeps letters, digits and "._-", but not "-" or "."
 * at the beginning. Replaces every other byte by "_". Uses at most TAKE_NAME_MOST bytes. The result is never
 * empty, "." or "..".
 */
void take_file_name(char to[TAKE_NAME_ROOM], const char *from);

#endif
