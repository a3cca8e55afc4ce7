/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Survives that a mapped file cannot be read. The kernel sends SIGBUS to a program that reads a mapped page
 * after the end of its file, because the file became shorter, or a page that its disk or server does not
 * deliver. Libraries such as libelf map the files that they read, so that the program cannot check each
 * access.
 */
#ifndef BASE_CHANGED_H
#define BASE_CHANGED_H

/*
 * From now on, if a page of a mapped file cannot be read, zeros replace the mapping from this page on.
 * Several threads may read the mapping. Any other SIGBUS still ends the process, also one for a shared
 * mapping that can be written.
 */
void base_changed_watch(void);

/* Returns the path of the first file that could not be read, as the kernel states it; NULL: there is none. */
const char *base_changed_file(void);
/* Returns the end of a message about this file, after its path and ": ". */
const char *base_changed_how(void);

#endif
