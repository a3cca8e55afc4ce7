/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Lets the program continue when a page of a mapped file cannot be read. The kernel sends SIGBUS to a program
 * that reads such a page. The page may be after the end of the file, because the file became shorter, or
 * reading it from the disk or the server may have failed. Libraries such as libelf map the files that they
 * read, so the program cannot check each access.
 */
#ifndef BASE_CHANGED_H
#define BASE_CHANGED_H

/*
 * After this call, if a page of a mapped file cannot be read, this page and the rest of the mapping are
 * replaced by zeros. Several threads may read the mapping. Any other SIGBUS still ends the process; so does a
 * SIGBUS for a writable shared mapping.
 */
void base_changed_watch(void);

/*
 * Returns the path of the first file that could not be read; NULL if there is none. The path is written as in
 * /proc/self/maps.
 */
const char *base_changed_file(void);
/*
 * Returns the text to print after the path of base_changed_file() and a colon, for a message about that file.
 */
const char *base_changed_how(void);

#endif
