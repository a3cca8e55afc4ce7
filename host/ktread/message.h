/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Error texts. Each thread has the text of its last error; a trace keeps its own copy. Error codes are enum
 * ktread_error.
 */
#ifndef KTREAD_MESSAGE_H
#define KTREAD_MESSAGE_H

#include "ktread/ktread.h"

#define KTREAD_MESSAGE_SIZE 512

/* Sets the thread's error text, and returns `code`. */
int ktread_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets the thread's error text, with ": " and the text of errno appended. Returns KTREAD_E_SYSTEM. */
int ktread_fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));
int ktread_fail_memory(void);
const char *ktread_fail_text(void);

#endif
