/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Applies all functions of the reader to a file with arbitrary contents. */
#ifndef KTREAD_EXERCISE_H
#define KTREAD_EXERCISE_H

#include <stddef.h>

/*
 * Opens the file as each type of input that the reader supports, reads and formats each event twice, and
 * dumps the images that the file contains. Aborts if the slot counts of a ring do not add up, an event is
 * invalid, or a failure has no message.
 */
void ktread_exercise(const char *path);
/* Does the same as ktread_exercise() with a file that contains guest memory. */
void ktread_exercise_ram(const char *path);
/* Writes the bytes to a file, and calls ktread_exercise() and ktread_exercise_ram() with it. */
void ktread_exercise_bytes(const void *bytes, size_t size);

#endif
