/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Text for people, on the console. Knows %d %u %x %s %%, with l, z, #, 0, - and a width. */
#ifndef DEMO_PRINT_H
#define DEMO_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/* At most 255 characters, which stay together whatever the other CPUs print. Any context but NMI. */
void kprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Formats into a buffer of that size, cuts what does not fit, ends with a NUL. */
void vformat(char *to, size_t size, const char *text, va_list arguments)
	__attribute__((format(printf, 3, 0)));

void format(char *to, size_t size, const char *text, ...) __attribute__((format(printf, 3, 4)));

/* For a CPU that has stopped all others: takes no lock. */
void console_write_unlocked(const char *text);

#endif
