/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names and strings out of a trace, made harmless: they may hold any bytes. */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>

/*
 * For a terminal, a line of text or a drawing: bytes outside printable ASCII become \xNN, as ktread_format()
 * has them. `at` has room for `limit` bytes; what does not fit is left out. No NUL is added. Returns the end.
 */
char *base_escape_text(char *at, const char *bytes, size_t length, size_t limit);

/*
 * For viewers that show UTF-8, and for messages, in which users meet the names of their own files: the same,
 * but harmless characters (base_utf8_is_harmless()) are kept.
 */
char *base_escape_utf8(char *at, const char *bytes, size_t length, size_t limit);

#define BASE_ESCAPE_TEXT_GROWTH 4

/*
 * For the inside of a JSON string: quotes and backslashes are escaped, harmless characters are kept, all
 * other characters are written as \uNNNN, and a byte that belongs to no character as \u00NN. So the result is
 * valid JSON, and harmless on a terminal. Needs up to 6 bytes a byte.
 */
char *base_escape_json(char *at, const char *bytes, size_t length);

#define BASE_ESCAPE_JSON_GROWTH 6

#endif
