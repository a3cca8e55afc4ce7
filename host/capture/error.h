/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Errors of the capture room. A function that can fail returns 0 or a negative enum capture_error and leaves
 * one sentence for people, without a full stop, in capture_message(). Nothing here prints or exits.
 */
#ifndef CAPTURE_ERROR_H
#define CAPTURE_ERROR_H

enum capture_error {
	CAPTURE_E_SYSTEM = -1, /* a system call failed, memory included */
	CAPTURE_E_USAGE = -2,  /* the QEMU line or an option asks for what cannot be done */
	CAPTURE_E_FORMAT = -3, /* bytes from elsewhere are not what they should be */
	CAPTURE_E_ABSENT = -4, /* what was looked for is not there */
};

/* Keeps the sentence and returns `error`. */
__attribute__((format(printf, 2, 3))) int capture_fail(int error, const char *format, ...);
/* The same with ": " and the text of errno. Returns CAPTURE_E_SYSTEM. */
__attribute__((format(printf, 1, 2))) int capture_fail_errno(const char *format, ...);
/* Sentence of this thread's last failure. */
const char *capture_message(void);
/* The same, as memories that are read by functions of this room tell ktread why that failed. */
const char *capture_memory_message(void *context);

#endif
