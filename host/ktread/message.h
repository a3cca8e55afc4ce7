/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What all files of this room use: error texts, and which clock frequency applies. */
#ifndef KTREAD_MESSAGE_H
#define KTREAD_MESSAGE_H

#include <stdint.h>

#include "ktread/ktread.h"

/*
 * Error texts. Each thread has the text of its last error; a trace keeps its own copy. Error codes are enum
 * ktread_error.
 */

#define KTREAD_MESSAGE_SIZE 512

/* Sets the thread's error text, and returns `code`. */
int ktread_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets the thread's error text, with ": " and the text of errno appended. Returns KTREAD_E_SYSTEM. */
int ktread_fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));
int ktread_fail_memory(void);
const char *ktread_fail_text(void);

/* Decides which clock frequency applies. All code that reads a frequency from a trace calls this function. */

/*
 * Returns the frequency in the options if it is not 0. Otherwise returns the recorded frequency, or 0 if the
 * recorded frequency is unknown or impossible.
 */
static inline uint64_t ktread_frequency(uint64_t option, uint64_t recorded)
{
	return option ? option : recorded <= KTREAD_FREQUENCY_MOST ? recorded : 0;
}

#endif
