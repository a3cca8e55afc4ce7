/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Survives that a mapped file becomes shorter. The kernel sends SIGBUS to a program that reads a mapped page
 * after the end of its file. Libraries such as libelf map the files that they read, so that the program
 * cannot check each access.
 */
#ifndef BASE_CHANGED_H
#define BASE_CHANGED_H

/*
 * From now on, the part of a mapping that its file has lost is read as zeros. Any other SIGBUS still ends the
 * process.
 */
void base_changed_watch(void);

/*
 * Returns the path of the first file that has become shorter, as the kernel states it; NULL if there is none.
 */
const char *base_changed_file(void);

#endif
