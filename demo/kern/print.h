/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Text for people, on the console. Knows %d %u %x %p %s %c %%, with l, ll, z, 0, - and a width. */
#ifndef DEMO_PRINT_H
#define DEMO_PRINT_H

#include <stdarg.h>
#include <stdbool.h>

/* One call's text stays together, whatever the other CPUs print. Any context but NMI. */
void kprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a CPU that has stopped all others: takes no lock. */
void vkprintf_unlocked(const char *format, va_list arguments);
void kprintf_unlocked(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
