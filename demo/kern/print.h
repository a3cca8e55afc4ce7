/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Text for people, on the console. Conversions as in format.h. */
#ifndef DEMO_PRINT_H
#define DEMO_PRINT_H

#include "format.h"

/* At most 255 characters, which stay together whatever the other CPUs print. Any context but NMI. */
void kprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As it is, in one piece. Any context but NMI. */
void console_write(const char *text, size_t size);

/* The same in any context, NMI too: lost if this CPU is in the middle of writing. */
void console_write_nested(const char *text, size_t size);

/* For a CPU that has stopped all others: takes no lock. */
void console_write_unlocked(const char *text);

/* For the same one: whoever was printing when it was stopped does so no more. */
void console_seize(void);

#endif
