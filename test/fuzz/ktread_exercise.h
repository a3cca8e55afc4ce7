/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Does to a file, whatever it holds, all that the reader can do. */
#ifndef KTREAD_EXERCISE_H
#define KTREAD_EXERCISE_H

#include <stddef.h>

/*
 * Opens the file as every form, reads and formats each event twice, and dumps images found in it. Aborts when a
 * ring's account does not come out, an event is not fit to be used, or a failure has no message.
 */
void ktread_exercise(const char *path);
/* The same with what is known to be guest memory. */
void ktread_exercise_ram(const char *path);
/* The whole for bytes in memory. */
void ktread_exercise_bytes(const void *bytes, size_t size);

#endif
