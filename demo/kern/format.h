/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Formatted printing to memory. Supports %d %u %x %s %%, with l, z, #, 0, - and a width. User programs use it
 * as well.
 */
#ifndef DEMO_FORMAT_H
#define DEMO_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* Formats into a buffer of `size` bytes. Truncates the text if it does not fit; always appends a NUL. */
void vformat(char *to, size_t size, const char *text, va_list arguments)
	__attribute__((format(printf, 3, 0)));

void format(char *to, size_t size, const char *text, ...) __attribute__((format(printf, 3, 4)));

#endif
