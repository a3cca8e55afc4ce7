/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Formatted output. Supports %d %u %x %s %%, with l, z, #, 0, - and a width: demo/kern/format.c. */
#ifndef USER_STDIO_H
#define USER_STDIO_H

#include <stdarg.h>
#include <stddef.h>

enum { STDIN, STDOUT, STDERR };

/* Prints at most 511 characters in one write, so that output of other processes does not interleave. */
void printf(const char *text, ...) __attribute__((format(printf, 1, 2)));
void dprintf(int fd, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* Formats into a buffer of `size` bytes. Truncates the text if it does not fit; always appends a NUL. */
void format(char *to, size_t size, const char *text, ...) __attribute__((format(printf, 3, 4)));
void vformat(char *to, size_t size, const char *text, va_list arguments)
	__attribute__((format(printf, 3, 0)));

#endif
