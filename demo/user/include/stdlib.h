/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Memory from the heap, and numbers. */
#ifndef USER_STDLIB_H
#define USER_STDLIB_H

#include <stddef.h>

void *malloc(size_t size); /* aligned to 16; NULL if there is no more */
void free(void *memory);   /* NULL is allowed */

/* The number that the text is, in decimal; fallback if it is none. */
unsigned parse_number(const char *text, unsigned fallback);

#endif
