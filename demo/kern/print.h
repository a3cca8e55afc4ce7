/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Text on the console. The conversions are those of format.h. */
#ifndef DEMO_PRINT_H
#define DEMO_PRINT_H

#include "format.h"

/*
 * Prints at most 255 characters. The text does not interleave with output of other CPUs. Any context except
 * NMI.
 */
void kprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes the text without interruption by output of other CPUs. Any context except NMI. */
void console_write(const char *text, size_t size);

/*
 * Like console_write, but in any context, including NMI. If this CPU was interrupted while it wrote to the
 * console, the text is dropped.
 */
void console_write_nested(const char *text, size_t size);

/* Writes without taking the lock. Requires: all other CPUs are stopped. */
void console_write_unlocked(const char *text);

/* If a stopped CPU holds the console's lock, releases the lock. Requires: all other CPUs are stopped. */
void console_seize(void);

#endif
