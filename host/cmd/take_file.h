/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Files whose names and contents come from a guest. A file appears whole or not at all: it is written under
 * another name in its own folder and renamed when it is complete. Nothing that is already there is replaced
 * unless the user asked for that.
 *
 * Functions that can fail print a message and return -1.
 */
#ifndef CMD_TAKE_FILE_H
#define CMD_TAKE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#define TAKE_NAME_MOST 64u		/* bytes of a guest's name that count */
#define TAKE_NAME_ROOM (NAME_MAX + 32u) /* for any name with what is added to it, and a NUL */

struct take_folder {
	const char *command; /* signs messages */
	char path[PATH_MAX];
	int descriptor;	 /* -1: not open */
	bool made;	 /* by take_folder_make() */
	bool replace;	 /* files that are already there */
	struct stat log; /* what is read, which is never replaced; st_ino 0: not a file */
};

/* Opens a folder that exists. */
int take_folder_open(struct take_folder *folder, const char *path);
/*
 * Makes a folder `name` in the working directory; if that exists, `name.2` or the next number that is free.
 */
int take_folder_make(struct take_folder *folder, const char *name);
/* Closes the folder. One that was made and in which nothing was left is removed. */
void take_folder_close(struct take_folder *folder);

struct take_file {
	struct take_folder *folder; /* NULL: a temporary file without a name */
	FILE *stream;		    /* NULL: not open */
	char fresh[32];		    /* its name until it is complete */
};

/* Begins a file in an open folder; `folder` NULL: one that is never given a name. */
int take_file_begin(struct take_file *file, struct take_folder *folder, const char *command);
/* Gives the file its name: a plain name without a slash. On failure nothing is left of the file. */
int take_file_commit(struct take_file *file, const char *name);
/* Copies an unnamed file to standard output, and closes it. */
int take_file_print(struct take_file *file, const char *command);
/* Removes the file. */
void take_file_abandon(struct take_file *file);

/*
 * Makes a name of what a guest calls a file: letters, digits and "._-" are kept, "-" and "." not at the
 * beginning; every other byte becomes "_". At most TAKE_NAME_MOST bytes count. Never empty, never "." or
 * "..".
 */
void take_file_name(char to[TAKE_NAME_ROOM], const char *from);

#endif
