/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Memory and text. demo/kern/string.c is shared with the kernel. */
#ifndef USER_STRING_H
#define USER_STRING_H

#include <stdbool.h>
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);

/* Copies at most size - 1 characters and always appends a NUL. */
void string_copy(char *to, const char *from, size_t size);

bool string_starts(const char *s, const char *with);
char *strchr(const char *s, int c); /* returns NULL if the character is not in the string */

#endif
