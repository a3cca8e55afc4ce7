/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Error texts. The text of the last error belongs to the thread; a trace keeps a copy of its own. Codes are
 * enum ktread_error.
 */
#ifndef KTREAD_MESSAGE_H
#define KTREAD_MESSAGE_H

#include "ktread/ktread.h"

#define KTREAD_MESSAGE_SIZE 512

/* Sets the thread's text and returns `code`. */
int ktread_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with ": " and the text of errno appended; returns KTREAD_E_SYSTEM. */
int ktread_fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));
int ktread_fail_memory(void);
const char *ktread_fail_text(void);

#endif
