/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Heap memory, and numbers. */
#ifndef USER_STDLIB_H
#define USER_STDLIB_H

#include <stddef.h>

void *malloc(size_t size); /* returns an address that is a multiple of 16, or NULL if out of memory */
void free(void *memory);   /* does nothing if the address is NULL */

/* Parses a decimal number; returns fallback if the text is not a number. */
unsigned parse_number(const char *text, unsigned fallback);

#endif
