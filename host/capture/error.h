/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Errors of the functions in this directory. A function that can fail returns 0 or a negative enum
 * capture_error. The message of the error, one sentence without a full stop, is then available from
 * capture_message(). No function in this directory prints or exits.
 */
#ifndef CAPTURE_ERROR_H
#define CAPTURE_ERROR_H

enum capture_error {
	CAPTURE_E_SYSTEM = -1, /* a system call failed, or memory runs out */
	/* the QEMU command line or an option asks for something that is not possible */
	CAPTURE_E_USAGE = -2,
	CAPTURE_E_FORMAT = -3, /* input is malformed, or does not match other input */
	CAPTURE_E_ABSENT = -4, /* not found, or no answer in time */
};

/* Stores the message and returns `error`. */
__attribute__((format(printf, 2, 3))) int capture_fail(int error, const char *format, ...);
/* Stores the message, with ": " and the text of errno appended. Returns CAPTURE_E_SYSTEM. */
__attribute__((format(printf, 1, 2))) int capture_fail_errno(const char *format, ...);
/* Returns the message of the last failure in this thread. */
const char *capture_message(void);
/*
 * Returns the same message as capture_message(). For use as ktread_memory_ops.message: this function states
 * why a read of the memory failed.
 */
const char *capture_memory_message(void *context);

#endif
