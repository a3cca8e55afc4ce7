/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Strings of JSON, put together in place. What comes out of a trace may be hostile: it is escaped, and names
 * are cut.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"

#define BASE_JSON_NAME 64u /* bytes of a name that are kept */

/* Writes "…" with its quotes at `at` and returns its end. Needs room for 6 bytes a byte and 2. */
char *base_json_string(char *at, const char *bytes, size_t length);
/* The same for a name that ends in NUL, cut to BASE_JSON_NAME bytes. */
char *base_json_name(char *at, const char *name);

/*
 * A document, member by member; `key` is NULL for an element of an array. Each call puts the comma before it,
 * but not after an opening bracket, nor at the
 * beginning of a line or of the output.
 */
void base_json_key(struct base_output *out, const char *key);
/* `bracket`: '{' or '['. The caller writes the closing one. */
void base_json_begin(struct base_output *out, const char *key, char bracket);
/* The string, cut to BASE_JSON_TEXT bytes; null for "". */
#define BASE_JSON_TEXT 2048u
void base_json_put(struct base_output *out, const char *key, const char *text);
/* The same, but "" stays as it is. */
void base_json_put_text(struct base_output *out, const char *key, const char *text);
/* A string of that length, which may be 0. */
void base_json_put_bytes(struct base_output *out, const char *key, const char *bytes, size_t length);
/* Any other value, as printf() writes it. */
__attribute__((format(printf, 3, 4))) void base_json_put_format(struct base_output *out, const char *key,
								const char *format, ...);
void base_json_put_number(struct base_output *out, const char *key, uint64_t number);
/* The number, or null if it is not known. */
void base_json_put_known(struct base_output *out, const char *key, bool known, uint64_t number);
void base_json_put_bool(struct base_output *out, const char *key, bool value);

#endif
