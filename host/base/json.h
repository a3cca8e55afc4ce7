/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Strings of JSON, put together in place. What comes out of a trace may be hostile: it is escaped, and names
 * are cut.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stddef.h>

#define BASE_JSON_NAME 64u /* bytes of a name that are kept */

/* Writes "…" with its quotes at `at` and returns its end. Needs room for 6 bytes a byte and 2. */
char *base_json_string(char *at, const char *bytes, size_t length);
/* The same for a name that ends in NUL, cut to BASE_JSON_NAME bytes. */
char *base_json_name(char *at, const char *name);

#endif
