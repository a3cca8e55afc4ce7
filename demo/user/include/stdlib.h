/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Heap memory, and numbers. */
#ifndef USER_STDLIB_H
#define USER_STDLIB_H

#include <stddef.h>

void *malloc(size_t size); /* the address is a multiple of 16; NULL: out of memory */
void free(void *memory);   /* NULL is allowed */

/* Parses a decimal number; returns fallback if the text is not a number. */
unsigned parse_number(const char *text, unsigned fallback);

#endif
