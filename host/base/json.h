/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes JSON. Strings from a trace may be hostile: they are escaped, and names are cut. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"

#define BASE_JSON_NAME 64u /* maximum number of bytes of a name that are written; the rest is cut off */

/*
 * Writes a string with quotes to `at`. Returns the end of the text. Requires: room for 2 bytes, plus 6 bytes
 * for each byte of the string.
 */
char *base_json_string(char *at, const char *bytes, size_t length);
/*
 * Writes a NUL-terminated name as a string with quotes, cut to BASE_JSON_NAME bytes. Returns the end of the
 * text.
 */
char *base_json_name(char *at, const char *name);

/*
 * Writes a document, member by member. `key` is NULL for an element of an array. Each call writes a comma
 * first, except after an opening bracket, and at the beginning of a line or of the output.
 */
void base_json_key(struct base_output *out, const char *key);
/* Begins an object or an array. `bracket`: '{' or '['. The caller writes the closing bracket. */
void base_json_begin(struct base_output *out, const char *key, char bracket);
/* Writes a string, cut to BASE_JSON_TEXT bytes; null for "". */
#define BASE_JSON_TEXT 2048u
void base_json_put(struct base_output *out, const char *key, const char *text);
/* Writes a string, cut to BASE_JSON_TEXT bytes. Unlike base_json_put(), writes "" as "", not as null. */
void base_json_put_text(struct base_output *out, const char *key, const char *text);
/* Writes a string of `length` bytes, which may be 0. */
void base_json_put_bytes(struct base_output *out, const char *key, const char *bytes, size_t length);
/* Writes any other value, formatted as printf() does. */
__attribute__((format(printf, 3, 4))) void base_json_put_format(struct base_output *out, const char *key,
								const char *format, ...);
void base_json_put_number(struct base_output *out, const char *key, uint64_t number);
/* Writes the number if `known` is true, otherwise null. */
void base_json_put_known(struct base_output *out, const char *key, bool known, uint64_t number);
void base_json_put_bool(struct base_output *out, const char *key, bool value);

#endif
