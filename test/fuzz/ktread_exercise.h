/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Applies all functions of the reader to a file with any contents. */
#ifndef KTREAD_EXERCISE_H
#define KTREAD_EXERCISE_H

#include <stddef.h>

/*
 * Opens the file as each of its forms, reads and formats each event twice, and dumps images found in it.
 * Aborts if the slot counts of a ring do not add up, an event is invalid, or a failure has no message.
 */
void ktread_exercise(const char *path);
/* The same for a file that contains guest memory. */
void ktread_exercise_ram(const char *path);
/* Calls both for a file that contains these bytes. */
void ktread_exercise_bytes(const void *bytes, size_t size);

#endif
